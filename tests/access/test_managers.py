"""User managers by platform role: the console changes users on their behalf, except users who hold
permissions that the manager doesn't hold.
"""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import Settings

from console.audit.models import AuditRecord
from console.audit.trail import record
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    NAMESPACES,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
)
from console.kube.informer import Freshness
from console.ui.core.clusters import clusters
from rbac.process_clusters import create_cluster
from tests.access.conftest import IAM, READ, Browser
from tests.access.console import signed_in, text_of
from tests.access.groups import group, group_binding
from tests.access.new_users import NEW, bindings_of, create_user, offered
from tests.accounts.conftest import HASH
from tests.rbac.objects import (
    binding,
    global_role,
    native_binding,
    native_role,
    project,
    rule,
    user,
    workspace_binding,
    workspace_role,
)
from tests.support.informers import bring, preloaded, set_stale, take_away
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/clusters/host/users.iam.kubesphere.io"
PAGE = "/access/accounts/users"
ACTIONS = ("profile", "disable", "end-sessions", "password")
PASSWORD = "Quarterdeck-7"


@pytest.fixture(autouse=True)
def users_manager(runtime: StaticRuntime) -> None:
    """KubeSphere 3.3's role `users-manager` with its derived native role, bound to dan."""
    rights = rule("*", "users users/password users/loginrecords globalroles", "*")
    reads = rule(READ, "users users/password users/loginrecords globalroles", "*")
    native = "quarterdeck:globalrole:users-manager"
    bound = "quarterdeck:globalrolebinding:dan"
    for gvr, item in (
        (USERS, user("dan", password=HASH)),
        (USERS, user("erin", password=HASH)),
        (GLOBAL_ROLES, global_role("users-manager", rights)),
        (GLOBAL_ROLE_BINDINGS, binding("dan", ("User", "dan"), role="users-manager")),
        (GLOBAL_ROLE_BINDINGS, binding("erin", ("User", "erin"), role="platform-regular")),
        (CLUSTER_ROLES, native_role(native, reads)),
        (CLUSTER_ROLE_BINDINGS, native_binding(bound, native, "User dan")),
    ):
        runtime.console.put(gvr, item)


async def act(browser: Browser, what: str, name: str = "erin") -> Any:
    fields = {"uid": f"uid-{name}", "email": "new@example.com", "password": PASSWORD}
    return await browser.post(f"{LIST}/{name}/actions/{what}", fields)


def writes(runtime: StaticRuntime) -> list[Any]:
    return [call for call in runtime.console.calls if call[1] == "users"]


@pytest.mark.parametrize("what", ACTIONS)
async def test_the_console_changes_a_user_on_behalf_of_the_manager_and_audits_the_manager(
    runtime: StaticRuntime, what: str
) -> None:
    dan = await signed_in("dan")
    runtime.notes.clear()  # type: ignore[attr-defined]
    answer = await act(dan, what)
    assert answer.status_code == 302, text_of(answer)
    assert writes(runtime) and runtime.notes == []  # type: ignore[attr-defined]
    row = await AuditRecord.objects.aget(resource="users", verb="patch")
    assert (row.actor, row.as_user, row.name, row.code) == ("dan", "dan", "erin", 200)


async def test_a_manager_enables_a_disabled_user(runtime: StaticRuntime) -> None:
    dan = await signed_in("dan")
    assert (await act(dan, "disable")).status_code == 302
    assert (await act(dan, "enable")).status_code == 302
    assert runtime.console.of(USERS)["erin"]["status"]["state"] == "Active"


def _more(runtime: StaticRuntime, how: str) -> str:
    """Give a user permissions that dan doesn't hold, and return the user's name."""
    match how:
        case "platform":
            return "admin"
        case "kubernetes":
            runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("e", "reader", "User erin"))
        case "department":
            runtime.console.put(GROUPS, group("ops"))
            runtime.console.put(GROUP_BINDINGS, group_binding("erin-ops", "ops", "erin"))
            runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("e", "reader", "Group ops"))
        case "disabled":
            # Disabled users have no projected bindings. Their other bindings remain.
            runtime.console.put(USERS, user("erin", state="Disabled", password=HASH))
            runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("e", "reader", "User erin"))
        case "system namespace":
            there = native_binding("e", "reader", "User erin", namespace="kube-system")
            runtime.console.put(ROLE_BINDINGS, there)
        case "other namespace":
            runtime.console.put(NAMESPACES, project("plain"))
            there = native_binding("e", "reader", "User erin", namespace="plain")
            runtime.console.put(ROLE_BINDINGS, there)
        case "system workspace":
            rights = rule("*", "*", "*")
            runtime.console.put(WORKSPACE_ROLES, workspace_role("s", "system-workspace", rights))
            bound = workspace_binding("s", "system-workspace", "s", "User erin")
            runtime.console.put(WORKSPACE_ROLE_BINDINGS, bound)
        case "workspace role in the cluster":
            role = "quarterdeck:workspacerole:shop-admin"
            runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("e", role, "User erin"))
    return "erin"


