"""Actions for volume expansion.

https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import STORAGE_CLASSES, Key
from console.kube.store import Entry
from console.ui.core.action_texts import Fact, kubectl_patch
from console.ui.core.actions import Action, ActionContext, Outcome, Patch, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.visible_type import VisibleType
from console.ui.forms.fields import SizeField
from console.ui.forms.forms import ConsoleForm


class ExpandForm(ConsoleForm):
    # kube-apiserver reports `spec` if the claim lost its volume, because then the whole spec is
    # immutable.
    error_fields: Mapping[str, str] = {"spec": "size"}

    def __init__(self, data: QueryDict | None, now: str) -> None:
        super().__init__(data, initial={"size": now})
        self.fields["size"] = SizeField(label=_("New size"), least=now, larger=True)


class Expand(Action):
    """Expand a dynamically provisioned volume whose class allows expansion, as kube-apiserver
    requires.
    """

    name = "expand"
    label = pgettext_lazy("action", "Expand")
    reads_also = (STORAGE_CLASSES,)
    effect_text = gettext_lazy(
        "You cannot undo this: a volume cannot be made smaller. The data on the volume is kept."
    )
    weight = 2
    needs = (Permission("patch"),)

    def applicable(self, entry: Entry[Any]) -> bool:
        claim = entry.projection
        return bool(claim.capacity and claim.storage_class) and claim.deleted is None

    def facts(self, kind: ResourceKind, entry: Entry[Any]) -> Sequence[Fact]:
        claim = entry.projection
        return [
            *super().facts(kind, entry),
            (_("Capacity"), escape_invisible(claim.capacity)),
            (_("Requested"), escape_invisible(claim.requested)),
            (_("Storage class"), escape_invisible(claim.storage_class)),
        ]

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl_patch(kind.gvr, key, _patch(data["size"]))

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        """Return the form. Raise `Refused` if the visible storage class shows that kube-apiserver
        would reject the request.
        """
        claim, seeing = subject.entry.projection, VisibleType(subject, STORAGE_CLASSES)
        key, words = Key("", claim.storage_class), {"name": escape_invisible(claim.storage_class)}
        if claim.storage_class and seeing.is_missing(key):
            raise Refused(_("Storage class %(name)s does not exist.") % words)
        found = seeing.get(key)
        if found is not None and not found.projection.expandable:
            raise Refused(_("Storage class %(name)s does not allow volume expansion.") % words)
        return ExpandForm(data, claim.requested)

    async def run(self, context: ActionContext) -> Outcome:
        size = context.data["size"]
        await context.patch(_patch(size))
        text = _("%(name)s is being expanded to %(size)s.")
        return context.started(text, size=escape_invisible(size))


class _Expansion(Patch):
    """Base of actions that change whether a storage class allows expansion."""

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.projection.expandable is not self.body["allowVolumeExpansion"]


class AllowExpansion(_Expansion):
    name = "allow-expansion"
    label = gettext_lazy("Allow expansion")
    title_text = gettext_lazy("Allow expansion of volumes of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "PersistentVolumeClaims of this storage class, including existing ones, can be "
        "expanded. The volume driver must support expansion."
    )
    body = {"allowVolumeExpansion": True}
    done_text = gettext_lazy("PersistentVolumeClaims of %(name)s can now be expanded.")


class ForbidExpansion(_Expansion):
    name = "forbid-expansion"
    label = gettext_lazy("Forbid expansion")
    title_text = gettext_lazy("Forbid expansion of volumes of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "PersistentVolumeClaims of this storage class can no longer be expanded. Existing "
        "volumes are not changed."
    )
    body = {"allowVolumeExpansion": False}
    done_text = gettext_lazy("PersistentVolumeClaims of %(name)s can no longer be expanded.")


def _patch(size: str) -> dict[str, Any]:
    return {"spec": {"resources": {"requests": {"storage": size}}}}
