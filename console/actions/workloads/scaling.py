"""The action that sets the number of replicas of a workload."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.actions.workloads.autoscaling import MOST
from console.actions.workloads.base import WorkloadAction
from console.kube.gvr import HORIZONTAL_POD_AUTOSCALERS, Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.actions import EVERYWHERE, ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.autoscalers import autoscalers
from console.ui.forms.forms import ConsoleForm, NumberField


class ReplicasForm(ConsoleForm):
    error_fields: Mapping[str, str] = {"spec.replicas": "replicas"}
    replicas = NumberField(label=gettext_lazy("Replicas"), least=0, most=MOST)


class Scale(WorkloadAction):
    name = "scale"
    label = pgettext_lazy("action", "Scale")
    reads_also = (HORIZONTAL_POD_AUTOSCALERS,)
    effect_text = gettext_lazy("Pods are added or deleted to reach this number of replicas.")
    weight = 2
    needs = (Permission("patch", "scale"),)
    form = bulk_form = ReplicasForm
    places = EVERYWHERE

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        words = f"scale {kind.gvr.qualified} {quoted(key.name)}"
        return kubectl(f"{words} --replicas={data['replicas']}", key)

    def notes(self, subject: Subject) -> Sequence[str | Promise]:
        text = _(
            "The HorizontalPodAutoscaler %(name)s sets the number of replicas (%(least)s to "
            "%(most)s) and may change the number again."
        )
        return [
            text % {"name": escape_invisible(one.name), "least": one.least, "most": one.most}
            for one in (entry.projection for entry in autoscalers(subject))
        ]

    def initial(self, entry: Entry[Any]) -> Mapping[str, Any]:
        return {"replicas": entry.projection.desired}

    async def run(self, context: ActionContext) -> Outcome:
        replicas = context.data["replicas"]
        await context.patch({"spec": {"replicas": replicas}}, "scale")
        text = _("Scaled %(kind)s %(name)s to %(replicas)s.")
        return context.started(text, replicas=f"{replicas:,}")
