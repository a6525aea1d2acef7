"""Departments of a workspace: nested groups whose members share roles."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.admin.authority import check_not_beyond
from console.kube.apply import Manifest
from console.kube.errors import Conflict
from console.kube.gvr import GROUP_BINDINGS, GROUPS, WORKSPACE_ROLE_BINDINGS, Key
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import ALIAS_ANNOTATION, CREATOR_ANNOTATION, Binding
from console.kube.projections.tenancy import GROUP_LABEL, PARENT_LABEL, USER_LABEL, Group
from console.kube.store import Entry
from console.ui.core.permissions import Refused
from rbac.levels import TYPES, Level, subject_manifest
from rbac.names import department_name
from rbac.process_clusters import excess_permissions
from rbac.projection import IAM
from workspaces.names import owner_of, workspace_metadata
from workspaces.rights import DEPARTMENTS, bindings_of, objects_labelled, rules_of_role
from workspaces.services.actor import Actor, ConcurrentChange, check_user_name
from workspaces.services.members import check_role, members
from workspaces.services.role_bindings import (
    GROUP,
    USER,
    change_binding_role,
    conflict_text,
    create_binding,
    remove_subject,
    version_of,
)

#: Maximum nesting depth.
DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Department:
    """A department.

    - `name`: name of the Group
    - `depth`: 0 for a top-level department
    - `roles`: at most one role, unless another client added roles
    - `version`: version of the role bindings
    """

    name: str
    title: str
    uid: str
    depth: int
    members: tuple[str, ...]
    roles: tuple[str, ...]
    version: str


def department_tree(workspace: str) -> list[Department]:
    """Return the departments in tree order. Departments whose parent is missing, or that are their
    own parent, are at the top.
    """
    groups = {entry.key.name: entry.projection for entry in objects_labelled(GROUPS, workspace)}
    people: dict[str, list[str]] = {}
    for entry in objects_labelled(GROUP_BINDINGS, workspace):
        people.setdefault(entry.projection.group, []).extend(entry.projection.users)
    roles: dict[str, list[Entry[Binding]]] = {}
    for entry in bindings_of(workspace):
        for name in entry.projection.groups:
            roles.setdefault(name, []).append(entry)
    under: dict[str, list[Group]] = {}
    for group in sorted(groups.values(), key=lambda one: (one.title, one.name)):
        under.setdefault(group.parent if group.parent in groups else "", []).append(group)
    found: list[Department] = []

    def walk(parent: str, depth: int) -> None:
        for group in under.pop(parent, ()):
            who = tuple(sorted(set(people.get(group.name, ()))))
            bound = roles.get(group.name, [])
            given = tuple(sorted({entry.projection.role for entry in bound}))
            title = group.title or group.name
            version = version_of(bound)
            found.append(Department(group.name, title, group.uid, depth, who, given, version))
            walk(group.name, min(depth + 1, DEEPEST))

    walk("", 0)
    while under:
        # The remaining departments form cycles, which have no top-level department.
        walk(min(under), 0)
    return found


async def create(actor: Actor, title: str, parent: str = "") -> Manifest:
    """Create a department and return its Group."""
    actor.rights.require("create", DEPARTMENTS)
    if not title:
        raise Refused(_("Enter a department name."))
    known = department_tree(actor.workspace)
    if any(one.title == title for one in known):
        raise Refused(_("A department with this name already exists."))
    if parent and all(one.name != parent for one in known):
        raise Refused(_("The parent department no longer exists."))
    labels = {WORKSPACE_LABEL: actor.workspace, **({PARENT_LABEL: parent} if parent else {})}
    body: Manifest = {
        "apiVersion": GROUPS.group_version,
        "kind": "Group",
        "metadata": {
            "generateName": f"{actor.workspace}-",
            "labels": labels,
            "annotations": {ALIAS_ANNOTATION: title, CREATOR_ANNOTATION: actor.name},
            "ownerReferences": [owner_of(actor.workspace, actor.get_workspace().uid)],
        },
    }
    return await actor.as_console("create", GROUPS, Key("", ""), body)


async def delete(actor: Actor, name: str) -> None:
    """Delete a department, its memberships, and the bindings of its role."""
    actor.rights.require("delete", DEPARTMENTS)
    department = _find(actor, name)
    _check_outranks(actor, department, "delete")
    if any(entry.projection.parent == name for entry in objects_labelled(GROUPS, actor.workspace)):
        raise Refused(
            _("This department contains other departments. Delete those departments first.")
        )
    for entry in _roles_of(actor.workspace, name):
        await remove_subject(actor, WORKSPACE_ROLE_BINDINGS, entry, GROUP, name)
    for membership in objects_labelled(GROUP_BINDINGS, actor.workspace):
        if membership.projection.group == name:
            uid = membership.projection.uid
            await actor.as_console("delete", GROUP_BINDINGS, membership.key, uid=uid)
    await actor.as_console("delete", GROUPS, Key("", name), uid=department.uid)


async def add_member(actor: Actor, name: str, user: str) -> None:
    """Add a member of the workspace to a department."""
    actor.rights.require("update", DEPARTMENTS)
    check_user_name(user)
    department = _find(actor, name)
    _check_outranks(actor, department)
    if user in department.members:
        return
    if all(member.name != user for member in members(actor.workspace, "")):
        raise Refused(_("%(name)s is not a member of the workspace.") % {"name": user})
    body: Manifest = {
        "apiVersion": GROUP_BINDINGS.group_version,
        "kind": "GroupBinding",
        "metadata": {
            "generateName": f"{name}-",
            "labels": {WORKSPACE_LABEL: actor.workspace, GROUP_LABEL: name, USER_LABEL: user},
            "ownerReferences": [owner_of(actor.workspace, actor.get_workspace().uid)],
        },
        "groupRef": {"apiGroup": IAM, "kind": "Group", "name": name},
        "users": [user],
    }
    await actor.as_console("create", GROUP_BINDINGS, Key("", name), body)


async def remove_member(actor: Actor, name: str, user: str) -> None:
    actor.rights.require("update", DEPARTMENTS)
    _check_outranks(actor, _find(actor, name))
    for entry in objects_labelled(GROUP_BINDINGS, actor.workspace):
        if entry.projection.group == name and user in entry.projection.users:
            await remove_subject(actor, GROUP_BINDINGS, entry, USER, user)


async def set_role(actor: Actor, name: str, role: str, version: str) -> None:
    """Set the workspace role of a department, or remove it if `role` is "". `version` is the
    `Department.version` that the user saw.
    """
    actor.rights.require("update", DEPARTMENTS)
    department = _find(actor, name)
    _check_outranks(actor, department)
    if role:
        check_role(actor, role)
    if department.version != version:
        raise ConcurrentChange(conflict_text())
    found = _roles_of(actor.workspace, name)
    own = next((entry for entry in found if entry.projection.subjects == (name,)), None)
    if own is not None and role:
        await change_binding_role(actor, own, role)
    for entry in found:
        if entry is not own or not role:
            await remove_subject(actor, WORKSPACE_ROLE_BINDINGS, entry, GROUP, name)
    if own is not None or not role:
        return
    meta = workspace_metadata(
        department_name(actor.workspace, name),
        *(actor.workspace, actor.get_workspace().uid),
        **{GROUP_LABEL: name},
    )
    subjects = [subject_manifest("Group", name)]
    try:
        await create_binding(actor, TYPES[Level.WORKSPACE].binding(meta, role, subjects))
    except Conflict:
        raise ConcurrentChange(conflict_text()) from None


def _find(actor: Actor, name: str) -> Department:
    found = next((one for one in department_tree(actor.workspace) if one.name == name), None)
    if found is None:
        raise Refused(_("This department no longer exists."))
    return found


def _check_outranks(actor: Actor, department: Department, verb: str = "update") -> None:
    for entry in _roles_of(actor.workspace, department.name):
        rules = rules_of_role(actor.workspace, entry.projection.role)
        if rules and not actor.rights.holds(rules):
            raise Refused(
                _(
                    "You cannot change this department because it has permissions in this workspace that "
                    "you don't have."
                )
            )
    # Workspace administrators know which permissions the department has in other places. Users with
    # permissions from platform roles only could add themselves to any department.
    if not actor.rights.is_allowed_by_platform_only(verb, DEPARTMENTS):
        return
    try:
        member = Identity(actor.name, (department.name,))
    except InvalidIdentity:
        beyond = None
    else:
        beyond = excess_permissions(actor.access.identity, member)
    check_not_beyond(beyond, department.title)


def _roles_of(workspace: str, name: str) -> list[Entry[Binding]]:
    return [entry for entry in bindings_of(workspace) if name in entry.projection.groups]
