"""The action that creates or edits the autoscaler of a workload."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.actions.creation import check_loaded, create_object
from console.actions.workloads.base import WorkloadAction
from console.kube.errors import ObjectRecreated
from console.kube.gvr import HORIZONTAL_POD_AUTOSCALERS, Key
from console.kube.store import Entry
from console.ui.core.action_texts import kubectl, kubectl_create, kubectl_patch, quoted
from console.ui.core.actions import ActionContext, Outcome, Permission
from console.ui.core.kind import ResourceKind, segment_of
from console.ui.core.links import object_url
from console.ui.core.manifests import mapping, mappings_at
from console.ui.core.permissions import Refused
from console.ui.core.subject import Subject
from console.ui.core.text import escape_invisible
from console.ui.details.relations.autoscalers import autoscalers
from console.ui.forms.forms import ConsoleForm, NumberField

#: Kubernetes stores these numbers as int32.
MOST = 2**31 - 1
#: Resources whose utilization can be a target, as a percentage of the requests.
RESOURCES = ("cpu", "memory")


def _utilization(metric: Any) -> tuple[str, int] | None:
    """Return the resource and percentage of a metric, or None if this form can't edit the metric."""
    name = mapping(metric, "resource").get("name")
    target = mapping(metric, "resource", "target")
    percent = target.get("averageUtilization")
    same = metric.get("type") == "Resource" and target.get("type") == "Utilization"
    return (name, percent) if same and name in RESOURCES and isinstance(percent, int) else None


def _metrics(found: Sequence[Any], wanted: Mapping[str, int | None]) -> list[Any]:
    """Return the metrics with the wanted percentages. Metrics that this form can't edit are kept
    unchanged.
    """
    others = [metric for metric in found if _utilization(metric) is None]
    shares = [
        {
            "type": "Resource",
            "resource": {
                "name": name,
                "target": {"type": "Utilization", "averageUtilization": percent},
            },
        }
        for name, percent in wanted.items()
        if percent
    ]
    return [*shares, *others]


class AutoscalerForm(ConsoleForm):
    """Form for the autoscaler. `autoscaler` is the UID of the displayed one, or "" without one."""

    error_fields: Mapping[str, str] = {
        "spec.minReplicas": "least",
        "spec.maxReplicas": "most",
        "spec.metrics": "cpu",
    }
    autoscaler = forms.CharField(required=False, widget=forms.HiddenInput)
    least = NumberField(label=gettext_lazy("Minimum"), least=1, most=MOST)
    most = NumberField(label=gettext_lazy("Maximum"), least=1, most=MOST)
    cpu = NumberField(
        label=gettext_lazy("Target CPU usage, in percent of the CPU request"),
        least=1,
        most=MOST,
        required=False,
    )
    memory = NumberField(
        label=gettext_lazy("Target memory usage, in percent of the memory request"),
        help_text=gettext_lazy(
            "Pods are added while their average usage is above the target, and removed while it "
            "is below the target."
        ),
        least=1,
        most=MOST,
        required=False,
    )

    def __init__(self, data: QueryDict | None, *, replicas: int, entry: Entry[Any] | None) -> None:
        self._there = entry
        self._spec = mapping(entry.original(), "spec") if entry is not None else {}
        shares = dict(filter(None, map(_utilization, self._found)))
        begins = {
            "autoscaler": entry.projection.uid if entry is not None else "",
            "least": self._spec.get("minReplicas", 1) if entry is not None else max(replicas, 1),
            "most": self._spec.get("maxReplicas", max(replicas, 1) * 2),
            "cpu": shares.get("cpu") if entry is not None else 80,
            "memory": shares.get("memory"),
        }
        super().__init__(data, initial=begins)

    @property
    def _found(self) -> list[Any]:
        return mappings_at(self._spec, "metrics")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if self.errors:
            return given
        if given["autoscaler"] != self.initial["autoscaler"]:
            raise ValidationError(
                _(
                    "The autoscaler has changed since this page was loaded. Reload the page and try "
                    "again."
                )
            )
        if given["most"] < given["least"]:
            self.add_error("most", _("The maximum must not be less than the minimum."))
        shares = {name: given[name] for name in RESOURCES}
        metrics = _metrics(self._found, shares)
        if not metrics:
            self.add_error("cpu", _("Enter a target for CPU, memory, or both."))
        name = self._there.key.name if self._there is not None else ""
        return {**given, "name": name, "shares": shares, "metrics": metrics}


