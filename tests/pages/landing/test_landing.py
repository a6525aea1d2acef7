"""The page that a user sees after signing in."""

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GLOBAL_ROLE_BINDINGS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACES,
)
from tests.accounts.conftest import HASH, Browser
from tests.rbac.objects import binding, native_binding, native_role, rule, user, workspace
from tests.support.staticruntime import StaticRuntime

pytestmark = pytest.mark.django_db(transaction=True)

TENANT = "tenant.kubesphere.io"
PODS = rule("get list watch", "pods")


def see(runtime: StaticRuntime, *workspaces: str) -> None:
    """Allow Alice to see these workspaces."""
    for name in (*workspaces, "other"):
        runtime.console.put(WORKSPACES, workspace(name))
    found = rule("get", "workspaces", TENANT, names=" ".join(workspaces))
    runtime.console.put(CLUSTER_ROLES, native_role("sees", found))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("sees", "sees", "User alice"))


def let_in(runtime: StaticRuntime, *projects: str) -> None:
    """Allow Alice to list pods in these projects."""
    runtime.console.put(CLUSTER_ROLES, native_role("pods", PODS))
    for name in projects:
        runtime.console.put(
            ROLE_BINDINGS, native_binding("pods", "pods", "User alice", namespace=name)
        )


async def begins(browser: Browser, who: str = "alice") -> str:
    """Sign in without a `next` URL and return the page that the user is redirected to."""
    first = (await browser.login(who))["Location"]
    assert first == "/"
    return str((await browser.get(first))["Location"])


async def test_administrator_lands_on_the_platform_dashboard(
    browser: Browser, runtime: StaticRuntime
) -> None:
    runtime.console.put(WORKSPACES, workspace("team"))
    assert await begins(browser, "admin") == "/dashboard"
    assert (await browser.get("/dashboard")).status_code == 200


@pytest.mark.parametrize(
    ("workspaces", "projects", "there"),
    [
        (("team",), (), "/workspaces/team"),
        (("team",), ("shop",), "/workspaces/team"),
        (("team", "crew"), ("shop",), "/workspaces"),
        ((), ("shop",), "/clusters/host/projects/shop"),
        ((), ("shop", "web"), "/dashboard"),
    ],
)
async def test_member_lands_on_their_workspace_or_project(
    browser: Browser,
    runtime: StaticRuntime,
    workspaces: tuple[str, ...],
    projects: tuple[str, ...],
    there: str,
) -> None:
    if workspaces:
        see(runtime, *workspaces)
    let_in(runtime, *projects)
    assert await begins(browser) == there
    assert (await browser.get(there)).status_code == 200


async def test_user_without_platform_permissions_is_redirected_from_the_dashboard(
    browser: Browser, runtime: StaticRuntime
) -> None:
    see(runtime, "team")
    await browser.login("alice")
    assert (await browser.get("/dashboard"))["Location"] == "/workspaces/team"


async def test_user_without_permissions_sees_whom_to_contact(
    browser: Browser, runtime: StaticRuntime
) -> None:
    """Only the names of enabled administrators are listed."""
    people = ("User admin", "User alice-the-boss", "User gone", "User disabled", "Group ops")
    runtime.console.put(GLOBAL_ROLE_BINDINGS, binding("admins", *(_pair(one) for one in people)))
    runtime.console.put(USERS, user("alice-the-boss", password=HASH, email="boss@example.com"))
    runtime.console.put(WORKSPACES, workspace("team"))
    assert await begins(browser) == "/dashboard"
    text = (await browser.get("/dashboard")).content.decode()
    assert "Platform administrators: admin, alice-the-boss." in text
    wanted = "Please add alice to a workspace or a project at https://console.example.com."
    assert f'id="asking-text" tabindex="0">{wanted}</pre>' in text
    assert 'data-copy-text="asking-text"' in text
    assert "boss@example.com" not in text
    assert "team" not in text.partition("<main")[2].partition("</main>")[0]


def _pair(text: str) -> tuple[str, str]:
    kind, _space, name = text.partition(" ")
    return kind, name


async def test_administrators_to_contact_are_limited_to_five(
    browser: Browser, runtime: StaticRuntime
) -> None:
    names = [f"boss-{number}" for number in range(9)]
    for name in names:
        runtime.console.put(USERS, user(name, password=HASH))
    who = binding("admins", *(("User", name) for name in names))
    runtime.console.put(GLOBAL_ROLE_BINDINGS, who)
    await browser.login("alice")
    text = (await browser.get("/dashboard")).content.decode()
    assert [name for name in names if name in text] == names[:5]
