"""Wizards of autoscalers, disruption budgets, quotas, limit ranges and priority classes."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import (
    HORIZONTAL_POD_AUTOSCALERS,
    LIMIT_RANGES,
    POD_DISRUPTION_BUDGETS,
    PRIORITY_CLASSES,
    RESOURCE_QUOTAS,
)
from console.ui.wizard import fields
from console.ui.wizard.fields import (
    CPU_UNITS,
    MEMORY_UNITS,
    STORAGE_UNITS,
    Choice,
    Text,
    amount_of,
)
from console.ui.wizard.parts import Case, FormPart, Group, MapRows, Rows, Variant
from console.ui.wizard.paths import Path
from console.ui.wizard.state import FieldScope
from console.ui.wizard.wizard import Step
from console.wizards.metadata import short_wizard
from console.wizards.targets import SCALE_TARGET, pod_labels
from console.wizards.workloads import pods_or_percent

COUNT_UNITS: Mapping[str, Text] = {"": gettext_lazy("objects")}


def _at_least(name: str) -> fields.Check:
    """Return the check of a number against the number at `name` in the spec."""

    def check(value: Any, scope: FieldScope) -> Text:
        least = scope.get("spec", name)
        if not isinstance(least, int) or value >= least:
            return ""
        return _("Enter %(least)s or more.") % {"least": least}

    return check


def _resource(scope: FieldScope) -> str:
    return str(scope.get("resource", "name") or _("metric"))


_METRIC_RESOURCE = fields.Select(
    id="name",
    path=("resource", "name"),
    label=gettext_lazy("Resource"),
    choices=(
        Choice("cpu", gettext_lazy("CPU")),
        Choice("memory", gettext_lazy("Memory")),
    ),
)


def _target(kind: str) -> Any:
    return lambda scope: (
        scope.get("type") == "Resource" and scope.get("resource", "target", "type") == kind
    )


def _metric(id: str, label: Text, kind: str, field: fields.Field, value: Any) -> Case:
    target: Path = ("resource", "target")
    return Case(
        id=id,
        label=label,
        keys=((*target, field.id), (*target, "type")),
        when=_target(kind),
        start={"type": "Resource", (*target, "type"): kind, (*target, field.id): value},
        parts=(_METRIC_RESOURCE, field),
    )


_METRICS = Rows(
    id="metrics",
    path=("spec", "metrics"),
    title=gettext_lazy("Metrics"),
    add=gettext_lazy("Add metric"),
    is_item=True,
    new=lambda scope: {
        "type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
    },
    name=_resource,
    facts=lambda scope: str(
        scope.get("resource", "target", "averageValue")
        or f"{scope.get('resource', 'target', 'averageUtilization') or '?'}%"
    ),
    parts=(
        Variant(
            id="target",
            label=gettext_lazy("Target"),
            cases=(
                _metric(
                    "utilization",
                    gettext_lazy("Average utilization of the requests"),
                    "Utilization",
                    fields.NumberInput(
                        id="averageUtilization",
                        path=("resource", "target", "averageUtilization"),
                        label=gettext_lazy("Utilization"),
                        unit="%",
                        least=1,
                        most=10_000,
                        required=True,
                    ),
                    80,
                ),
                _metric(
                    "value",
                    gettext_lazy("Average usage of each pod"),
                    "AverageValue",
                    fields.QuantityInput(
                        id="averageValue",
                        path=("resource", "target", "averageValue"),
                        label=gettext_lazy("Usage"),
                        units={**CPU_UNITS, **MEMORY_UNITS},
                        required=True,
                    ),
                    "500m",
                ),
            ),
        ),
    ),
)

_LIMITS = (
    Group(
        title=gettext_lazy("Replicas"),
        pairs=True,
        parts=(
            fields.NumberInput(
                id="minReplicas",
                path=("spec", "minReplicas"),
                label=gettext_lazy("Minimum"),
                least=0,
                placeholder="1",
            ),
            fields.NumberInput(
                id="maxReplicas",
                path=("spec", "maxReplicas"),
                label=gettext_lazy("Maximum"),
                least=1,
                required=True,
                check=_at_least("minReplicas"),
            ),
        ),
    ),
    Group(
        title=gettext_lazy("Metrics"),
        hint=gettext_lazy("The metric that needs the most pods decides."),
        parts=(_METRICS,),
    ),
)

HORIZONTAL_POD_AUTOSCALER = short_wizard(
    HORIZONTAL_POD_AUTOSCALERS,
    "HorizontalPodAutoscaler",
    Group(parts=(SCALE_TARGET,)),
    *_LIMITS,
    sections=(Step(id="limits", title=gettext_lazy("Limits"), parts=_LIMITS),),
    start=lambda context: {
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment"},
            "minReplicas": 1,
            "maxReplicas": 3,
            "metrics": [_METRICS.new(None)],  # type: ignore[arg-type]
        }
    },
    implied=(("", ("spec", "scaleTargetRef", "apiVersion")),),
    facts=lambda scope: [
        (gettext_lazy("Workload"), str(scope.get("spec", "scaleTargetRef", "name") or "")),
        (
            gettext_lazy("Replicas"),
            f"{scope.get('spec', 'minReplicas') or 1} – {scope.get('spec', 'maxReplicas') or '?'}",
        ),
    ],
)


def _bound(key: str, label: Text, hint: Text) -> Case:
    return Case(
        id=key,
        label=label,
        hint=hint,
        keys=(key,),
        start={key: 1},
        parts=(pods_or_percent(key, (key,), gettext_lazy("Pods"), "1"),),
    )


POD_DISRUPTION_BUDGET = short_wizard(
    POD_DISRUPTION_BUDGETS,
    "PodDisruptionBudget",
    Group(parts=(pod_labels(("spec", "selector", "matchLabels"), required=True),)),
    Group(
        parts=(
            Variant(
                id="bound",
                path=("spec",),
                label=gettext_lazy("During drains and upgrades"),
                picks=True,
                beside=("selector", "unhealthyPodEvictionPolicy"),
                cases=(
                    _bound(
                        "maxUnavailable",
                        gettext_lazy("Limit unavailable pods"),
                        gettext_lazy("At most this many pods are missing"),
                    ),
                    _bound(
                        "minAvailable",
                        gettext_lazy("Keep pods available"),
                        gettext_lazy("At least this many pods stay ready"),
                    ),
                ),
            ),
        ),
    ),
    Group(
        parts=(
            fields.Select(
                id="unhealthyPodEvictionPolicy",
                path=("spec", "unhealthyPodEvictionPolicy"),
                label=gettext_lazy("Pods that aren't ready"),
                choices=(
                    Choice("", gettext_lazy("Evict if the budget allows it")),
                    Choice("AlwaysAllow", gettext_lazy("Always evict")),
                ),
                implied="IfHealthyBudget",
            ),
        )
    ),
    start=lambda context: {"spec": {"maxUnavailable": 1}},
    facts=lambda scope: [
        (gettext_lazy("Max unavailable"), str(scope.get("spec", "maxUnavailable") or "")),
        (gettext_lazy("Min available"), str(scope.get("spec", "minAvailable") or "")),
    ],
)


def _hard(key: str, label: Text, units: Mapping[str, Text]) -> fields.QuantityInput:
    return fields.QuantityInput(
        id=key.replace(".", "-"),
        path=("spec", "hard", key),
        label=label,
        units=units,
        placeholder=gettext_lazy("No limit"),
    )


_QUOTA_FIELDS: Sequence[tuple[Text, Sequence[fields.QuantityInput]]] = (
    (
        gettext_lazy("CPU and memory"),
        (
            _hard("requests.cpu", gettext_lazy("CPU requests"), {"": gettext_lazy("cores")}),
            _hard("limits.cpu", gettext_lazy("CPU limits"), {"": gettext_lazy("cores")}),
            _hard("requests.memory", gettext_lazy("Memory requests"), STORAGE_UNITS),
            _hard("limits.memory", gettext_lazy("Memory limits"), STORAGE_UNITS),
        ),
    ),
    (
        gettext_lazy("Storage"),
        (
            _hard("requests.storage", gettext_lazy("Storage"), STORAGE_UNITS),
            _hard("persistentvolumeclaims", gettext_lazy("Volume claims"), COUNT_UNITS),
        ),
    ),
    (
        gettext_lazy("Number of objects"),
        (
            _hard("pods", gettext_lazy("Pods"), COUNT_UNITS),
            _hard("services", gettext_lazy("Services"), COUNT_UNITS),
            _hard("configmaps", gettext_lazy("ConfigMaps"), COUNT_UNITS),
            _hard("secrets", gettext_lazy("Secrets"), COUNT_UNITS),
        ),
    ),
)
_OTHER_LIMITS = MapRows(
    id="hard",
    path=("spec", "hard"),
    title=gettext_lazy("Other resources"),
    add=gettext_lazy("Add resource"),
    of="pair",
    name=lambda scope: str(scope.get("key") or _("resource")),
    parts=(
        fields.RowKey(
            label=gettext_lazy("Resource"),
            code=True,
            apart=tuple(str(one.path[-1]) for _title, held in _QUOTA_FIELDS for one in held),
            suggest=lambda scope: (
                "requests.nvidia.com/gpu",
                "requests.ephemeral-storage",
                "limits.ephemeral-storage",
                "services.loadbalancers",
                "services.nodeports",
                "count/deployments.apps",
                "count/jobs.batch",
                "count/ingresses.networking.k8s.io",
            ),
        ),
        fields.QuantityInput(
            id="value",
            label=gettext_lazy("Limit"),
            units={"": "", "Gi": "Gi", "Mi": "Mi"},
            required=True,
        ),
    ),
)

RESOURCE_QUOTA = short_wizard(
    RESOURCE_QUOTAS,
    "ResourceQuota",
    *(Group(title=title, pairs=True, parts=held) for title, held in _QUOTA_FIELDS),
    Group(parts=(_OTHER_LIMITS,)),
    facts=lambda scope: [
        (str(key), str(value))
        for key, value in (scope.get("spec", "hard") or {}).items()
        if isinstance(scope.get("spec", "hard"), dict)
    ],
)

_RESOURCES: Sequence[tuple[str, Text, Mapping[str, Text]]] = (
    ("cpu", gettext_lazy("CPU"), CPU_UNITS),
    ("memory", gettext_lazy("Memory"), MEMORY_UNITS),
)
_BOUNDS: Sequence[tuple[str, Text]] = (
    ("min", gettext_lazy("Minimum")),
    ("max", gettext_lazy("Maximum")),
)
_DEFAULTS: Sequence[tuple[str, Text]] = (
    ("defaultRequest", gettext_lazy("Default request")),
    ("default", gettext_lazy("Default limit")),
)


def _not_below(key: str, resource: str) -> fields.Check:
    def check(value: Any, scope: FieldScope) -> Text:
        least, found = amount_of(scope.get(key, resource)), amount_of(value)
        if least is None or found is None or found >= least:
            return ""
        return _("Enter %(least)s or more.") % {"least": scope.get(key, resource)}

    return check


def _limits(
    resources: Sequence[tuple[str, Text, Mapping[str, Text]]], bounds: Sequence[tuple[str, Text]]
) -> Sequence[FormPart]:
    below = {"max": "min", "default": "defaultRequest"}
    return tuple(
        Group(
            title=title,
            pairs=True,
            parts=tuple(
                fields.QuantityInput(
                    id=f"{key}-{resource}",
                    path=(key, resource),
                    label=label,
                    units=units,
                    placeholder=gettext_lazy("None"),
                    check=_not_below(below[key], resource) if key in below else None,
                )
                for key, label in bounds
            ),
        )
        for resource, title, units in resources
    )


def _of_type(kind: str, label: Text, hint: Text, parts: Sequence[FormPart]) -> Case:
    return Case(
        id=kind,
        label=label,
        hint=hint,
        keys=("type",),
        when=lambda scope: scope.get("type") == kind,
        start={"type": kind},
        parts=parts,
    )


LIMIT_RANGE = short_wizard(
    LIMIT_RANGES,
    "LimitRange",
    Group(
        parts=(
            Rows(
                id="limits",
                path=("spec", "limits"),
                title=gettext_lazy("Limits"),
                add=gettext_lazy("Add limits"),
                is_item=True,
                least=1,
                new=lambda scope: {"type": "Container"},
                name=lambda scope: str(scope.get("type") or _("Limits")),
                parts=(
                    Variant(
                        id="type",
                        label=gettext_lazy("Applies to"),
                        picks=True,
                        cases=(
                            _of_type(
                                "Container",
                                gettext_lazy("Containers"),
                                gettext_lazy("Also sets defaults"),
                                _limits(_RESOURCES, (*_DEFAULTS, *_BOUNDS)),
                            ),
                            _of_type(
                                "Pod",
                                gettext_lazy("Pods"),
                                gettext_lazy("Sum of its containers"),
                                _limits(_RESOURCES, _BOUNDS),
                            ),
                            _of_type(
                                "PersistentVolumeClaim",
                                gettext_lazy("Volume claims"),
                                gettext_lazy("Requested size"),
                                _limits(
                                    (("storage", gettext_lazy("Storage"), STORAGE_UNITS),), _BOUNDS
                                ),
                            ),
                        ),
                    ),
                ),
            ),
        )
    ),
    start=lambda context: {"spec": {"limits": [{"type": "Container"}]}},
    facts=lambda scope: [
        (
            gettext_lazy("Applies to"),
            ", ".join(str(one.get("type", "")) for one in scope.mappings("spec", "limits")),
        )
    ],
)

PRIORITY_CLASS = short_wizard(
    PRIORITY_CLASSES,
    "PriorityClass",
    Group(
        shown_if=lambda scope: scope.state.context.is_new,
        parts=(
            fields.NumberInput(
                id="value",
                label=gettext_lazy("Priority"),
                hint=gettext_lazy("Pods with a higher number are scheduled first."),
                least=-(2**31),
                most=1_000_000_000,
                required=True,
            ),
            fields.Select(
                id="preemptionPolicy",
                label=gettext_lazy("If no node has room"),
                choices=(
                    Choice("", gettext_lazy("Evict pods of lower priority")),
                    Choice("Never", gettext_lazy("Wait")),
                ),
                implied="PreemptLowerPriority",
            ),
        ),
    ),
    Group(
        parts=(
            fields.CheckBox(
                id="globalDefault",
                label=gettext_lazy("Use for pods without a priority class"),
                hint=gettext_lazy("Only one class of a cluster can be the default."),
            ),
            fields.TextInput(
                id="usage",
                path=("description",),
                label=gettext_lazy("When to use this class"),
                is_marked=True,
            ),
        )
    ),
    namespaced=False,
    start=lambda context: {"value": 1000},
    facts=lambda scope: [(gettext_lazy("Priority"), str(scope.get("value") or 0))],
)
