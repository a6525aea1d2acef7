"""Each workspace page requires its permission, and other pages link to it only for users with this
permission.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from asgiref.sync import sync_to_async

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    LIMIT_RANGES,
    NAMESPACES,
    NODES,
    PODS,
    ROLE_BINDINGS,
    USERS,
    WORKLOADS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
)
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.ui.core.clusters import clusters
from console.ui.core.permissions import Denied
from console.ui.navigation.page_routes import PageRoute, resolve_page
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.audit.rows import recorded
from tests.rbac.objects import (
    IAM,
    TENANT,
    Manifest,
    native_binding,
    native_role,
    project,
    rule,
    user,
    workspace,
    workspace_binding,
    workspace_role,
)
from tests.support.informers import bring, preloaded, take_away
from tests.support.staticruntime import StaticRuntime
from tests.views.conftest import Utf8Client
from tests.workspaces.fakes import TYPES, template, workspace_quota

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]

QUOTA = "quota.kubesphere.io"
ACME, SHOP = "/workspaces/acme", "/workspaces/acme/projects/shop"
TEMPLATE = "/clusters/host/workspacetemplates.tenant.kubesphere.io/acme"


class Page(NamedTuple):
    """The permission that a page requires.

    `right` is the required rule. `own` is True if it must come from a workspace role instead of
    a cluster role. `before` is the page that links to this page.
    """

    right: Manifest
    before: str = ""
    own: bool = False


def native(verbs: str, resources: str, groups: str = "core", before: str = "") -> Page:
    return Page(rule(verbs, resources, groups), before)


def own(verbs: str, resources: str, before: str = "", groups: str = IAM) -> Page:
    return Page(rule(verbs, resources, groups), before, own=True)


PAGES = {
    "/workspaces/-/new": native("create", "workspacetemplates", TENANT, "/workspaces"),
    ACME: native("get", "workspaces", TENANT, "/workspaces"),
    f"{ACME}/quota": native("get", "resourcequotas", QUOTA, ACME),
    f"{ACME}/quota?edit": native("update", "resourcequotas", QUOTA, f"{ACME}/quota"),
    f"{ACME}/settings?edit": own("update", "workspaces", f"{ACME}/settings", TENANT),
    f"{TEMPLATE}/overview": native("get", "workspacetemplates", TENANT, ACME),
    f"{TEMPLATE}/actions/delete": native(
        "delete", "workspacetemplates", TENANT, f"{ACME}/settings"
    ),
    f"{ACME}/members": own("list", "workspacemembers", ACME),
    f"{ACME}/members/invite": own("create", "workspacemembers", f"{ACME}/members"),
    f"{ACME}/members/mia/role": own("update", "workspacemembers", f"{ACME}/members"),
    f"{ACME}/members/mia/remove": own("delete", "workspacemembers", f"{ACME}/members"),
    "/access/accounts/users/mia": native("get", "users", IAM, f"{ACME}/members"),
    f"{ACME}/departments": own("list", "groups"),
    f"{ACME}/departments?new": own("create", "groups", f"{ACME}/departments"),
    f"{ACME}/departments/heads": own("update", "groups", f"{ACME}/departments"),
    f"{ACME}/departments/heads/delete": own("delete", "groups", f"{ACME}/departments"),
    f"{ACME}/projects/-/new": own("create", "namespaces", f"{ACME}/projects", "core"),
    SHOP: native("get", "namespaces", before=f"{ACME}/projects"),
    f"{SHOP}/quota": native("update", "resourcequotas"),
    "/projects/shop/quota": native("update", "resourcequotas"),
    f"{SHOP}/limits": native("update", "limitranges", before=SHOP),
    f"{SHOP}/member": native("create", "rolebindings", "rbac.authorization.k8s.io", SHOP),
}
#: Pages whose permissions are also required for the others.
SIGHT = (ACME, f"{TEMPLATE}/overview", SHOP)


def department(name: str) -> Manifest:
    meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"}
    return {"metadata": {**meta, "labels": {"kubesphere.io/workspace": "acme"}}}


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    objects: dict[GVR, list[Any]] = {
        USERS: [user("nina"), user("mia")],
        WORKSPACES: [workspace("acme")],
        WORKSPACE_TEMPLATES: [template("acme")],
        WORKSPACE_QUOTAS: [workspace_quota("acme", pods="10")],
        WORKSPACE_ROLE_BINDINGS: [workspace_binding("mia", "acme", "acme-viewer", "User mia")],
        GROUPS: [department("heads")],
        NAMESPACES: [project("shop", "acme")],
    }
    types = dict.fromkeys((*TYPES, *WORKLOADS, PODS, NODES))
    found = StaticRuntime({gvr: preloaded(gvr, objects.get(gvr, [])) for gvr in types})
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def asked_by_nina(runtime: StaticRuntime, path: str, *pages: Page) -> Any:
    """Request `path` as a user with the permissions of these pages."""
    given = {of: [page.right for page in pages if page.own is of] for of in (False, True)}
    for gvr, item in (
        (CLUSTER_ROLES, native_role("nina", *given[False])),
        (CLUSTER_ROLE_BINDINGS, native_binding("nina", "nina", "User nina")),
        (WORKSPACE_ROLES, workspace_role("acme-nina", "acme", *given[True])),
        (WORKSPACE_ROLE_BINDINGS, workspace_binding("nina", "acme", "acme-nina", "User nina")),
    ):
        bring(runtime.informer(gvr), item)
    return await Utf8Client().get(path, headers={"X-Person": "nina"})


def without(path: str) -> list[Page]:
    """Return all pages except those whose permission includes the permission for `path`."""
    page = PAGES[path]
    others = [one for one in PAGES.values() if one.right != page.right]
    if path == f"{ACME}/quota":
        # Members of a workspace may see its quota.
        return [one for one in others if not one.own]
    # Users who can't see the workspace get a link to its template.
    return [one for one in others if path != ACME or one != PAGES[f"{TEMPLATE}/overview"]]


@pytest.mark.parametrize("path", PAGES)
async def test_each_page_requires_its_permission(runtime: StaticRuntime, path: str) -> None:
    assert (await asked_by_nina(runtime, path, *without(path))).status_code == 403
    needed = [PAGES[name] for name in (path, *SIGHT)]
    assert (await asked_by_nina(runtime, path, *needed)).status_code in (200, 302)


@pytest.mark.parametrize("path", [path for path, page in PAGES.items() if page.before])
async def test_links_to_a_page_require_its_permission(runtime: StaticRuntime, path: str) -> None:
    for pages, offered in ((PAGES.values(), True), (without(path), False)):
        answer = await asked_by_nina(runtime, PAGES[path].before, *pages)
        assert answer.status_code == 200
        # The menu contains the tabs of every workspace.
        content = answer.content.decode().partition("<main")[2]
        assert (f'href="{path}"' in content) is offered


def followed(path: str) -> PageRoute:
    found = resolve_page(path)
    assert isinstance(found, PageRoute)
    return found


async def test_live_updates_require_permission_to_see_the_workspace(runtime: StaticRuntime) -> None:
    """A missing workspace gets the same response."""
    access = clusters.host.access_for(Identity("nina"))
    assert access is not None
    for path in (ACME, f"{ACME}/members", "/workspaces/none"):
        with pytest.raises(Denied):
            followed(path).rights(access)
    await asked_by_nina(runtime, ACME, PAGES[ACME])
    assert followed(f"{ACME}/members").rights(access) == access.identity


@pytest.mark.parametrize(
    "path",
    (
        *(ACME, f"{ACME}/projects", f"{ACME}/members", f"{ACME}/departments"),
        *(f"{ACME}/quota", f"{ACME}/settings", SHOP),
    ),
)
async def test_a_page_watches_all_types_that_it_shows(
    runtime: StaticRuntime, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = (Page(rule("*", "*", "*")), Page(rule("*", "*", "*"), own=True))
    assert (await asked_by_nina(runtime, path, *everything)).status_code == 200
    access, place, read = clusters.host.access_for(Identity("nina")), followed(path), set[GVR]()
    assert access is not None
    informer = runtime.informer

    def noted(gvr: GVR) -> Informer[Any]:
        read.add(gvr)
        return informer(gvr)

    monkeypatch.setattr(runtime, "informer", noted)
    place.etag(access)
    assert read
    assert not read - {place.kind.gvr, *place.types}


async def test_the_delete_page_lists_only_visible_projects(
    runtime: StaticRuntime,
) -> None:
    path, sight = f"{TEMPLATE}/actions/delete", PAGES[f"{TEMPLATE}/overview"]
    bring(runtime.informer(NAMESPACES), project("dark", "acme"))
    shown = []
    for more in ((), (Page(rule("get", "namespaces", names="shop")),)):
        answer = await asked_by_nina(runtime, path, PAGES[path], sight, *more)
        assert answer.status_code == 200
        shown.append(answer.content.decode().partition("<main")[2])
    assert (
        "shop" not in shown[0]
        and "Projects in this workspace that you have permission to view: shop<" in shown[1]
    )
    assert not any("dark" in page for page in shown)


async def test_audit_records_of_an_earlier_workspace_of_the_name_are_hidden_from_tenants(
    runtime: StaticRuntime,
) -> None:
    home = workspace("acme")
    home["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    bring(runtime.informer(WORKSPACES), home)
    old, new = [
        await sync_to_async(recorded)(name, workspace="acme", time=datetime(year, 6, 1, tzinfo=UTC))
        for name, year in (("old", 2025), ("new", 2026))
    ]
    everything = rule("*", "*", "*")
    sight = [PAGES[name] for name in SIGHT]
    path = f"{ACME}/audit?from=2025-01-01T00:00&to=2027-01-01T00:00"
    for owns, seen in (((), 0), ((Page(everything, own=True),), 1), ((Page(everything),), 2)):
        answer = await asked_by_nina(runtime, path, *sight, *owns)
        assert answer.status_code == (200 if seen else 403)
        text = answer.content.decode()
        assert ("Deployment new" in text, "Deployment old" in text) == (seen > 0, seen > 1)
        for record, shown in ((new, seen > 0), (old, seen > 1)):
            answer = await asked_by_nina(
                runtime, f"/audit/records/{record.audit_id}", *sight, *owns
            )
            assert answer.status_code == (200 if shown else 404)


#: RIGHT-TO-LEFT OVERRIDE: invisible, and reverses the following text.
TURNED = "\u202e"


def hostile() -> list[tuple[GVR, Manifest]]:
    """Return objects whose user-written fields contain the character."""
    home, shop, heads = workspace("acme"), project("shop", "acme"), department("heads")
    notes = {
        "alias-name": f"alias{TURNED}",
        "creator": f"by{TURNED}",
        "description": f"for{TURNED}",
    }
    for item in (home, shop, heads):
        item["metadata"]["annotations"] = {f"kubesphere.io/{name}": notes[name] for name in notes}
    home["spec"] = {"manager": f"boss{TURNED}"}
    inside = {"namespace": "shop", "name": "shop", "uid": "u", "resourceVersion": "1"}
    amounts = {key: {f"{key}{TURNED}": "1"} for key in ("default", "defaultRequest")}
    member = {**department("heads-zoe"), "groupRef": {"name": "heads"}, "users": [f"zoe{TURNED}"]}
    quota = workspace_quota("acme", pods="10")
    quota["spec"]["quota"]["hard"][f"count/things{TURNED}"] = "1"
    role, who = f"role{TURNED}", f"User who{TURNED}"
    return [
        (USERS, user("eve", email=f"eve{TURNED}@example.org")),
        (WORKSPACES, home),
        (WORKSPACE_TEMPLATES, template("acme", f"boss{TURNED}")),
        (NAMESPACES, shop),
        (GROUPS, heads),
        (GROUP_BINDINGS, member),
        (WORKSPACE_ROLE_BINDINGS, workspace_binding("who", "acme", role, who)),
        (WORKSPACE_ROLE_BINDINGS, workspace_binding("heads", "acme", role, "Group heads")),
        (WORKSPACE_QUOTAS, quota),
        (
            LIMIT_RANGES,
            {"metadata": inside, "spec": {"limits": [{"type": "Container", **amounts}]}},
        ),
        (ROLE_BINDINGS, native_binding("who", role, who, namespace="shop", kind="Role")),
    ]


@pytest.mark.parametrize(
    "name", ["https://idp/anna", "..", "a?b#c", "%2e%2e", "/", " ", "x" * 3000]
)
async def test_pages_render_with_any_subject_name_in_bindings(
    runtime: StaticRuntime, name: str
) -> None:
    """Bindings can contain names without an account, and names that don't fit into a URL."""
    member = {**department("heads-zoe"), "groupRef": {"name": "heads"}, "users": [name]}
    bound = native_binding("who", "viewer", "User who", namespace="shop", kind="Role")
    role = workspace_binding("who", "acme", "acme-viewer", "User who")
    for item in (bound, role):
        item["subjects"][0]["name"] = name
    home = {**workspace("acme"), "spec": {"manager": name}}
    reads = native("get list", "limitranges rolebindings resourcequotas users", f"* core {IAM}")
    for manager in (False, True):
        for gvr, item in (
            (GROUP_BINDINGS, member),
            (ROLE_BINDINGS, bound),
            (WORKSPACE_ROLE_BINDINGS, role),
            *(((WORKSPACES, home),) if manager else ()),
        ):
            bring(runtime.informer(gvr), item)
        for path in (f"{ACME}/projects", f"{ACME}/settings", *PAGES):
            answer = await asked_by_nina(runtime, path, *PAGES.values(), reads)
            assert answer.status_code in (200, 302), path


