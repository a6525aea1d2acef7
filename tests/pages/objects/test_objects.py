"""A workspace or project and its Kubernetes object share one page: the object's URL redirects to
it, and the page has the object's tabs.
"""

import re

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GVR,
    NAMESPACES,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from tests.accounts.conftest import ORIGIN, Browser
from tests.rbac.objects import (
    native_binding,
    native_role,
    project,
    rule,
    workspace,
    workspace_binding,
)
from tests.support.staticruntime import StaticRuntime
from tests.workspaces.fakes import template

pytestmark = pytest.mark.django_db(transaction=True)

TEAM, SHOP = "/workspaces/team", "/clusters/host/projects/shop"
TEMPLATE = "/clusters/host/workspacetemplates.tenant.kubesphere.io/team"
NAMESPACE = "/clusters/host/namespaces/shop"


@pytest.fixture(autouse=True)
def _team(runtime: StaticRuntime) -> None:
    runtime.console.put(WORKSPACE_TEMPLATES, template("team"))
    runtime.console.put(WORKSPACES, workspace("team"))
    runtime.console.put(NAMESPACES, project("shop", "team"))


def let_read(runtime: StaticRuntime, gvr: GVR, name: str) -> None:
    """Allow Alice to read one object and nothing else."""
    role = native_role("reader", rule("get", gvr.resource, gvr.group or "core", names=name))
    runtime.console.put(CLUSTER_ROLES, role)
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("reader", "reader", "User alice"))


async def text_of(browser: Browser, path: str) -> str:
    answer = await browser.get(path)
    assert answer.status_code == 200, path
    return str(answer.content.decode())


def tabs_in(text: str, label: str = "Pages of this object") -> list[str]:
    nav = re.search(rf'<nav class="tabs" aria-label="{label}">.*?</nav>', text, re.S)
    return re.findall(r'<a href="([^"]*)"', nav[0]) if nav else []


@pytest.mark.parametrize(
    ("old", "page"),
    [
        (TEMPLATE, TEAM),
        ("/clusters/host/workspaces.tenant.kubesphere.io/team", TEAM),
        (NAMESPACE, SHOP),
        (f"{NAMESPACE}?format=html", SHOP),
    ],
)
async def test_object_url_redirects_to_the_workspace_or_project_page(
    browser: Browser, old: str, page: str
) -> None:
    await browser.login("alice")
    assert (await browser.get(old))["Location"] == page


async def test_object_as_yaml_keeps_its_url(browser: Browser) -> None:
    await browser.login("admin")
    for url in (TEMPLATE, NAMESPACE):
        assert (await browser.get(f"{url}?format=yaml")).status_code == 200


async def test_workspace_page_has_the_tabs_and_actions_of_its_template(browser: Browser) -> None:
    await browser.login("admin")
    text = await text_of(browser, TEAM)
    tabs = tabs_in(text)
    assert tabs[:2] == [TEAM, f"{TEMPLATE}/overview"]
    assert tabs[-2] == f"{TEMPLATE}/yaml" and tabs[-1].startswith("/access/who-may?")
    for action in ("edit", "actions/labels", "actions/delete"):
        assert f'href="{TEMPLATE}/{action}"' in text
    for tab in tabs[1:-1]:
        assert tabs_in(await text_of(browser, tab)) == tabs


async def test_project_page_has_the_tabs_and_actions_of_its_namespace(browser: Browser) -> None:
    await browser.login("admin")
    text = await text_of(browser, SHOP)
    tabs = tabs_in(text)
    assert tabs[:3] == [SHOP, f"{TEAM}/projects/shop", f"{NAMESPACE}/overview"]
    for action in ("edit", "actions/labels", "actions/delete"):
        assert f'href="{NAMESPACE}/{action}"' in text
    assert f'href="{TEAM}"' in text
    assert tabs_in(await text_of(browser, f"{NAMESPACE}/yaml")) == [tabs[0], *tabs[2:]]


