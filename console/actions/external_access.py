"""Action to change how a service is reachable from outside its cluster."""

from collections.abc import Mapping
from typing import Any

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl_patch
from console.ui.core.actions import Action, ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.subject import Subject
from console.ui.forms.forms import ChoiceField, ConsoleForm

#: Types of services that have a cluster IP, with their labels.
TYPES: Mapping[str, str | Promise] = {
    "ClusterIP": gettext_lazy("None: cluster-internal only (ClusterIP)"),
    "NodePort": gettext_lazy("A port on every node (NodePort)"),
    "LoadBalancer": gettext_lazy("A load balancer of the cloud provider (LoadBalancer)"),
}


class ExternalAccessForm(ConsoleForm):
    error_fields: Mapping[str, str] = {"spec.type": "type"}

    def __init__(self, data: QueryDict | None, was: str) -> None:
        super().__init__(data, initial={"type": was})
        self.fields["type"] = ChoiceField(label=_("External access"), choices=list(TYPES.items()))

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        self.require_changes(given.get("type") != self.initial["type"])
        return given


class ExternalAccess(Action):
    name = "external-access"
    label = gettext_lazy("External access")
    title_text = gettext_lazy("External access to %(kind)s %(name)s")
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy(
        "Access from inside the cluster does not change. Node ports and load balancer "
        "addresses that are released may be different if you enable external access again."
    )
    needs = (Permission("patch"),)

    def applicable(self, entry: Entry[Any]) -> bool:
        service = entry.projection
        return service.type in TYPES and service.cluster_ip != "None"

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        return kubectl_patch(kind.gvr, key, _patch(data["type"]))

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        return ExternalAccessForm(data, subject.entry.projection.type)

    async def run(self, context: ActionContext) -> Outcome:
        await context.patch(_patch(context.data["type"]))
        return context.succeeded(_("Changed external access to %(kind)s %(name)s."))


def _patch(type_: str) -> dict[str, Any]:
    return {"spec": {"type": type_}}
