"""Actions that cordon and uncordon nodes and edit their taints."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import EVERYWHERE, EditSection, Patch
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mappings_at
from console.ui.core.subject import Subject


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


class EditTaints(EditSection):
    name = "taints"
    label = gettext_lazy("Edit taints")
    title_text = gettext_lazy("Edit the taints of %(kind)s %(name)s")
    effect_text = gettext_lazy(
        "New pods without a matching toleration are not scheduled on the node. A taint with "
        "the effect NoExecute also evicts running pods without a matching toleration "
        "immediately."
    )

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        return ()

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        before, after = (_taints(data.get(state, {})) for state in ("before", "after"))
        changed = [text for one, text in after.items() if before.get(one) != text]
        gone = [f"{one}-" for one in before if one not in after]
        words = " ".join(map(quoted, (*changed, *gone)))
        if not words:
            return ""
        return kubectl(f"taint nodes {quoted(key.name)} {words} --overwrite", key)


def _taints(node: Mapping[str, Any]) -> dict[str, str]:
    """Return the taints of a node in kubectl syntax, by key and effect."""
    found = {}
    for one in mappings_at(node, "spec", "taints"):
        key, effect, value = one.get("key"), one.get("effect"), one.get("value")
        found[f"{key}:{effect}"] = f"{key}={value}:{effect}" if value else f"{key}:{effect}"
    return found
