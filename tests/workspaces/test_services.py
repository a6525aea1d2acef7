"""Workspace services check permissions regardless of the page, and refuse invalid requests before
writing.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any, cast

import pytest
from django.test import AsyncRequestFactory
from pytest_django import Settings

from console.audit.trail import AuditAction, AuditEntry
from console.kube.errors import Conflict
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.kube.projections.namespace import SYSTEM_WORKSPACE
from console.kube.quantity import Amounts
from console.ui.core.actions import ActionContext
from console.ui.core.clusters import clusters
from console.ui.core.permissions import Denied, Protected, Refused
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.rbac.fakes import MovableClock
from tests.rbac.objects import (
    TENANT,
    Manifest,
    native_binding,
    native_role,
    rule,
    workspace,
    workspace_binding,
    workspace_role,
)
from tests.support.informers import bring, take_away
from tests.workspaces.fakes import TenantRuntime, template
from tests.workspaces.service_objects import QUOTA, department, membership, objects
from workspaces.pages.deleting import DeleteWorkspace
from workspaces.services import (
    departments,
    members,
    project_members,
    projects,
    role_bindings,
    settings,
    user_search,
)
from workspaces.services.actor import Actor, ConcurrentChange
from workspaces.services.projects import READY_WITHIN


@asynccontextmanager
async def unrecorded(action: AuditAction) -> AsyncIterator[AuditEntry]:
    yield AuditEntry("")


@pytest.fixture(autouse=True)
def no_audit_trail(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no audit records."""
    monkeypatch.setattr("console.views.perform.record", unrecorded)


@pytest.fixture(autouse=True)
def runtime() -> Iterator[TenantRuntime]:
    found = TenantRuntime(objects())
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def acting(name: str, workspace: str = "acme") -> Actor:
    access = clusters.host.access_for(Identity(name))
    assert access is not None
    return Actor(cast(ConsoleRequest, AsyncRequestFactory().get("/")), access, workspace)


def version(department: str) -> str:
    return next(
        one.version for one in departments.department_tree("acme") if one.name == department
    )


def edit(by: Actor, manager: str = "boss", seen: str = "10") -> Coroutine[Any, Any, None]:
    return settings.edit(by, seen, alias="", description="", manager=manager, isolated=False)


def make(by: Actor, manager: str) -> Coroutine[Any, Any, None]:
    return settings.create(by, manager=manager, alias="", description="")


def set_quota(by: Actor, hard: Amounts) -> Coroutine[Any, Any, None]:
    return projects.set_quota(by, "shop", hard, "1")


def change(by: Actor, who: str, role: str, seen: str | None = None) -> Coroutine[Any, Any, None]:
    found = members.member_version("acme", who) if seen is None else seen
    return members.change_role(by, who, role, found)


def give(by: Actor, name: str, role: str, seen: str | None = None) -> Coroutine[Any, Any, None]:
    return departments.set_role(by, name, role, version(name) if seen is None else seen)


Doing = Callable[[Actor], Coroutine[Any, Any, Any]]
RIGHTS: dict[str, Doing] = {
    "invite": lambda by: members.invite(by, "cleo", "acme-viewer"),
    "change a member": lambda by: change(by, "max", "acme-viewer"),
    "remove a member": lambda by: members.remove(by, "max"),
    "create a department": lambda by: departments.create(by, "Tea"),
    "delete a department": lambda by: departments.delete(by, "cubs"),
    "add to a department": lambda by: departments.add_member(by, "crew", "max"),
    "leave a department": lambda by: departments.remove_member(by, "heads", "zoe"),
    "change a department": lambda by: give(by, "crew", "acme-viewer"),
    "create a project": lambda by: projects.create(by, "till"),
    "change the settings": edit,
    "change the quota": lambda by: settings.set_quota(by, {"pods": Decimal(99)}, "12"),
    "create a workspace": lambda by: make(by, "cleo"),
}


@pytest.mark.parametrize("doing", RIGHTS)
async def test_each_service_requires_its_permission(runtime: TenantRuntime, doing: str) -> None:
    for name in ("ned", "max"):
        with pytest.raises(Denied):
            await RIGHTS[doing](acting(name))
    assert not runtime.console.writes


