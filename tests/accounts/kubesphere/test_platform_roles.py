"""The role tables in docs/roles.md: which pages a user with only this KubeSphere role can open."""

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.accounts.kubesphere.objects import (
    global_binding,
    user,
    workspace_binding,
)
from tests.accounts.kubesphere.roles import (
    PREFIX,
    Manifest,
    custom,
    global_roles,
    roles_of_workspace,
    workspace_templates,
)
from tests.accounts.kubesphere.world import ROOT, Visitor, World
from tests.controlplane.waiting import eventually
from tests.support.depth import DEEP, fewer

HOME, PROJECT = "/workspaces/labs", "bench"
LIST = "/clusters/host/{}?format=json"
PAGES = {
    "nodes": LIST.format("nodes"),
    "storage classes": LIST.format("storageclasses"),
    "users": LIST.format("users.iam.kubesphere.io"),
    "logins": LIST.format("loginrecords.iam.kubesphere.io"),
    "new user": "/access/accounts/new",
    "roles": LIST.format("globalroles.iam.kubesphere.io"),
    "new role": "/access/roles/new/global",
    "new workspace": "/workspaces/-/new",
    "workspace": HOME,
    "settings": f"{HOME}/settings",
    "quota": f"{HOME}/quota",
    "members": f"{HOME}/members",
    "invitation": f"{HOME}/members/invite",
    "departments": f"{HOME}/departments",
    "workspace roles": f"{HOME}/roles",
    "new workspace role": "/access/roles/new/workspace?workspace=labs",
    "new project": f"{HOME}/projects/-/new",
    "pods": f"{LIST.format('pods')}&namespace={PROJECT}",
    "secrets": f"{LIST.format('secrets')}&namespace={PROJECT}",
}


def table(heading: str) -> dict[str, str]:
    """Return the column about the pages of a table in docs/roles.md, by role name."""
    text = (ROOT / "docs" / "roles.md").read_text().partition(f"| {heading} | In KubeSphere |")[2]
    found: dict[str, str] = {}
    for line in text.partition("\n\n")[0].splitlines()[2:]:
        first, _let, page, _kubectl = line.strip("| ").split(" | ")
        if "3.1.0" not in first:
            found |= dict.fromkeys(re.findall("`(.+?)`", first.replace("…", PREFIX)), page)
    return found


PLATFORM, WORKSPACE = table("GlobalRole"), table("WorkspaceRole")


#: Roles bound to groups, or held before an account exists.
OF_NOBODY = ("anonymous", "authenticated", "pre-registration")
BASIC = f"{PREFIX}view-basic"
MEMBER = "workspace, settings, quota, members"
_PEOPLE = "workspace, settings, members, departments, workspace roles"
_NEW = "new workspace role, invitation, new project"
OF_PLATFORM = {
    "platform-admin": "*",
    "platform-regular": "",
    "platform-self-provisioner": "new workspace",
    **{PREFIX + name: pages for name, pages in {
        "view-basic": "",
        "view-clusters": "nodes, storage classes",
        "manage-clusters": "nodes, storage classes",
        "view-workspaces": _PEOPLE,
        "create-workspaces": "new workspace",
        "manage-workspaces": f"{_PEOPLE}, {_NEW}, new workspace",
        "view-users": "users, logins",
        "manage-users": "users, logins, new user",
        "view-roles": "roles",
        "manage-roles": "roles, new role",
        "view-app-templates": "", "manage-app-templates": "",
        # The resource types don't exist here.
        "manage-platform-settings": "",
    }.items()},
}  # fmt: skip
#: In addition to the pages that every member of the workspace can open.
OF_WORKSPACE = {
    "<workspace>-admin": f"{_PEOPLE}, {_NEW}, pods, secrets",
    "<workspace>-viewer": f"{_PEOPLE}, pods, secrets",
    "<workspace>-regular": MEMBER,
    "<workspace>-self-provisioner": "new project",
    **{PREFIX + name: pages for name, pages in {
        "view-projects": "pods, secrets",
        "create-projects": "new project",
        "manage-projects": "pods, secrets, new project",
        **dict.fromkeys(("view-devops", "create-devops", "manage-devops"), ""),
        **dict.fromkeys(("view-app-repos", "manage-app-repos"), ""),
        **dict.fromkeys(("view-app-templates", "manage-app-templates"), ""),
        "view-roles": "workspace roles",
        "manage-roles": "workspace roles, new workspace role",
        "view-members": MEMBER,
        "manage-members": "invitation",
        "view-groups": "departments",
        "manage-groups": "departments",
        "view-workspace-settings": MEMBER,
        "manage-workspace-settings": MEMBER,
        "view-basic": MEMBER,
    }.items()},
}  # fmt: skip


