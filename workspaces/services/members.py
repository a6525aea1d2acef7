"""Who belongs to a workspace, with one role each."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from console.kube.errors import Conflict, NotFound
from console.kube.gvr import (
    GROUP_BINDINGS,
    GVR,
    NAMESPACES,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    Key,
)
from console.kube.indexes import indexes_of
from console.kube.projections.namespace import WORKSPACE_LABEL
from console.kube.projections.roles import Binding
from console.kube.runtime import get_runtime
from console.kube.store import Entry
from rbac.authorizer import is_usable
from workspaces.objects import manager_name, workspace_member
from workspaces.rights import MEMBERS, bindings_of, roles_of, rules_of_role
from workspaces.services.acting import Doer, Refused, check_person


@dataclass(frozen=True, slots=True)
class Member:
    """`roles`: whole names of WorkspaceRoles, one as a rule. `manages`: is the workspace's manager, who
    has the role for that reason."""

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


def grantable(doer: Doer) -> list[str]:
    """The roles of the workspace that the doer may give: no more than they hold."""
    rights = doer.rights
    named = (
        (role.name, rules_of_role(doer.workspace, role.name)) for role in roles_of(doer.workspace)
    )
    return [name for name, rules in named if rules is not None and rights.holds(rules)]


async def invite(doer: Doer, user: str, role: str) -> None:
    """Makes somebody a member."""
    doer.rights.require("create", MEMBERS)
    check_person(user)
    entry = get_runtime().informer(USERS).store.get(Key("", user))
    if entry is None or not is_usable(entry.projection):
        raise Refused(_("There is no user %(name)s who could be invited.") % {"name": user})
    if _of(doer.workspace, user):
        raise Refused(_("%(name)s is a member already.") % {"name": user})
    await _bind(doer, user, role)


async def change_role(doer: Doer, user: str, role: str) -> None:
    """Gives a member another role. Of two who do so at once, one is told that the other was first."""
    doer.rights.require("update", MEMBERS)
    _check_role(doer, role)
    found = _of(doer.workspace, user)
    if not found:
        raise Refused(_("%(name)s is no member any more.") % {"name": user})
    if [entry.projection.role for entry in found] == [role]:
        return
    _check_outranks(doer, user, found)
    for entry in found:
        await _unbind(doer, entry)
    await _bind(doer, user, role)


async def remove(doer: Doer, user: str) -> None:
    """Ends all that somebody has in the workspace: roles, departments, roles in its projects."""
    doer.rights.require("delete", MEMBERS)
    found = _of(doer.workspace, user)
    _check_outranks(doer, user, found)
    for entry in found:
        await _unbind(doer, entry)
    for membership in _label(GROUP_BINDINGS, doer.workspace):
        if membership.projection.users == (user,):
            name, uid = membership.key.name, membership.projection.uid
            async with doer.as_console("delete", GROUP_BINDINGS, name) as (client, recording):
                await client.delete(GROUP_BINDINGS, name=name, uid=uid, audit_id=recording.audit_id)
    for project in _label(NAMESPACES, doer.workspace):
        await _leave(doer, project.key.name, user)


async def _leave(doer: Doer, project: str, user: str) -> None:
    """Out of one project, as far as a binding is this user's alone."""
    store = get_runtime().informer(ROLE_BINDINGS).store
    for entry in indexes_of(store).by_namespace.get(project):
        binding: Binding = entry.projection
        if binding.subjects != (user,) or binding.users != (user,) or binding.role_kind != "Role":
            continue
        name = entry.key.name
        writing = doer.as_console("delete", ROLE_BINDINGS, name, namespace=project)
        async with writing as (client, recording):
            await client.delete(
                ROLE_BINDINGS,
                namespace=project,
                name=name,
                uid=binding.uid,
                audit_id=recording.audit_id,
            )


def _check_role(doer: Doer, role: str) -> None:
    rules = rules_of_role(doer.workspace, role)
    if rules is None:
        raise Refused(_("The workspace has no role %(name)s.") % {"name": role})
    if not doer.rights.holds(rules):
        raise Refused(_("You cannot give a role that allows more than you may do yourself."))


def _check_outranks(doer: Doer, user: str, found: Iterable[Entry[Binding]]) -> None:
    """Raises `Refused` for the manager, and for whoever may do more than the doer."""
    if user == doer.home().manager:
        text = _("%(name)s manages the workspace. Choose another manager in its settings first.")
        raise Refused(text % {"name": user})
    for entry in found:
        rules = rules_of_role(doer.workspace, entry.projection.role)
        if rules is not None and not doer.rights.holds(rules):
            raise Refused(_("%(name)s may do more than you in this workspace.") % {"name": user})


async def _bind(doer: Doer, user: str, role: str) -> None:
    _check_role(doer, role)
    body = workspace_member(doer.workspace, doer.home().uid, role, user)
    name = body["metadata"]["name"]
    async with doer.as_console("create", WORKSPACE_ROLE_BINDINGS, name) as (client, recording):
        try:
            await client.create(WORKSPACE_ROLE_BINDINGS, body, audit_id=recording.audit_id)
        except Conflict:
            raise Refused(_("Somebody else has just given this role.")) from None


async def _unbind(doer: Doer, entry: Entry[Binding]) -> None:
    name = entry.key.name
    if entry.projection.subjects != (entry.projection.users[0],):
        text = _("The role comes from %(name)s, which names others too. Change that one instead.")
        raise Refused(text % {"name": name})
    async with doer.as_console("delete", WORKSPACE_ROLE_BINDINGS, name) as (client, recording):
        try:
            await client.delete(
                WORKSPACE_ROLE_BINDINGS,
                name=name,
                uid=entry.projection.uid,
                resource_version=entry.resource_version,
                audit_id=recording.audit_id,
            )
        except (Conflict, NotFound):
            text = _("Somebody else changed this member in the meantime. Look again.")
            raise Refused(text) from None


def _of(workspace: str, user: str) -> list[Entry[Binding]]:
    """A manager's binding is the controllers' and follows the settings."""
    return [
        entry
        for entry in bindings_of(workspace)
        if user in entry.projection.users and entry.key.name != manager_name(workspace)
    ]


def _label(gvr: GVR, workspace: str) -> tuple[Entry[Any], ...]:
    store = get_runtime().informer(gvr).store
    return indexes_of(store).by_label.get(f"{WORKSPACE_LABEL}={workspace}")
