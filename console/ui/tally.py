"""The summary above a list: the number of objects by state, the worst first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from django.utils.functional import Promise

from console.kube.status import Severity
from console.ui.viewspec import ViewSpec

#: Number of cached link pairs.
TALLY_LINKS_CACHE_SIZE = 2000


@dataclass(frozen=True, slots=True)
class TallyItem:
    """The number of objects in one state.

    `url` shows exactly the counted rows. `share` is the percentage of all objects, and `offset`
    the sum of the percentages of all preceding states. `remove_url` removes the state from the
    filter, and is None if the filter does not contain it. Items are compared by URL, which
    contains the kind and the state, and not by label.
    """

    severity: str
    label: str | Promise = field(compare=False)
    count: int
    url: str
    active: bool
    remove_url: str | None
    share: float
    offset: float


def make_tally(spec: ViewSpec, counts: Mapping[Severity, int]) -> tuple[TallyItem, ...]:
    """Return the states with objects, and filtered states even without objects."""
    if spec.kind.status_column is None:
        return ()
    chosen = spec.get("status")
    total = sum(counts.values()) or 1
    items: list[TallyItem] = []
    before = 0
    for severity, count in counts.items():
        active = severity.value in chosen
        if count or active:
            items.append(_item(spec, severity, count, active, before / total, total))
        before += count
    return tuple(items)


def _item(
    spec: ViewSpec, severity: Severity, count: int, active: bool, before: float, total: int
) -> TallyItem:
    url, remove_url = _links(spec, severity.value)
    return TallyItem(
        severity=severity.value,
        label=spec.kind.severity_word(severity),
        count=count,
        url=url,
        active=active,
        remove_url=remove_url if active else None,
        share=round(100 * count / total, 2),
        offset=round(100 * before, 2),
    )


@lru_cache(TALLY_LINKS_CACHE_SIZE)
def _links(spec: ViewSpec, severity: str) -> tuple[str, str]:
    """Return the URL of the rows in this state, and the URL without this state in the filter."""
    return spec.with_values("status", (severity,)).url, spec.without("status", severity).url
