"""Members of a project. Kubernetes RBAC can decide all of these operations, so writes use the
user's identity.
"""

from django.utils.translation import gettext as _

from console.audit.trail import record, request_action
from console.kube.errors import Conflict
from console.kube.gvr import ROLE_BINDINGS, USERS, Key
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.projections.roles import Binding
from console.kube.store import Entry
from console.ui.core.permissions import Refused
from rbac.authorizer import is_usable
from workspaces.builtin_roles import PROJECT_RULES
from workspaces.manifests import project_member
from workspaces.services.actor import Actor, check_user_name


def bindings(project: str) -> list[Entry[Binding]]:
    """Return the bindings of the project's own roles."""
    store = get_runtime().informer(ROLE_BINDINGS).store
    found = indexes_of(store).by_namespace.get(project)
    return sorted(
        (entry for entry in found if entry.projection.role_kind == "Role"),
        key=lambda entry: entry.key,
    )


async def set_role(actor: Actor, project: str, user: str, role: str) -> None:
    """Set a user's role in the project and remove the user's other project roles. If `role` is "",
    all are removed.
    """
    check_user_name(user)
    if role:
        entry = get_runtime().informer(USERS).store.get(Key("", user))
        if entry is None or not is_usable(entry.projection):
            raise Refused(_("User %(name)s does not exist or cannot be invited.") % {"name": user})
        if role not in PROJECT_RULES:
            raise Refused(_("The project has no role %(name)s.") % {"name": role})
        await _bind(actor, project, user, role)
    for entry in bindings(project):
        binding = entry.projection
        if binding.subjects == (user,) == binding.users and binding.role != role:
            await _unbind(actor, project, entry)


async def _bind(actor: Actor, project: str, user: str, role: str) -> None:
    body = project_member(project, role, user)
    name = body["metadata"]["name"]
    action = request_action(actor.request, "create", ROLE_BINDINGS, namespace=project, name=name)
    async with record(action) as recording:
        client = get_runtime().as_user(actor.access.identity)
        try:
            await client.create(ROLE_BINDINGS, body, namespace=project, audit_id=recording.audit_id)
        except Conflict:
            raise Refused(_("%(name)s already has this role.") % {"name": user}) from None


async def _unbind(actor: Actor, project: str, entry: Entry[Binding]) -> None:
    name = entry.key.name
    action = request_action(actor.request, "delete", ROLE_BINDINGS, namespace=project, name=name)
    async with record(action) as recording:
        client = get_runtime().as_user(actor.access.identity)
        await client.delete(
            ROLE_BINDINGS,
            namespace=project,
            name=name,
            uid=entry.projection.uid,
            audit_id=recording.audit_id,
        )
