"""Members of a workspace. Each member has one role."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from console.kube.errors import Conflict
from console.kube.gvr import (
    GROUP_BINDINGS,
    NAMESPACES,
    ROLE_BINDINGS,
    WORKSPACE_ROLE_BINDINGS,
)
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.projections.roles import Binding
from console.kube.store import Entry
from console.ui.core.permissions import Refused
from rbac.names import PREFIX
from workspaces.manifests import manager_name, workspace_member
from workspaces.rights import MEMBERS, bindings_of, objects_labelled, roles_of, rules_of_role
from workspaces.services.actor import Actor, ConcurrentChange, check_user_name, is_usable_user
from workspaces.services.role_bindings import (
    USER,
    change_binding_role,
    conflict_text,
    create_binding,
    remove_subject,
    version_of,
)


@dataclass(frozen=True, slots=True)
class Member:
    """A member. `roles` contains full names of WorkspaceRoles, normally one. `manages` is True for
    the workspace's manager, whose role comes from the workspace settings.
    """

    name: str
    roles: tuple[str, ...]
    manages: bool


def members(workspace: str, manager: str) -> list[Member]:
    found: dict[str, list[str]] = {}
    for entry in bindings_of(workspace):
        for user in entry.projection.users:
            roles = found.setdefault(user, [])
            if entry.projection.role not in roles:
                roles.append(entry.projection.role)
    return [Member(name, tuple(found[name]), name == manager) for name in sorted(found)]


def grantable(actor: Actor) -> list[str]:
    """Return the workspace roles that the user may grant: roles without permissions that the user
    does not have.
    """
    rights = actor.rights
    named = (
        (role.name, rules_of_role(actor.workspace, role.name)) for role in roles_of(actor.workspace)
    )
    return [name for name, rules in named if rules is not None and rights.holds(rules)]


async def invite(actor: Actor, user: str, role: str) -> None:
    """Add a user to the workspace."""
    actor.rights.require("create", MEMBERS)
    check_user_name(user)
    if not is_usable_user(user):
        raise Refused(_("User %(name)s does not exist or cannot be invited.") % {"name": user})
    if any(user in one.projection.users for one in bindings_of(actor.workspace)):
        raise Refused(_("%(name)s is already a member.") % {"name": user})
    await _bind(actor, user, role)


async def change_role(actor: Actor, user: str, role: str, version: str) -> None:
    """Change the role of a member. `version` is the `member_version` that the user saw. If two
    users change the role concurrently, the second gets `ConcurrentChange`.
    """
    actor.rights.require("update", MEMBERS)
    check_role(actor, role)
    found = _of(actor.workspace, user)
    if not found:
        raise ConcurrentChange(_("%(name)s is no longer a member.") % {"name": user})
    _check_outranks(actor, user, found)
    if version_of(found) != version:
        raise ConcurrentChange(conflict_text())
    own = next((entry for entry in found if entry.projection.subjects == (user,)), None)
    if own is not None and own.projection.role != role:
        await change_binding_role(actor, own, role)
    for entry in found:
        if entry is not own:
            await remove_subject(actor, WORKSPACE_ROLE_BINDINGS, entry, USER, user)
    if own is None:
        await _bind(actor, user, role)


def member_version(workspace: str, user: str) -> str:
    """Return the combined version of the member's own role bindings."""
    return version_of(_of(workspace, user))


async def remove(actor: Actor, user: str) -> None:
    """Remove a user's roles, departments and project roles in the workspace. Other subjects of the
    same bindings keep theirs.
    """
    actor.rights.require("delete", MEMBERS)
    found = _of(actor.workspace, user)
    _check_outranks(actor, user, (*found, *_by_departments(actor.workspace, user)))
    await remove_roles(actor, user)
    for entry in objects_labelled(GROUP_BINDINGS, actor.workspace):
        if user in entry.projection.users:
            await remove_subject(actor, GROUP_BINDINGS, entry, USER, user)
    store = get_runtime().informer(ROLE_BINDINGS).store
    for project in objects_labelled(NAMESPACES, actor.workspace):
        for entry in indexes_of(store).by_namespace.get(project.key.name):
            # Bindings that the controllers create follow the workspace roles.
            if user in entry.projection.users and not entry.key.name.startswith(PREFIX):
                await remove_subject(actor, ROLE_BINDINGS, entry, USER, user)


async def remove_roles(actor: Actor, user: str) -> None:
    """Remove the roles that the user has as a member. The caller must check permissions."""
    for entry in _of(actor.workspace, user):
        await remove_subject(actor, WORKSPACE_ROLE_BINDINGS, entry, USER, user)


def check_role(actor: Actor, role: str) -> None:
    rules = rules_of_role(actor.workspace, role)
    if rules is None:
        raise Refused(_("The workspace has no role %(name)s.") % {"name": role})
    if not actor.rights.holds(rules):
        raise Refused(_("You cannot grant a role that has permissions that you don't have."))


def _check_outranks(actor: Actor, user: str, found: Iterable[Entry[Binding]]) -> None:
    """Raise `Refused` if the user is the manager or has permissions that the actor does not have."""
    if user == actor.get_workspace().manager:
        text = _(
            "%(name)s is the manager of the workspace. Choose another manager in the workspace "
            "settings first."
        )
        raise Refused(text % {"name": user})
    for entry in found:
        rules = rules_of_role(actor.workspace, entry.projection.role)
        if rules is not None and not actor.rights.holds(rules):
            raise Refused(
                _(
                    "You cannot change %(name)s because this user has permissions in this workspace that "
                    "you don't have."
                )
                % {"name": user}
            )


async def _bind(actor: Actor, user: str, role: str) -> None:
    check_role(actor, role)
    body = workspace_member(actor.workspace, actor.get_workspace().uid, role, user)
    try:
        await create_binding(actor, body)
    except Conflict:
        raise ConcurrentChange(_("Another user just invited %(name)s.") % {"name": user}) from None


def _of(workspace: str, user: str) -> list[Entry[Binding]]:
    """Return the user's own role bindings, without the manager binding, which the controllers
    derive from the settings.
    """
    return [
        entry
        for entry in bindings_of(workspace)
        if user in entry.projection.users and entry.key.name != manager_name(workspace)
    ]


def _by_departments(workspace: str, user: str) -> list[Entry[Binding]]:
    """Return the role bindings of the user's departments."""
    groups = {
        entry.projection.group
        for entry in objects_labelled(GROUP_BINDINGS, workspace)
        if user in entry.projection.users
    }
    return [entry for entry in bindings_of(workspace) if groups & set(entry.projection.groups)]