RESERVED = "system:masters"
BEYOND = "You cannot grant a role that has permissions that you don"
ABOVE = "You cannot change {} because this user has permissions in this workspace that you don"
DEPARTMENT = (
    "You cannot change this department because it has permissions in this workspace that you don"
)
REFUSED: list[tuple[str, str, Doing]] = [
    # Reserved, missing and disabled users.
    ("not a valid username", "ivo", lambda by: members.invite(by, RESERVED, "acme-viewer")),
    ("not a valid username", "ivo", lambda by: departments.add_member(by, "crew", RESERVED)),
    ("not a valid username", "ivo", lambda by: edit(by, RESERVED)),
    ("not a valid username", "pia", lambda by: make(by, RESERVED)),
    (
        "not a valid username",
        "ann",
        lambda by: project_members.set_role(by, "shop", RESERVED, ""),
    ),
    *(
        (f"User {name} does not exist or cannot {what}", who, doing)
        for name in ("ghost", "dan")
        for what, who, doing in (
            ("be invited", "ivo", lambda by, name=name: members.invite(by, name, "acme-viewer")),
            ("manage the workspace", "ivo", lambda by, name=name: edit(by, name)),
            ("manage the workspace", "pia", lambda by, name=name: make(by, name)),
            (
                "be invited",
                "ann",
                lambda by, name=name: project_members.set_role(by, "shop", name, "viewer"),
            ),
        )
    ),
    (
        "cleo is not a member of the workspace",
        "ivo",
        lambda by: departments.add_member(by, "crew", "cleo"),
    ),
    ("max is already a member", "ivo", lambda by: members.invite(by, "max", "acme-viewer")),
    ("cleo is no longer a member", "ivo", lambda by: change(by, "cleo", "acme-viewer")),
    # Roles beyond the own permissions.
    (BEYOND, "ivo", lambda by: members.invite(by, "cleo", "acme-admin")),
    (BEYOND, "ivo", lambda by: change(by, "max", "acme-admin")),
    (BEYOND, "ivo", lambda by: give(by, "crew", "acme-admin")),
    (BEYOND, "ivo", lambda by: edit(by, "cleo")),
    # Users and departments with more permissions.
    (ABOVE.format("ann"), "ivo", lambda by: change(by, "ann", "acme-viewer")),
    (ABOVE.format("ann"), "ivo", lambda by: members.remove(by, "ann")),
    (ABOVE.format("zoe"), "ivo", lambda by: members.remove(by, "zoe")),
    ("boss is the manager of the workspace", "ann", lambda by: members.remove(by, "boss")),
    (DEPARTMENT, "ivo", lambda by: departments.add_member(by, "heads", "max")),
    (DEPARTMENT, "ivo", lambda by: departments.remove_member(by, "heads", "zoe")),
    (DEPARTMENT, "ivo", lambda by: departments.delete(by, "heads")),
    (DEPARTMENT, "ivo", lambda by: give(by, "heads", "")),
    # Missing or already existing objects.
    ("has no role dark-viewer", "ivo", lambda by: members.invite(by, "cleo", "dark-viewer")),
    ("has no role dark-viewer", "ivo", lambda by: change(by, "max", "dark-viewer")),
    ("has no role dark-viewer", "ivo", lambda by: give(by, "crew", "dark-viewer")),
    ("has no role root", "ann", lambda by: project_members.set_role(by, "shop", "max", "root")),
    ("department no longer exists", "ivo", lambda by: departments.delete(by, "gone")),
    ("contains other departments", "ivo", lambda by: departments.delete(by, "crew")),
    ("Enter a department name", "ivo", lambda by: departments.create(by, "")),
    ("with this name already exists", "ivo", lambda by: departments.create(by, "crew")),
    ("parent department no longer exists", "ivo", lambda by: departments.create(by, "Tea", "gone")),
    (
        "Names that start with kube- are reserved",
        "ivo",
        lambda by: projects.create(by, "kube-till"),
    ),
    (
        "is left in the workspace quota",
        "ivo",
        lambda by: projects.create(by, "till", hard={"pods": Decimal(11)}),
    ),
    ("is left in the workspace quota", "ann", lambda by: set_quota(by, {"pods": Decimal(11)})),
    # Missing or outdated versions.
    ("Reload the page", "ivo", lambda by: edit(by, seen="")),
    (
        "Another user changed this in the meantime",
        "ivo",
        lambda by: change(by, "max", "acme-viewer", "old"),
    ),
    (
        "Another user changed this in the meantime",
        "ivo",
        lambda by: give(by, "crew", "acme-viewer", "old"),
    ),
]


