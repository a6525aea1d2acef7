"""Whether new pods may come to a node."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.actions import EVERYWHERE, Action, Context, Done, Outcome, Permission
from console.ui.kind import ResourceKind
from console.ui.kubectl import kubectl, quoted


class _Schedulable(Action):
    needs = (Permission("patch"),)
    places = EVERYWHERE

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"{self.name} {quoted(key.name)}", key)


class Cordon(_Schedulable):
    name = "cordon"
    label = pgettext_lazy("action", "Cordon")
    weight = 3
    done_word = pgettext_lazy("result", "Cordoned")
    refused_word = gettext_lazy("Not cordoned")

    def applicable(self, entry: Entry[Any]) -> bool:
        return not entry.projection.cordoned

    def effect(self, kind: ResourceKind) -> str | Promise:
        return _(
            "No new pods are placed on it, except those of DaemonSets. Those that are there stay."
        )

    async def run(self, context: Context) -> Outcome:
        await context.patch({"spec": {"unschedulable": True}})
        return Done(_("Cordoned %(kind)s %(name)s.") % context.words)


class Uncordon(_Schedulable):
    name = "uncordon"
    label = pgettext_lazy("action", "Uncordon")
    weight = 3
    done_word = pgettext_lazy("result", "Uncordoned")
    refused_word = gettext_lazy("Not uncordoned")

    def applicable(self, entry: Entry[Any]) -> bool:
        return bool(entry.projection.cordoned)

    def effect(self, kind: ResourceKind) -> str | Promise:
        return _("New pods may be placed on it again. Those that moved away stay where they are.")

    async def run(self, context: Context) -> Outcome:
        await context.patch({"spec": {"unschedulable": None}})
        return Done(_("Uncordoned %(kind)s %(name)s.") % context.words)
