"""ResourceQuotas, LimitRanges and PriorityClasses.

Texts follow kubectl (printResourceQuota, printPriorityClass in Kubernetes' printers).
"""

from decimal import Decimal

import msgspec

from console.kube.gvr import LIMIT_RANGES, PRIORITY_CLASSES, RESOURCE_QUOTAS
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    basics,
    decoder,
    terminating_or,
)
from console.kube.quantity import parse_quantity
from console.kube.status import Severity, Status

#: Percent of a quota. Percentages are capped at `_MOST`, because a quota may be reduced far below
#: the usage.
_NOTHING, _NEARLY_FULL, _FULL, _MOST = Decimal(0), Decimal(90), Decimal(100), Decimal(999)


class ResourceQuota(Projection, frozen=True):
    """A ResourceQuota.

    `requests` and `limits` are kubectl's columns, formatted as `resource: used/hard`. `fullest`
    is the resource closest to its limit and `used` its percentage; "" and 0 if there is none.
    """

    status: Status
    requests: tuple[str, ...]
    limits: tuple[str, ...]
    fullest: str
    used: int


class LimitRange(Projection, frozen=True):
    """A LimitRange.

    `types` are Container, Pod and PersistentVolumeClaim. The other fields are texts like `cpu
    500m`. Defaults apply to containers. `least` and `most` are prefixed with the type.
    """

    types: tuple[str, ...]
    default_requests: tuple[str, ...]
    default_limits: tuple[str, ...]
    least: tuple[str, ...]
    most: tuple[str, ...]


class PriorityClass(Projection, frozen=True):
    value: int
    default: bool
    preemption: str
    description: str


class _QuotaStatus(msgspec.Struct, gc=False):
    hard: dict[str, str] | None = None
    used: dict[str, str] | None = None


class _Quota(Object):
    status: _QuotaStatus | None = None


class _Limit(msgspec.Struct, gc=False):
    type: str = ""
    max: dict[str, str] | None = None
    min: dict[str, str] | None = None
    default: dict[str, str] | None = None
    defaultRequest: dict[str, str] | None = None


class _LimitSpec(msgspec.Struct, gc=False):
    limits: tuple[_Limit, ...] | None = None


class _LimitRange(Object):
    spec: _LimitSpec | None = None


class _PriorityClass(Object):
    value: int = 0
    globalDefault: bool | None = None
    preemptionPolicy: str | None = None
    description: str | None = None


_WITHIN = Status(Severity.OK, "Within quota")
_UNCOUNTED = Status(Severity.PROGRESS, "Waiting")


def _quota(item: _Quota) -> ResourceQuota:
    status = item.status or _QuotaStatus()
    hard, used = status.hard or {}, status.used or {}
    texts = {name: f"{name}: {used.get(name, '0')}/{hard[name]}" for name in sorted(hard)}
    shares = {name: _share(used.get(name, "0"), hard[name]) for name in sorted(hard)}
    fullest = max(shares, key=lambda name: shares[name], default="")
    limits = {name for name in hard if name.startswith("limits.")}
    full = _quota_status(texts.get(fullest, ""), shares.get(fullest))
    return ResourceQuota(
        **basics(item.metadata),
        status=terminating_or(item.metadata, full),
        requests=tuple(text for name, text in texts.items() if name not in limits),
        limits=tuple(text for name, text in texts.items() if name in limits),
        fullest=fullest,
        used=int(shares.get(fullest, _NOTHING)),
    )


def _share(used: str, hard: str) -> Decimal:
    """Return the usage in percent. A quota of 0 without usage counts as 0%: it exists to forbid
    usage.
    """
    amount, limit = parse_quantity(used), parse_quantity(hard)
    if amount is None or limit is None or amount <= 0:
        return _NOTHING
    return min(amount * 100 / limit, _MOST) if limit > 0 else _FULL


def _quota_status(text: str, percent: Decimal | None) -> Status:
    if percent is None:
        return _UNCOUNTED
    if percent >= _FULL:
        return Status(Severity.ERROR, "Full", text)
    if percent > _NEARLY_FULL:
        return Status(Severity.WARN, "Nearly full", text)
    return _WITHIN


def _limit_range(item: _LimitRange) -> LimitRange:
    limits = (item.spec and item.spec.limits) or ()
    containers = [limit for limit in limits if limit.type == "Container"]
    return LimitRange(
        **basics(item.metadata),
        types=tuple(dict.fromkeys(limit.type for limit in limits)),
        default_requests=tuple(t for limit in containers for t in _amounts(limit.defaultRequest)),
        default_limits=tuple(t for limit in containers for t in _amounts(limit.default)),
        least=tuple(f"{limit.type} {t}" for limit in limits for t in _amounts(limit.min)),
        most=tuple(f"{limit.type} {t}" for limit in limits for t in _amounts(limit.max)),
    )


def _amounts(amounts: dict[str, str] | None) -> list[str]:
    return [f"{name} {amount}" for name, amount in sorted((amounts or {}).items())]


def _priority_class(item: _PriorityClass) -> PriorityClass:
    return PriorityClass(
        **basics(item.metadata),
        value=item.value,
        default=bool(item.globalDefault),
        preemption=item.preemptionPolicy or "PreemptLowerPriority",
        description=item.description or "",
    )


DECODERS: Decoders = {
    RESOURCE_QUOTAS: decoder(_Quota, _quota),
    LIMIT_RANGES: decoder(_LimitRange, _limit_range),
    PRIORITY_CLASSES: decoder(_PriorityClass, _priority_class),
}