@pytest.mark.parametrize(("words", "who", "doing"), REFUSED)
async def test_invalid_requests_are_refused_before_writing(
    runtime: TenantRuntime, words: str, who: str, doing: Doing
) -> None:
    with pytest.raises(Refused, match=words):
        await doing(acting(who))
    assert not runtime.console.writes


async def test_reserved_workspace_names_are_refused() -> None:
    with pytest.raises(Refused, match="Names that start with kube- are reserved"):
        await make(acting("pia", "kube-acme"), "cleo")


async def test_a_workspace_without_template_has_no_settings(runtime: TenantRuntime) -> None:
    take_away(runtime.informer(WORKSPACE_TEMPLATES), template("acme", "boss"))
    with pytest.raises(Refused, match="has no WorkspaceTemplate"):
        await edit(acting("ivo"))


async def test_a_manager_of_all_departments_cannot_change_departments_with_more_permissions(
    runtime: TenantRuntime,
) -> None:
    """Members of the workspace know the additional permissions of its departments. Other users
    could add themselves.
    """
    doings: tuple[Doing, ...] = (
        lambda by: departments.add_member(by, "crew", "max"),
        lambda by: give(by, "crew", ""),
        lambda by: departments.delete(by, "crew"),
    )
    for doing in doings:
        with pytest.raises(Protected, match="has permissions that you don"):
            await doing(acting("pia"))
    assert not runtime.console.writes
    await departments.add_member(acting("ivo"), "crew", "max")
    await departments.add_member(acting("pia"), "cubs", "max")
    groups = [one["groupRef"]["name"] for one in runtime.console.of(GROUP_BINDINGS).values()]
    assert groups == ["heads", "crew", "cubs"]


async def test_offered_roles_are_grantable() -> None:
    assert members.grantable(acting("ivo")) == ["acme-keeper", "acme-viewer"]


async def test_users_are_found_only_in_visible_workspaces(
    runtime: TenantRuntime, settings: Settings
) -> None:
    """Ivo may list the members of `dark`, but not get the workspace."""
    settings.INVITE_SEARCH = "visible"
    access = acting("ivo").access

    def found() -> list[str]:
        found = user_search.find_users(access, "ivo", "acme", "cleo")
        return [one.name for one in found.people]

    assert found() == []
    runtime.console.put(CLUSTER_ROLES, native_role("sees", rule("get", "workspaces", TENANT)))
    runtime.console.put(CLUSTER_ROLE_BINDINGS, native_binding("sees", "sees", "User ivo"))
    assert found() == ["cleo"]
    runtime.console.put(WORKSPACE_ROLES, workspace_role("dark-viewer", "dark"))
    assert found() == []


async def test_all_users_are_found_by_name_and_without_addresses_by_default(
    runtime: TenantRuntime,
) -> None:
    access = acting("ivo").access
    assert not access.can("list", USERS)
    for part in ("cle", "CLEO"):
        found = user_search.find_users(access, "ivo", "acme", part)
        assert found.people == [user_search.FoundUser("cleo", "")] and found.of_all
    for part in ("max", "cleo@", "example", ""):
        assert user_search.find_users(access, "ivo", "acme", part).people == [], part


async def test_searches_are_limited_per_account(monkeypatch: pytest.MonkeyPatch) -> None:
    access, clock = acting("ivo").access, MovableClock()
    monkeypatch.setattr(user_search, "time", clock)

    def refused(account: str = "busy") -> bool:
        return user_search.find_users(access, account, "acme", "cleo").refused

    assert not any(refused() for _ in range(int(user_search.BURST)))
    assert refused() and user_search.find_users(access, "busy", "acme", "cleo").people == []
    assert not refused("another")
    assert not user_search.find_users(access, "busy", "acme", "").refused
    clock.move(seconds=1)
    assert not refused() and refused()