@pytest.mark.parametrize(
    "path", ["namespaces", "workspaces.tenant.kubesphere.io", "workspacetemplates.tenant.kubesphere.io"]
)  # fmt: skip
async def test_lists_link_to_the_workspace_or_project_page(browser: Browser, path: str) -> None:
    await browser.login("admin")
    text = await text_of(browser, f"/clusters/host/{path}")
    assert f'href="{SHOP if path == "namespaces" else TEAM}"' in text
    assert not re.search(r'href="[^"]*/(team|shop)"', text.replace(TEAM, "").replace(SHOP, ""))


async def test_search_results_link_to_the_workspace_or_project_page(browser: Browser) -> None:
    await browser.login("admin")
    for word, page in (("shop", SHOP), ("team", TEAM)):
        assert f'href="{page}"' in await text_of(browser, f"/search?q={word}")


async def test_template_without_a_workspace_shows_the_object_page(
    browser: Browser, runtime: StaticRuntime
) -> None:
    """No controller has created the workspace yet."""
    await browser.login("admin")
    assert (await browser.get("/workspaces/later")).status_code == 404
    runtime.console.put(WORKSPACE_TEMPLATES, template("later"))
    there = f"{TEMPLATE.removesuffix('team')}later/overview"
    assert (await browser.get("/workspaces/later"))["Location"] == there
    assert (await browser.get(there)).status_code == 200


@pytest.mark.parametrize(
    ("gvr", "name", "page", "object_"),
    [(NAMESPACES, "shop", SHOP, NAMESPACE), (WORKSPACE_TEMPLATES, "team", TEAM, TEMPLATE)],
)
async def test_user_with_access_to_the_object_only_sees_the_object_page(
    browser: Browser, runtime: StaticRuntime, gvr: GVR, name: str, page: str, object_: str
) -> None:
    await browser.login("alice")
    assert (await browser.get(page)).status_code == 403
    let_read(runtime, gvr, name)
    assert (await browser.get(page))["Location"] == f"{object_}/overview"
    assert (await browser.get(f"{object_}/overview")).status_code == 200


@pytest.mark.parametrize(
    ("kind", "page"), [("users.iam.kubesphere.io", "/access/accounts/users/alice"), ("namespaces", SHOP)]
)  # fmt: skip
async def test_up_link_leads_to_the_list_the_user_came_from(
    browser: Browser, kind: str, page: str
) -> None:
    await browser.login("admin")
    listed = f"/clusters/host/{kind}"
    for came in (listed, f"{listed}?q=a&status=ok"):
        answer = await browser.get(page, Referer=f"{ORIGIN}{came}")
        text = answer.content.decode().replace("&amp;", "&")
        assert re.findall(r'href="([^"]*)" data-up', text) == [came]


async def test_up_link_of_members_leads_to_their_workspace(
    browser: Browser, runtime: StaticRuntime
) -> None:
    """They have no permission to list all projects."""
    rules = (
        rule("get", "workspaces", WORKSPACES.group, names="team"),
        rule("get", "namespaces", names="shop"),
        rule("list", "pods"),
    )
    runtime.console.put(CLUSTER_ROLES, native_role("member", *rules))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("member", "member", "User alice"))
    await browser.login("alice")
    assert f'href="{TEAM}/projects" data-up' in await text_of(browser, SHOP)


async def test_workspace_of_a_project_is_shown_only_to_users_who_can_see_it(
    browser: Browser, runtime: StaticRuntime
) -> None:
    rules = rule("get", "namespaces", names="shop"), rule("list", "pods")
    runtime.console.put(CLUSTER_ROLES, native_role("guest", *rules))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("guest", "guest", "User alice"))
    for who, told in (("alice", False), ("admin", True)):
        await browser.login(who)
        assert (TEAM in await text_of(browser, SHOP)) is told


async def test_member_count_is_shown_only_to_users_who_can_list_members(
    browser: Browser, runtime: StaticRuntime
) -> None:
    let_read(runtime, WORKSPACES, "team")
    member = workspace_binding("team.bob", "team", "team-viewer", "User bob")
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, member)
    for who, members in (("alice", "—"), ("admin", f'<a href="{TEAM}/members">1</a>')):
        await browser.login(who)
        assert f"<dt>Members</dt><dd>{members}</dd>" in await text_of(browser, TEAM)
