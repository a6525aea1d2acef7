"""The quotas of a project: what is used of each resource."""

from dataclasses import dataclass, replace
from decimal import Decimal

from console.kube.gvr import RESOURCE_QUOTAS
from console.kube.indexes import indexes_of
from console.kube.quantity import parse_quantity
from console.ui.clusterkinds import Kinds
from console.ui.pressure import pressure
from console.ui.quotawords import amount_text, resource_label
from console.ui.sight import Sight
from console.ui.text import visible

#: Lines that are shown; a quota may name any number of resources.
MOST = 20


@dataclass(frozen=True, slots=True)
class QuotaLine:
    """`quota`: the names of all that leave as little of the resource. `width`: percent for the drawing,
    at most 100; `share` None for what is no amount."""

    quota: str
    resource: str
    label: str
    used: str
    hard: str
    share: int | None
    width: float

    @property
    def pressure(self) -> str:
        return pressure(self.share)


def quotas(sight: Sight) -> tuple[QuotaLine, ...]:
    """Of the sight's projects: each resource once, of the tightest of its quotas; the fullest first."""
    seen = sight.get(RESOURCE_QUOTAS)
    if seen is None or not sight.namespaces:
        return ()
    found = [
        _line(sight.cluster.kinds, entry.key.name, text)
        for namespace in sight.namespaces
        for entry in indexes_of(seen.informer.store).by_namespace.get(namespace)
        if seen.readable.sees(entry.key)
        for text in (*entry.projection.requests, *entry.projection.limits)
    ]
    found.sort(key=lambda line: (-(line.share or 0), line.resource, line.quota))
    tightest: dict[str, QuotaLine] = {}
    for line in found:
        known = tightest.setdefault(line.resource, line)
        if known is not line and replace(line, quota="") == replace(known, quota=""):
            tightest[line.resource] = replace(known, quota=f"{known.quota}, {line.quota}")
    return tuple(tightest.values())[:MOST]


def _line(kinds: Kinds, quota: str, text: str) -> QuotaLine:
    """`text` is the projection's `resource: used/hard`."""
    resource, _colon, amounts = text.rpartition(": ")
    used, _slash, hard = amounts.partition("/")
    amount, limit = parse_quantity(used), parse_quantity(hard)
    share: Decimal | None = None
    if amount is not None and limit:
        share = max(Decimal(0), amount * 100 / limit)
    return QuotaLine(
        visible(quota),
        visible(resource),
        visible(resource_label(kinds, resource)),
        visible(used) if amount is None else amount_text(resource, amount),
        visible(hard) if limit is None else amount_text(resource, limit),
        None if share is None else int(share),
        0.0 if share is None else min(100.0, round(float(share), 1)),
    )
