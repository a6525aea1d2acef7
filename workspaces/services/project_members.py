"""Members of a project. Kubernetes RBAC can decide all of these operations, so writes use the
user's identity.
"""

from django.utils.translation import gettext as _

from console.kube.errors import Conflict
from console.kube.gvr import ROLE_BINDINGS, Key
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.projections.roles import Binding
from console.kube.store import Entry
from console.ui.core.permissions import Refused
from workspaces.builtin_roles import PROJECT_RULES
from workspaces.manifests import project_member
from workspaces.services.actor import Actor, check_user_name, is_usable_user


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
        if not is_usable_user(user):
            raise Refused(_("User %(name)s does not exist or cannot be invited.") % {"name": user})
        if role not in PROJECT_RULES:
            raise Refused(_("The project has no role %(name)s.") % {"name": role})
        body = project_member(project, role, user)
        key = Key(project, body["metadata"]["name"])
        try:
            await actor.as_user("create", ROLE_BINDINGS, key, body)
        except Conflict:
            raise Refused(_("%(name)s already has this role.") % {"name": user}) from None
    for entry in bindings(project):
        binding = entry.projection
        if binding.subjects == (user,) == binding.users and binding.role != role:
            await actor.as_user("delete", ROLE_BINDINGS, entry.key, uid=binding.uid)