async def test_users_who_can_create_workspaces_see_that_none_exist(runtime: StaticRuntime) -> None:
    take_away(runtime.informer(WORKSPACES), workspace("acme"))
    for granted, shown in ((PAGES["/workspaces/-/new"], True), (PAGES[ACME], False)):
        text = (await asked_by_nina(runtime, "/workspaces", granted)).content.decode()
        assert ("No workspaces yet" in text) is shown
        assert ("You are not a member of any workspace yet" in text) is not shown


async def test_the_link_to_a_found_user_keeps_the_search_text(runtime: StaticRuntime) -> None:
    path, users = f"{ACME}/members/invite", native("list", "users", IAM)
    bring(runtime.informer(USERS), user("eve", email="a&b@example.org"))
    answer = await asked_by_nina(runtime, f"{path}?q=a%26b", *PAGES.values(), users)
    assert f'href="{path}?user=eve&amp;q=a%26b"' in answer.content.decode()


async def test_invisible_characters_are_shown_visibly(runtime: StaticRuntime) -> None:
    for gvr, item in hostile():
        bring(runtime.informer(gvr), item)
    reads = native("get list", "limitranges rolebindings resourcequotas users", f"* core {IAM}")
    asked = f"user=you{quote(TURNED)}&q=eve"
    shown: dict[str, set[str]] = {}
    # The edit form contains the original value.
    pages = [path for path in PAGES if path != f"{ACME}/settings?edit"]
    for path in (
        *("/workspaces", f"{ACME}/projects", f"{ACME}/settings", *pages),
        *(f"{ACME}/members/invite?{asked}", f"{SHOP}/member?{asked}"),
        f"{ACME}/members/invite?q={quote(TURNED)}",
        *(f"{ACME}/members/who{quote(TURNED)}/{act}" for act in ("role", "remove")),
    ):
        answer = await asked_by_nina(runtime, path, *PAGES.values(), reads)
        assert answer.status_code in (200, 302), path
        text = answer.content.decode()
        # Form fields contain the original value.
        sent = r'(<option value|name|id|for|aria-describedby)="[^"]*"'
        assert TURNED not in re.sub(sent, "", text), path
        shown[path] = set(re.findall(r"(\w+)⟨U\+202E⟩", text))
    assert shown["/workspaces"] == {"alias", "boss"}
    assert shown[ACME] == {"alias", "for", "boss", "things"}
    assert "boss" in shown[f"{TEMPLATE}/actions/delete"]
    assert shown[f"{ACME}/settings"] == {"alias", "for", "boss"}
    assert shown[f"{ACME}/members"] == {"who", "role"}
    assert shown[f"{ACME}/departments"] == {"alias", "zoe", "role"}
    assert shown[f"{ACME}/projects"] - {"alias"} == {"by"}
    assert shown[SHOP] == {"alias", "who", "role", "default", "defaultRequest"}
    assert shown[f"{ACME}/members/invite?{asked}"] == {"you", "eve"}
    assert shown[f"{ACME}/members/who{quote(TURNED)}/remove"] == {"who"}
    assert shown[f"{SHOP}/member?{asked}"] == {"you"}
