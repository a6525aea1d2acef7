"""Descriptions of ResourceQuotas, LimitRanges and PodDisruptionBudgets."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from console.kube.quantity import parse_quantity
from console.ui.core.manifests import mapping, mappings_at, text, texts
from console.ui.details.panels.description import (
    MOST_ITEMS,
    DescriptionTable,
    Facts,
    Section,
    Sentences,
)
from console.ui.details.relations.rollout import Bar

#: https://kubernetes.io/docs/concepts/policy/resource-quotas/#quota-scopes
_SCOPES: dict[str, str | Promise] = {
    "Terminating": gettext_lazy("pods with an active deadline (Terminating)"),
    "NotTerminating": gettext_lazy("pods without an active deadline (NotTerminating)"),
    "BestEffort": gettext_lazy("pods without requests and limits (BestEffort)"),
    "NotBestEffort": gettext_lazy("pods with requests or limits (NotBestEffort)"),
    "CrossNamespacePodAffinity": gettext_lazy(
        "pods with affinity terms that refer to other namespaces (CrossNamespacePodAffinity)"
    ),
}
#: Counted objects of a scope with values, and the field that has the values.
_SCOPE_FIELDS: dict[str, tuple[str | Promise, str | Promise]] = {
    "PriorityClass": (pgettext_lazy("quota", "pods"), gettext_lazy("priority class")),
    "VolumeAttributesClass": (
        pgettext_lazy("quota", "claims"),
        gettext_lazy("volume attributes class"),
    ),
}
_OPERATORS: dict[str, str | Promise] = {
    "In": gettext_lazy("%(objects)s whose %(field)s is one of: %(values)s"),
    "NotIn": gettext_lazy("%(objects)s whose %(field)s is none of: %(values)s"),
    "Exists": gettext_lazy("%(objects)s that have a %(field)s"),
    "DoesNotExist": gettext_lazy("%(objects)s that have no %(field)s"),
}


class Bars:
    """Bars of the shares of limits."""

    template = "ui/panels/descriptions/bars.html"

    def __init__(self, bars: list[Bar], total: int, title: str | Promise = "") -> None:
        self.title, self.bars, self.more = title, bars, total - len(bars)

    def __bool__(self) -> bool:
        return bool(self.bars)


def resource_quota(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec, status = mapping(manifest, "spec"), mapping(manifest, "status")
    scopes = [_scope(text(name), {}) for name in texts(spec.get("scopes"))]
    scopes += [
        _scope(text(one.get("scopeName")), one)
        for one in mappings_at(spec, "scopeSelector", "matchExpressions")
    ]
    # Scopes are often set in both fields.
    scopes = list(dict.fromkeys(scopes))
    if len(scopes) == 1:
        yield Sentences([_("Counts only %(objects)s.") % {"objects": scopes[0]}])
    elif scopes:
        yield Sentences(scopes, _("Counts only objects that match all of these scopes:"))
    hard, used = mapping(status, "hard"), mapping(status, "used")
    if not hard:
        limits = mapping(spec, "hard")
        facts = [(text(name), text(amount)) for name, amount in sorted(limits.items())]
        yield Facts(*facts, title=_("Limits (usage not counted yet)"), literal=True)
        return
    names = sorted(hard)
    bars = [_bar(name, used.get(name, "0"), hard[name]) for name in names[:MOST_ITEMS]]
    yield Bars(bars, len(names), _("Usage"))


def _scope(name: str, expression: Mapping[str, Any]) -> str:
    """Return the objects that a scope selects."""
    operator = text(expression.get("operator"))
    counted = _SCOPE_FIELDS.get(name)
    if counted is None or operator not in _OPERATORS:
        # Other scopes support only the operator Exists.
        return str(_SCOPES.get(name, name))
    values = ", ".join(texts(expression.get("values")))
    words = {"objects": counted[0], "field": counted[1], "values": values}
    return _OPERATORS[operator] % words


def _bar(name: str, used: Any, hard: Any) -> Bar:
    amount, limit = parse_quantity(text(used)), parse_quantity(text(hard))
    if amount is None or limit is None or limit < 0:
        return Bar(text(name), f"{text(used)} / {text(hard)}", "", None)
    # Usage above a limit of 0 counts as full.
    full = Decimal(100 if amount > 0 else 0)
    share = int(min(amount * 100 / limit, Decimal(999)) if limit else full)
    level = "error" if share >= 100 else "warn" if share > 90 else "ok"
    return Bar(text(name), text(used), text(hard), share, level)


_AMOUNTS = ("min", "max", "defaultRequest", "default", "maxLimitRequestRatio")


def limit_range(manifest: Mapping[str, Any]) -> Iterator[Section]:
    limits = [
        (text(limit.get("type")), {field: mapping(limit, field) for field in _AMOUNTS})
        for limit in mappings_at(manifest, "spec", "limits")
    ]
    found = [
        (kind, name, *(text(amounts[field].get(name)) for field in _AMOUNTS))
        for kind, amounts in limits
        for name in sorted({name for values in amounts.values() for name in values})
    ]
    columns = (
        _("Type"),
        _("Resource"),
        _("Minimum"),
        _("Maximum"),
        _("Default request"),
        _("Default limit"),
        _("Maximum ratio of limit to request"),
    )
    yield DescriptionTable(
        columns, ([kind, text(name), *rest] for kind, name, *rest in found), len(found)
    )


#: https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy
_UNHEALTHY: dict[str, str | Promise] = {
    "IfHealthyBudget": gettext_lazy(
        "Can be evicted only if enough other pods are healthy (IfHealthyBudget)."
    ),
    "AlwaysAllow": gettext_lazy("Can always be evicted (AlwaysAllow)."),
}


def disruption_budget(manifest: Mapping[str, Any]) -> Iterator[Section]:
    policy = text(mapping(manifest, "spec").get("unhealthyPodEvictionPolicy")) or "IfHealthyBudget"
    evicted = mapping(manifest, "status", "disruptedPods")
    yield Facts(
        (_("Unhealthy pods"), _UNHEALTHY.get(policy, policy)),
        (_("Pods being evicted"), [text(name) for name in evicted]),
    )