def anew(item: Manifest) -> None:
    """Replace the object with another object of the same name."""
    item["metadata"]["uid"] = "another"


def again(item: Manifest) -> None:
    """Change the object as another client."""
    item["metadata"]["annotations"] = {"example.org/was": "changed"}


OVERTAKEN: dict[str, tuple[Doing, GVR, str, Callable[[Manifest], None]]] = {
    "a role": (lambda by: change(by, "max", "acme-keeper"), WORKSPACE_ROLE_BINDINGS, "max", again),
    "a member": (lambda by: members.remove(by, "max"), WORKSPACE_ROLE_BINDINGS, "max", again),
    "a department": (lambda by: departments.delete(by, "cubs"), GROUPS, "cubs", anew),
    "who is in it": (
        lambda by: departments.delete(by, "team"),
        GROUP_BINDINGS,
        "team-max",
        anew,
    ),
    "the settings": (edit, WORKSPACE_TEMPLATES, "acme", again),
    "the quota": (
        lambda by: settings.set_quota(by, {"pods": Decimal(9)}, "12"),
        WORKSPACE_QUOTAS,
        "acme",
        again,
    ),
    "a project's quota": (
        lambda by: set_quota(by, {"pods": Decimal(9)}),
        RESOURCE_QUOTAS,
        "shop/shop",
        again,
    ),
    "the end of a project's quota": (
        lambda by: set_quota(by, {}),
        RESOURCE_QUOTAS,
        "shop/shop",
        again,
    ),
    "a project's member": (
        lambda by: project_members.set_role(by, "shop", "max", ""),
        ROLE_BINDINGS,
        "shop/max",
        anew,
    ),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("what", "arrives"),
    [
        *((what, False) for what in OVERTAKEN),
        *((what, True) for what in OVERTAKEN if "quota" in what),
    ],
)
async def test_changes_of_another_client_are_not_overwritten(
    runtime: TenantRuntime, what: str, arrives: bool
) -> None:
    """Unseen versions are not changed or deleted, whether or not the cache contains them."""
    doing, gvr, name, by_others = OVERTAKEN[what]
    console = runtime.console
    runtime._user_client = lambda _identity: cast(Any, console)
    member = native_binding("max", "viewer", "User max", namespace="shop", kind="Role")
    for of, item in (
        (ROLE_BINDINGS, member),
        (GROUPS, department("team")),
        (GROUP_BINDINGS, membership("max", "team")),
        (CLUSTER_ROLES, native_role("says", rule("update", "resourcequotas", QUOTA))),
        (CLUSTER_ROLE_BINDINGS, native_binding("says", "says", "User ann")),
    ):
        console.put(of, item)
    console.delayed = not arrives
    item = console.of(gvr)[name]
    by_others(item)
    console.put(gvr, item)
    there = console.of(gvr)[name]
    with pytest.raises((ConcurrentChange, Conflict)):
        await doing(acting("ann"))
    assert console.of(gvr)[name] == there


@pytest.mark.parametrize("seen", [("ann",), ("ann", "ben")])
async def test_removing_a_member_keeps_subjects_added_meanwhile(
    runtime: TenantRuntime, seen: tuple[str, ...]
) -> None:
    """A subject that was added after the page was rendered must not lose the role."""
    console, people = runtime.console, [f"User {name}" for name in seen]
    bound = workspace_binding("all", "acme", "acme-viewer", *people)
    console.put(WORKSPACE_ROLE_BINDINGS, bound)
    entry = runtime.informer(WORKSPACE_ROLE_BINDINGS).store.get(Key("", "all"))
    assert entry is not None
    console.delayed = True
    more = workspace_binding("all", "acme", "acme-viewer", *people, "User cleo")
    console.put(WORKSPACE_ROLE_BINDINGS, more)
    with pytest.raises(ConcurrentChange):
        await role_bindings.remove_subject(
            acting("ann"), WORKSPACE_ROLE_BINDINGS, entry, role_bindings.USER, "ann"
        )
    subjects = console.of(WORKSPACE_ROLE_BINDINGS)["all"]["subjects"]
    assert [one["name"] for one in subjects] == [*seen, "cleo"]


