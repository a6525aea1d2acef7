"""Action to change how a service is reachable from outside its cluster."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.actions import Action, Context, Done, Outcome, Permission
from console.ui.forms import ChoiceField, ConsoleForm
from console.ui.kind import ResourceKind
from console.ui.kubectl import kubectl_patch
from console.ui.subject import Subject

#: Types of services that have a cluster IP, with their labels.
TYPES: Mapping[str, str | Promise] = {
    "ClusterIP": gettext_lazy("None: only inside the cluster (ClusterIP)"),
    "NodePort": gettext_lazy("A port of every node (NodePort)"),
    "LoadBalancer": gettext_lazy("A load balancer of the provider's (LoadBalancer)"),
}


class ExternalAccessForm(ConsoleForm):
    causes: Mapping[str, str] = {"spec.type": "type"}

    def __init__(self, data: QueryDict | None, was: str) -> None:
        super().__init__(data, initial={"type": was})
        self.fields["type"] = ChoiceField(label=_("From outside"), choices=list(TYPES.items()))

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("type") == self.initial["type"]:
            raise ValidationError(_("Nothing was changed."))
        return given


class ExternalAccess(Action):
    name = "external-access"
    label = gettext_lazy("External access")
    title_text = gettext_lazy("External access of %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy(
        "Inside the cluster nothing changes. Ports of nodes and addresses of load balancers that it "
        "gives up may be others the next time."
    )
    needs = (Permission("patch"),)

    def applicable(self, entry: Entry[Any]) -> bool:
        service = entry.projection
        return service.type in TYPES and service.cluster_ip != "None"

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl_patch(kind.gvr, key, _patch(data["type"]))

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return ExternalAccessForm(data, subject.entry.projection.type)

    async def run(self, context: Context) -> Outcome:
        await context.patch(_patch(context.data["type"]))
        return Done(_("Changed external access of %(kind)s %(name)s.") % context.words)


def _patch(type_: str) -> dict[str, Any]:
    return {"spec": {"type": type_}}
