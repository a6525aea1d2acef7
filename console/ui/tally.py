"""The line above a list that says how many objects are in which state, the worst first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from django.utils.functional import Promise

from console.kube.status import Severity
from console.ui.viewspec import ViewSpec

#: Pairs of links that are kept.
KEPT = 2000


@dataclass(frozen=True, slots=True)
class TallyItem:
    """`url` shows exactly the rows that `count` counts. `share`: percent of all; `offset`: percent of
    those before it. `remove_url` drops this state from the filter, None where it is not in it.

    Items are compared by their URL, which names the kind and the state, not by the label of these.
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
    """States that there are, and those that are filtered for even if there are none."""
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


@lru_cache(KEPT)
def _links(spec: ViewSpec, severity: str) -> tuple[str, str]:
    """To the rows of this state alone, and to those of the view without it."""
    return spec.with_values("status", (severity,)).url, spec.without("status", severity).url