async def test_all_roles_of_a_department_count(runtime: TenantRuntime) -> None:
    """kubectl can bind several roles to a department."""
    least = workspace_binding("z-heads", "acme", "acme-viewer", "Group heads")
    runtime.console.put(WORKSPACE_ROLE_BINDINGS, least)
    with pytest.raises(Refused, match=DEPARTMENT):
        await departments.add_member(acting("ivo"), "heads", "max")


@pytest.mark.parametrize("kind", [role_bindings.USER, role_bindings.GROUP])
async def test_removing_a_subject_keeps_other_kinds_of_the_same_name(
    runtime: TenantRuntime, kind: str
) -> None:
    """A user, a department and a service account with the same name can be in one binding."""
    console, called = runtime.console, ("User crew", "Group crew", "ServiceAccount shop/crew")
    bound = native_binding("all", "viewer", *called, namespace="shop", kind="Role")
    console.put(ROLE_BINDINGS, bound)
    entry = runtime.informer(ROLE_BINDINGS).store.get(Key("shop", "all"))
    assert entry is not None
    await role_bindings.remove_subject(acting("ann"), ROLE_BINDINGS, entry, kind, "crew")
    left = [one for one in bound["subjects"] if one["kind"] != kind]
    assert console.of(ROLE_BINDINGS)["shop/all"]["subjects"] == left


async def test_orphaning_projects_keeps_finalizers_added_meanwhile(
    runtime: TenantRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finalizers are written as a whole list, and another client has just added one."""
    console, get = runtime.console, runtime.console.get

    async def then_held(*given: Any, **named: Any) -> Manifest:
        found = await get(*given, **named)
        meta = {**found["metadata"], "finalizers": ["example.org/hold"]}
        console.put(WORKSPACE_TEMPLATES, {**found, "metadata": meta})
        return found

    monkeypatch.setattr(console, "get", then_held)
    kind = kinds.by_type(WORKSPACE_TEMPLATES)
    assert kind is not None
    context = ActionContext(
        request=cast(Any, None),
        kind=kind,
        key=Key("", "acme"),
        uid="uid-of-template-acme",
        access=acting("boss").access,
        client=cast(Any, console),
        audit_id="",
        run_related=cast(Any, None),
        data={"keep": True},
    )
    with pytest.raises(Conflict):
        await DeleteWorkspace().run(context)
    left = console.of(WORKSPACE_TEMPLATES)["acme"]["metadata"]
    assert left["finalizers"] == ["example.org/hold"] and "deletionTimestamp" not in left


async def test_the_system_workspace_cannot_be_deleted() -> None:
    key = Key("", SYSTEM_WORKSPACE)
    with pytest.raises(Refused):
        await DeleteWorkspace().check(acting("boss").access, WORKSPACE_TEMPLATES, key)


async def test_a_workspace_is_created_when_pages_can_show_it(runtime: TenantRuntime) -> None:
    """A controller creates the Workspace from the template."""
    runtime._user_client = lambda _identity: cast(Any, runtime.console)
    made = asyncio.create_task(
        settings.create(acting("pia", "fresh"), manager="cleo", alias="", description="")
    )
    while "fresh" not in runtime.console.of(WORKSPACE_TEMPLATES):
        await asyncio.sleep(0)
    assert not made.done()
    bring(runtime.informer(WORKSPACES), workspace("fresh"))
    async with asyncio.timeout(READY_WITHIN / 2):
        await made


async def test_creating_a_workspace_does_not_wait_forever_for_the_controllers(
    runtime: TenantRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime._user_client = lambda _identity: cast(Any, runtime.console)
    monkeypatch.setattr(settings, "READY_WITHIN", 0.01)
    await settings.create(acting("pia", "fresh"), manager="cleo", alias="", description="")
