"""Action that deletes a role without holders."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from access.roles.lookup import (
    ScopedRole,
    informer_of,
    is_allowed,
    list_url,
    role_of,
    visible_holders,
)
from access.roles.writing import UndoOffer, store_undo
from console.kube.cachewait import wait_for_cache
from console.kube.errors import NotFound
from console.kube.gvr import GVR, Key
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact
from console.ui.core.actions import ActionContext, ActionSucceeded, Delete, Outcome
from console.ui.core.clusters import HOST
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Refused
from console.ui.core.text import escape_invisible
from rbac.builtin import Origin
from rbac.holders import RoleHolder, holders
from rbac.levels import TYPES, Level, RoleScope

#: Maximum number of holders in the message.
MOST = 20


@dataclass(frozen=True, kw_only=True)
class DeleteRole(Delete):
    """Delete a role that has no holders. With holders, the remaining bindings would grant the
    permissions of the next role with the same name. On the host cluster, the deletion can be
    undone for some minutes.
    """

    level: Level
    effect_text = gettext_lazy("Roles that are assigned to users or groups are not deleted.")

    def applicable(self, entry: Entry[Any]) -> bool:
        return role_of(self.level, entry).origin is Origin.OWN

    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        role = entry.projection
        found: list[Fact] = [(_("Rules"), str(role.rules))]
        if role.workspace:
            found.append((_("Workspace"), escape_invisible(role.workspace)))
        return found

    def by_console(self, access: Access, gvr: GVR, key: Key) -> bool:
        """Allow the console to delete platform and workspace roles if a platform or workspace role
        permits it.
        """
        if access.cluster.name != HOST:
            return False
        entry = informer_of(gvr).store.get(key)
        place = role_of(self.level, entry).place if entry is not None else RoleScope(self.level)
        return all(is_allowed(access, verb, gvr, place, key.name) for verb in ("get", "delete"))

    async def check(self, access: Access, gvr: GVR, key: Key) -> None:
        role = self._found(access, gvr, key)
        if role.origin is not Origin.OWN:
            raise Refused(_("Only custom roles can be deleted."))
        held = list(holders(access.cluster.runtime, role.place, role.name))
        if not held:
            return
        seen: list[RoleHolder] = []
        if is_allowed(access, "list", TYPES[self.level].bindings, role.place):
            seen = list(visible_holders(access, role))
        names = list(dict.fromkeys(escape_invisible(one.name) for one in seen)) or [_("some users")]
        text = _(
            "This role is assigned to %(names)s. Remove all assignments before you delete the role."
        )
        raise Refused(text % {"names": ", ".join(names[:MOST])})

    async def run(self, context: ActionContext) -> Outcome:
        access, gvr, key = context.access, context.kind.gvr, context.key
        role = self._found(access, gvr, key)
        await context.client.delete(
            gvr,
            namespace=key.namespace,
            name=key.name,
            uid=context.uid,
            resource_version=role.entry.resource_version,
            audit_id=context.audit_id,
        )
        await wait_for_cache(access.cluster.runtime.informer(gvr), key, "")
        text = _("Deleted %(kind)s %(name)s.") % context.message_values
        if access.cluster.name != HOST:
            return ActionSucceeded(text)
        offer = UndoOffer(_("deleted role %(name)s") % {"name": role.name}, role.place, role.name)
        await store_undo(context.request, offer, gvr, role.entry.original(), None)
        return ActionSucceeded(text, list_url(role.place))

    def _found(self, access: Access, gvr: GVR, key: Key) -> ScopedRole:
        """Return the role. Raise `NotFound`."""
        entry = access.cluster.runtime.informer(gvr).store.get(key)
        if entry is None:
            raise NotFound(
                404, _("Role %(name)s not found.") % {"name": escape_invisible(key.name)}
            )
        return role_of(self.level, entry)
