"""User managers by platform role: the console changes users on their behalf, except users who hold
permissions that the manager doesn't hold.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from console.audit.models import AuditRecord
from console.audit.trail import record
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    ROLE_BINDINGS,
    ROLES,
    USERS,
)
from console.kube.informer import Freshness
from console.ui.core.clusters import clusters
from rbac.process_clusters import create_cluster
from tests.access.conftest import IAM, READ, Browser
from tests.access.test_new_users import NEW, bindings_of, made, offered
from tests.access.test_rights import group, group_binding
from tests.access.test_roles import signed_in, text_of
from tests.accounts.conftest import HASH
from tests.informers import bring, preloaded, set_stale, take_away
from tests.rbac.objects import (
    binding,
    global_role,
    native_binding,
    native_role,
    rule,
    user,
)
from tests.staticruntime import StaticRuntime

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
    row = await AuditRecord.objects.select_related("outcome").aget(resource="users", verb="patch")
    assert (row.actor, row.as_user, row.name, row.outcome.code) == ("dan", "dan", "erin", 200)


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
        case "workspace":
            return "bob"
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
    return "erin"


@pytest.mark.parametrize("how", ["platform", "workspace", "kubernetes", "department", "disabled"])
async def test_a_manager_cannot_change_a_user_who_holds_more_permissions(
    runtime: StaticRuntime, how: str
) -> None:
    name = _more(runtime, how)
    dan = await signed_in("dan")
    before = len(writes(runtime))
    for what in (*ACTIONS, "enable", "unlock", "reset-second-factor"):
        answer = await act(dan, what, name)
        assert answer.status_code == 403, what
        assert "has permissions that you don" in text_of(answer)
    assert len(writes(runtime)) == before
    text = text_of(await dan.get(f"{PAGE}/{name}"))
    assert "has permissions that you don" in text and "Reset password" not in text


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
    answer = await made(runtime, dan, role="platform-regular")
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
    assert (await made(runtime, await signed_in("dan"), role=role)).status_code == 400
    assert "dora" not in runtime.console.of(USERS)


async def test_a_user_name_with_existing_bindings_is_refused(runtime: StaticRuntime) -> None:
    """The bindings can belong to a certificate's user or to a deleted user."""
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("e", "reader", "User dora"))
    answer = await made(runtime, await signed_in("dan"), role="")
    assert answer.status_code == 400 and "has permissions that you don" in text_of(answer)
    assert "dora" not in runtime.console.of(USERS)


async def test_deleting_a_user_requires_kubernetes_permissions(runtime: StaticRuntime) -> None:
    dan = await signed_in("dan")
    assert (await act(dan, "delete")).status_code == 403
    assert "erin" in runtime.console.of(USERS)
