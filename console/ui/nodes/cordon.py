"""Cordon and uncordon nodes."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.actions import EVERYWHERE, Patch
from console.ui.kind import ResourceKind
from console.ui.kubectl import kubectl, quoted


class _Schedulable(Patch):
    weight = 3
    places = EVERYWHERE

    def applicable(self, entry: Entry[Any]) -> bool:
        return entry.projection.cordoned is not bool(self.body["spec"]["unschedulable"])

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl(f"{self.name} {quoted(key.name)}", key)


class Cordon(_Schedulable):
    name = "cordon"
    label = pgettext_lazy("action", "Cordon")
    effect_text = gettext_lazy(
        "No new pods are scheduled on the node, except pods of DaemonSets. Pods that already "
        "run on the node are not affected."
    )
    success_label = pgettext_lazy("result", "Cordoned")
    failure_label = gettext_lazy("Not cordoned")
    body = {"spec": {"unschedulable": True}}
    done_text = gettext_lazy("Cordoned %(kind)s %(name)s.")


class Uncordon(_Schedulable):
    name = "uncordon"
    label = pgettext_lazy("action", "Uncordon")
    effect_text = gettext_lazy(
        "New pods can be scheduled on the node again. Pods that moved to other nodes are not "
        "moved back."
    )
    success_label = pgettext_lazy("result", "Uncordoned")
    failure_label = gettext_lazy("Not uncordoned")
    body = {"spec": {"unschedulable": None}}
    done_text = gettext_lazy("Uncordoned %(kind)s %(name)s.")
