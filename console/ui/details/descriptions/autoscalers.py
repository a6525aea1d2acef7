"""Description of HorizontalPodAutoscalers.

https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#configurable-scaling-behavior
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.ui.core.amounts import seconds_text
from console.ui.core.manifests import mapping, mappings_at, number, text
from console.ui.details.descriptions.network import reference_text
from console.ui.details.descriptions.selectors import selector_of
from console.ui.details.panels.description import DescriptionTable, Facts, Section

#: Current and target values, in the order in which Kubernetes prefers them.
_VALUES = ("averageUtilization", "averageValue", "value")


def autoscaler(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    metrics, current = (
        mappings_at(spec, "metrics"),
        mappings_at(manifest, "status", "currentMetrics"),
    )
    rows = (
        _metric(metric, current[at] if at < len(current) else {})
        for at, metric in enumerate(metrics)
    )
    columns = (_("Metric"), _("Of"), _("Current"), _("Target"))
    yield DescriptionTable(columns, rows, len(metrics), _("Metrics"))
    behavior = mapping(spec, "behavior")
    for field, title in (("scaleUp", _("Scaling up")), ("scaleDown", _("Scaling down"))):
        yield _behavior(mapping(behavior, field), title)


def _metric(metric: Mapping[str, Any], current: Mapping[str, Any]) -> tuple[str, str, str, str]:
    field = text(metric.get("type"))[:1].lower() + text(metric.get("type"))[1:]
    found = mapping(metric, field)
    named = mapping(found, "metric")
    name = text(found.get("name")) or text(named.get("name"))
    selector = selector_of(mapping(named, "selector")) if mapping(named, "selector") else ""
    target = mapping(found, "target")
    same = current.get("type") == metric.get("type")
    return (
        f"{name} ({selector})" if selector else name,
        _measured(field, found),
        _amount(mapping(current, field, "current"), target) if same else "",
        _amount(target, target),
    )


def _measured(field: str, found: Mapping[str, Any]) -> str:
    match field:
        case "containerResource":
            return _("container %(name)s of the pods") % {"name": text(found.get("container"))}
        case "object":
            return reference_text(mapping(found, "describedObject"))
        case "external":
            return _("outside the cluster")
        case _:
            return _("the pods")


def _amount(value: Mapping[str, Any], target: Mapping[str, Any]) -> str:
    """Return a value in the unit of the target. A utilization is followed by the average value."""
    found = [
        f"{text(value[field])}%" if field == "averageUtilization" else text(value[field])
        for field in _VALUES
        if field in value and (field in target or field == "averageValue")
    ]
    return f"{found[0]} ({', '.join(found[1:])})" if len(found) > 1 else "".join(found)


def _behavior(rules: Mapping[str, Any], title: str) -> Section:
    seconds = number(rules.get("stabilizationWindowSeconds"))
    return Facts(
        (_("Stabilization window"), "" if seconds is None else seconds_text(seconds)),
        (_("Policies"), [_policy(one) for one in mappings_at(rules, "policies")]),
        (_("Selected policy"), text(rules.get("selectPolicy"))),
        (_("Tolerance"), text(rules.get("tolerance"))),
        title=title,
    )


def _policy(policy: Mapping[str, Any]) -> str:
    value, seconds = number(policy.get("value")) or 0, number(policy.get("periodSeconds")) or 0
    time = seconds_text(seconds)
    if policy.get("type") == "Percent":
        return _("%(value)s %% of the pods in %(time)s") % {"value": value, "time": time}
    words = ngettext("%(n)s pod in %(time)s", "%(n)s pods in %(time)s", value)
    return words % {"n": value, "time": time}