#: Roles tested by the gate: those with pages that no other role opens, and one without pages.
AT_WORK = {"platform-regular", *(
    f"{PREFIX}{name}" for name in
    ("view-clusters", "create-workspaces", "manage-workspaces", "manage-users", "manage-roles")
)}  # fmt: skip
IN_WORKSPACE = {"<workspace>-admin", "<workspace>-viewer", *(
    f"{PREFIX}{name}" for name in
    ("create-projects", "manage-roles", "manage-members", "view-groups", "view-basic")
)}  # fmt: skip


def words(pages: str) -> set[str]:
    return set(pages.split(", ")) if pages else set()


def says_no(text: str) -> bool:
    """Return True if the role gives access to no page."""
    return bool(re.match("(no|nothing)\\b|as custom resources", text))


def slug(name: str) -> str:
    return name.removeprefix(PREFIX).removeprefix("<workspace>-")


def wearer(kind: str, name: str) -> str:
    return f"{kind[0].lower()}-{slug(name)}"


def answers(visitor: Visitor, path: str) -> bool:
    return visitor.get(path)[0] == 200


@pytest.fixture(scope="module")
def staff(world: World) -> World:
    """Create a user for each tested platform role and workspace role."""
    parts = {role["metadata"]["name"]: role for role in workspace_templates()}
    items: list[Manifest] = []
    for name in (one for one in OF_PLATFORM if DEEP or one in AT_WORK):
        who = wearer("platform", name)
        items += [user(who), global_binding(who, name, f"User {who}")]
    for name in (one for one in OF_WORKSPACE if DEEP or one in IN_WORKSPACE):
        who = wearer("workspace", name)
        role = name.removeprefix("<workspace>-")
        if name in parts:
            role = who
            # KubeSphere's form always selects this template too.
            templates = (parts[each] for each in sorted({BASIC, name}))
            items.append(custom("WorkspaceRole", f"labs-{who}", *templates, workspace="labs"))
        bound = workspace_binding("labs", role, f"User {who}")
        bound["metadata"]["name"] = who
        items += [user(who), bound]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(world.put, items))
    # The user created last is used to wait for the controllers.
    last = (("platform", "manage-roles", "roles"), ("workspace", "view-basic", "workspace"))
    for kind, name, page in last:
        visitor = world.visitor(wearer(kind, name))
        eventually(partial(answers, visitor, PAGES[page]), page, timeout=30)
    return world


def comes_to_open(world: World, name: str, pages: set[str]) -> None:
    visitor = world.visitor(name)

    def seen() -> set[str]:
        return {what for what, path in PAGES.items() if answers(visitor, path)}

    try:
        eventually(lambda: seen() == pages, "these pages and no others", timeout=20)
    except AssertionError:
        assert seen() == pages


@pytest.mark.parametrize("name", fewer([*OF_PLATFORM], *AT_WORK))
def test_a_platform_role_opens_the_documented_pages(staff: World, name: str) -> None:
    pages = OF_PLATFORM[name]
    assert bool(pages) is not says_no(PLATFORM[name]), PLATFORM[name]
    comes_to_open(staff, wearer("platform", name), set(PAGES) if pages == "*" else words(pages))


@pytest.mark.parametrize("name", fewer([*OF_WORKSPACE], *IN_WORKSPACE))
def test_a_workspace_role_opens_the_documented_pages(staff: World, name: str) -> None:
    pages = words(OF_WORKSPACE[name])
    assert bool(pages) is not says_no(WORKSPACE[name]), WORKSPACE[name]
    comes_to_open(staff, wearer("workspace", name), pages | words(MEMBER))


def test_every_role_is_documented() -> None:
    platform = {one["metadata"]["name"] for one in global_roles()} - {"people-managers"}
    assert set(PLATFORM) == platform == {*OF_PLATFORM, *OF_NOBODY}
    own = {f"<workspace>-{role['metadata']['name'].removeprefix('labs-')}"
           for role in roles_of_workspace("labs")}  # fmt: skip
    shared = {one["metadata"]["name"] for one in workspace_templates()}
    assert set(WORKSPACE) == own | shared == set(OF_WORKSPACE)


def test_anonymous_users_open_no_page(world: World) -> None:
    """The same applies to roles of the groups that contain all users."""
    visitor = world.visitor()
    for path in PAGES.values():
        status, _text = visitor.get(path)
        assert status in (401, 403) or "/login?" in visitor.landed, path