async def assert_protected(runtime: StaticRuntime, name: str) -> None:
    dan = await signed_in("dan")
    before = len(writes(runtime))
    for what in (*ACTIONS, "enable", "unlock", "reset-second-factor"):
        answer = await act(dan, what, name)
        assert answer.status_code == 403, what
        assert "has permissions that you don" in text_of(answer)
    assert len(writes(runtime)) == before
    text = text_of(await dan.get(f"{PAGE}/{name}"))
    assert "has permissions that you don" in text and "Reset password" not in text


OUTSIDE_WORKSPACES = [
    "platform",
    "kubernetes",
    "department",
    "disabled",
    "system namespace",
    "other namespace",
    "system workspace",
    "workspace role in the cluster",
]


@pytest.mark.parametrize("how", OUTSIDE_WORKSPACES)
async def test_a_manager_cannot_change_a_user_who_holds_more_permissions(
    runtime: StaticRuntime, how: str
) -> None:
    await assert_protected(runtime, _more(runtime, how))


def _member(runtime: StaticRuntime) -> None:
    """Make erin an administrator of a workspace and its project, as KubeSphere's controllers and the
    console's controllers do.
    """
    role = "quarterdeck:workspacerole:shop-admin"
    views = rule("get", "workspaces", "tenant.kubesphere.io")
    operator = native_binding("op", "reader", "User erin", namespace="web")
    for gvr, item in (
        (WORKSPACE_ROLE_BINDINGS, workspace_binding("erin", "shop", "shop-admin", "User erin")),
        (ROLE_BINDINGS, native_binding(role, role, "User erin", namespace="web")),
        (ROLE_BINDINGS, operator),
        (CLUSTER_ROLES, native_role(f"{role}:workspace", views)),
        (CLUSTER_ROLE_BINDINGS, native_binding(role, f"{role}:workspace", "User erin")),
    ):
        runtime.console.put(gvr, item)


@pytest.mark.parametrize("what", ACTIONS)
async def test_roles_in_workspaces_do_not_protect_a_user_from_managers(
    runtime: StaticRuntime, what: str
) -> None:
    _member(runtime)
    dan = await signed_in("dan")
    assert "Reset password" in text_of(await dan.get(f"{PAGE}/erin"))
    answer = await act(dan, what)
    assert answer.status_code == 302, text_of(answer)


async def test_roles_in_workspaces_protect_a_user_in_strict_mode(
    runtime: StaticRuntime, settings: Settings
) -> None:
    settings.USERS_MANAGER = "strict"
    _member(runtime)
    await assert_protected(runtime, "erin")


async def test_roles_in_projects_count_while_the_namespaces_are_stale(
    runtime: StaticRuntime,
) -> None:
    _member(runtime)
    dan = await signed_in("dan")
    set_stale(runtime.informer(NAMESPACES), datetime.now(UTC))
    assert (await act(dan, "end-sessions")).status_code == 403


async def test_a_new_user_cannot_have_the_name_of_a_former_member(runtime: StaticRuntime) -> None:
    bound = workspace_binding("dora", "shop", "shop-admin", "User dora")
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, bound)
    answer = await create_user(runtime, await signed_in("dan"), role="")
    assert answer.status_code == 400 and "has permissions that you don" in text_of(answer)
    assert "dora" not in runtime.console.of(USERS)