class Autoscale(WorkloadAction):
    name = "autoscale"
    label = pgettext_lazy("action", "Autoscale")
    reads_also = (HORIZONTAL_POD_AUTOSCALERS,)
    button_text = gettext_lazy("Save")
    effect_text = gettext_lazy(
        "A HorizontalPodAutoscaler will set the number of pods based on their resource "
        "usage. Autoscaling requires metrics-server, and the pods must have requests for the "
        "measured resources."
    )
    # List permission is required to detect an existing autoscaler: two autoscalers of the same
    # workload would work against each other.
    needs = (
        *(
            Permission(verb, gvr=HORIZONTAL_POD_AUTOSCALERS)
            for verb in ("create", "get", "list", "patch")
        ),
        Permission("get"),
    )

    def command(self, kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> str:
        if "metrics" not in data:
            words = f"autoscale {kind.gvr.qualified} {quoted(key.name)}"
            share = f" --cpu-percent={data['cpu']}" if data["cpu"] else ""
            return kubectl(f"{words} --min={data['least']} --max={data['most']}{share}", key)
        if not data["name"]:
            return kubectl_create(_body(kind, key, data), key)
        scaler = Key(key.namespace, data["name"])
        return kubectl_patch(HORIZONTAL_POD_AUTOSCALERS, scaler, _patch(data))

    def make_form(self, subject: Subject, data: QueryDict | None) -> ConsoleForm | None:
        """Return the form. Raise `Refused` if autoscalers are not loaded or several scale the
        workload.
        """
        check_loaded(subject, HORIZONTAL_POD_AUTOSCALERS)
        found = autoscalers(subject)
        if len(found) > 1:
            names = ", ".join(escape_invisible(one.key.name) for one in found)
            raise Refused(
                _("Several autoscalers scale this workload: %(names)s. Delete all but one.")
                % {"names": names}
            )
        desired = subject.entry.projection.desired
        return AutoscalerForm(data, replicas=desired, entry=found[0] if found else None)

    async def run(self, context: ActionContext) -> Outcome:
        # Checks the UID, because an autoscaler refers to the workload only by name.
        await context.fetch()
        data = context.data
        if not data["name"]:
            body = _body(context.kind, context.key, data)
            text = _("Enabled autoscaling for %(kind)s %(name)s.") % context.message_values
            return await create_object(context, HORIZONTAL_POD_AUTOSCALERS, body, text)
        key = Key(context.key.namespace, data["name"])
        await context.patch_other(HORIZONTAL_POD_AUTOSCALERS, key, partial(_changed, data))
        segment = segment_of(HORIZONTAL_POD_AUTOSCALERS)
        url = object_url(context.access.cluster.name, segment, key)
        name = escape_invisible(key.name)
        return context.succeeded(_("Changed autoscaler %(name)s."), url, name=name)


def _changed(data: Mapping[str, Any], found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the patch for the displayed autoscaler. Raise `ObjectRecreated` if it was replaced."""
    uid = found["metadata"].get("uid")
    if uid != data["autoscaler"]:
        raise ObjectRecreated
    metrics = _metrics(mappings_at(found, "spec", "metrics"), data["shares"])
    return {"metadata": {"uid": uid}, **_patch({**data, "metrics": metrics})}


def _body(kind: ResourceKind, key: Key, data: Mapping[str, Any]) -> dict[str, Any]:
    target = {"apiVersion": kind.gvr.group_version, "kind": kind.api_kind, "name": key.name}
    return {
        "apiVersion": HORIZONTAL_POD_AUTOSCALERS.group_version,
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": key.name},
        "spec": {"scaleTargetRef": target, **_patch(data)["spec"]},
    }


def _patch(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "spec": {
            "minReplicas": data["least"],
            "maxReplicas": data["most"],
            "metrics": data["metrics"],
        }
    }
