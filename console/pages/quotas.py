"""Resource quotas of a project: used amount and limit of each resource."""

from dataclasses import dataclass, replace
from decimal import Decimal

from console.kube.gvr import RESOURCE_QUOTAS
from console.kube.indexes import indexes_of
from console.kube.quantity import parse_quantity
from console.ui.core.clusters import Kinds
from console.ui.core.kind_names import amount_text, resource_label
from console.ui.core.page_data import PageData
from console.ui.core.text import escape_invisible
from console.ui.usage.gauges import usage_severity

#: Maximum number of lines; a quota may contain any number of resources.
MAX_LINES = 20


@dataclass(frozen=True, slots=True)
class QuotaLine:
    """Line of a resource.

    `quota` lists the names of all quotas with the same remaining amount. `share` is the used
    percentage, or None if the amounts can't be parsed. `width` is `share` limited to 100, for
    the bar.
    """

    quota: str
    resource: str
    label: str
    used: str
    hard: str
    share: int | None
    width: float

    @property
    def pressure(self) -> str:
        return usage_severity(self.share)


def quotas(sight: PageData) -> tuple[QuotaLine, ...]:
    """Return one line per resource with its most used quota, most used resources first."""
    seen = sight.get(RESOURCE_QUOTAS)
    if seen is None or not sight.namespaces:
        return ()
    found = [
        _line(sight.cluster.kinds, entry.key.name, text)
        for namespace in sight.namespaces
        for entry in indexes_of(seen.informer.store).by_namespace.get(namespace)
        if seen.readable.includes(entry.key)
        for text in (*entry.projection.requests, *entry.projection.limits)
    ]
    found.sort(key=lambda line: (-(line.share or 0), line.resource, line.quota))
    tightest: dict[str, QuotaLine] = {}
    for line in found:
        known = tightest.setdefault(line.resource, line)
        if known is not line and replace(line, quota="") == replace(known, quota=""):
            tightest[line.resource] = replace(known, quota=f"{known.quota}, {line.quota}")
    return tuple(tightest.values())[:MAX_LINES]


def _line(kinds: Kinds, quota: str, text: str) -> QuotaLine:
    """Parse the projection's text `resource: used/hard`."""
    resource, _colon, amounts = text.rpartition(": ")
    used, _slash, hard = amounts.partition("/")
    amount, limit = parse_quantity(used), parse_quantity(hard)
    share: Decimal | None = None
    if amount is not None and limit:
        share = max(Decimal(0), amount * 100 / limit)
    return QuotaLine(
        escape_invisible(quota),
        escape_invisible(resource),
        escape_invisible(resource_label(kinds, resource)),
        escape_invisible(used) if amount is None else amount_text(resource, amount),
        escape_invisible(hard) if limit is None else amount_text(resource, limit),
        None if share is None else int(share),
        0.0 if share is None else min(100.0, round(float(share), 1)),
    )