@pytest.mark.programs
@pytest.mark.parametrize("word", ["Strict"])
def test_the_process_refuses_unknown_modes(word: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import console.settings"],
        env={**os.environ, "USERS_MANAGER": word},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1 and "USERS_MANAGER must be platform or strict" in done.stderr


@pytest.mark.parametrize("role", ["anonymous", "authenticated", "pre-registration"])
async def test_roles_that_are_not_for_users_are_neither_offered_nor_accepted(
    runtime: StaticRuntime, role: str
) -> None:
    runtime.console.put(GLOBAL_ROLES, global_role(role))
    for name in ("dan", "admin"):
        browser = await signed_in(name)
        assert role not in offered(text_of(await browser.get(NEW)))
        assert (await create_user(runtime, browser, role=role)).status_code == 400
    assert "dora" not in runtime.console.of(USERS)


@pytest.mark.parametrize("there", [True, False], ids=["with the role", "without the role"])
async def test_wildcard_rules_are_not_equal_to_the_platform_administrator_role(
    runtime: StaticRuntime, there: bool
) -> None:
    """A disabled platform administrator has no projected bindings, and dan's role has wildcard
    rules.
    """
    everything = rule("*", "*", "*")
    native = native_role("quarterdeck:globalrole:users-manager", rule(READ, "*", "*"))
    runtime.console.put(GLOBAL_ROLES, global_role("users-manager", everything))
    runtime.console.put(CLUSTER_ROLES, native)
    runtime.console.put(USERS, user("old", state="Disabled", password=HASH))
    bound = binding("old", ("User", "old"), role="platform-admin")
    runtime.console.put(GLOBAL_ROLE_BINDINGS, bound)
    if not there:
        take_away(runtime.informer(GLOBAL_ROLES), global_role("platform-admin"))
    dan = await signed_in("dan")
    for what in (*ACTIONS, "enable"):
        answer = await act(dan, what, "old")
        assert answer.status_code == 403, what
    assert writes(runtime) == []
    assert (await act(dan, "password")).status_code == 302


async def test_changes_are_refused_while_bindings_are_stale(
    runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    dan = await signed_in("dan")
    for gvr in (CLUSTER_ROLE_BINDINGS, GROUP_BINDINGS, GROUPS):
        with monkeypatch.context() as away:
            away.setattr(runtime.informer(gvr), "freshness", Freshness())
            assert (await act(dan, "password")).status_code == 403
    assert writes(runtime) == []


async def test_permissions_in_another_cluster_count(runtime: StaticRuntime) -> None:
    dan = await signed_in("dan")
    reader = native_role("reader", rule(READ, "pods"))
    bindings = [native_binding("e", "reader", "User erin")]
    objects = {CLUSTER_ROLES: [reader], CLUSTER_ROLE_BINDINGS: [], ROLES: [], ROLE_BINDINGS: []}
    member = StaticRuntime({gvr: preloaded(gvr, of) for gvr, of in objects.items()})
    clusters.add(create_cluster("member", member))
    try:
        assert (await act(dan, "end-sessions")).status_code == 302
        bring(member.informer(CLUSTER_ROLE_BINDINGS), bindings[0])
        assert (await act(dan, "end-sessions")).status_code == 403
        take_away(member.informer(CLUSTER_ROLE_BINDINGS), bindings[0])
        set_stale(member.informer(ROLES), datetime.now(UTC))
        assert (await act(dan, "end-sessions")).status_code == 403
    finally:
        clusters.remove("member")


@pytest.mark.parametrize("what", ACTIONS)
async def test_permissions_granted_while_the_audit_record_is_written_count(
    runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Other requests continue while the audit record is written."""
    dan = await signed_in("dan")

    @asynccontextmanager
    async def given_meanwhile(action: Any) -> AsyncIterator[Any]:
        async with record(action) as recording:
            _more(runtime, "kubernetes")
            yield recording

    monkeypatch.setattr("console.views.actions.record", given_meanwhile)
    answer = await act(dan, what)
    assert "has permissions that you don" in text_of(answer), answer.status_code
    assert writes(runtime) == []


async def test_a_manager_cannot_reset_or_disable_the_own_account(runtime: StaticRuntime) -> None:
    dan = await signed_in("dan")
    for what in ("password", "disable"):
        assert (await act(dan, what, "dan")).status_code == 403
    assert writes(runtime) == []


async def test_a_role_with_read_permissions_changes_no_users(runtime: StaticRuntime) -> None:
    rights = rule(READ, "users", IAM)
    runtime.console.put(GLOBAL_ROLES, global_role("users-manager", rights))
    dan = await signed_in("dan")
    for what in ACTIONS:
        assert (await act(dan, what)).status_code == 403
    assert (await dan.get(NEW)).status_code == 403
    assert writes(runtime) == []


async def test_a_manager_creates_users_with_roles_within_the_own_permissions(
    runtime: StaticRuntime,
) -> None:
    dan = await signed_in("dan")
    assert NEW in text_of(await dan.get(LIST))
    assert offered(text_of(await dan.get(NEW))).keys() == {"", "platform-regular", "users-manager"}
    answer = await create_user(runtime, dan, role="platform-regular")
    assert answer.status_code == 302, text_of(answer)
    assert "dora" in runtime.console.of(USERS)
    said = text_of(await dan.get(answer["Location"]))
    assert bindings_of(runtime, "dora") == ["platform-regular"], said
    assert (await act(dan, "password", "dora")).status_code in (302, 422)
    row = await AuditRecord.objects.aget(resource="users", verb="create")
    assert (row.actor, row.as_user) == ("dan", "dan")


@pytest.mark.parametrize("role", ["platform-admin", "keeper", "junk"])
async def test_a_manager_cannot_create_users_with_other_roles(
    runtime: StaticRuntime, role: str
) -> None:
    assert (await create_user(runtime, await signed_in("dan"), role=role)).status_code == 400
    assert "dora" not in runtime.console.of(USERS)


async def test_a_user_name_with_existing_bindings_is_refused(runtime: StaticRuntime) -> None:
    """The bindings can belong to a certificate's user or to a deleted user."""
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("e", "reader", "User dora"))
    answer = await create_user(runtime, await signed_in("dan"), role="")
    assert answer.status_code == 400 and "has permissions that you don" in text_of(answer)
    assert "dora" not in runtime.console.of(USERS)


async def test_deleting_a_user_requires_kubernetes_permissions(runtime: StaticRuntime) -> None:
    dan = await signed_in("dan")
    assert (await act(dan, "delete")).status_code == 403
    assert "erin" in runtime.console.of(USERS)
