"""The number of objects by state, worst first, and the pagination of a list."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from django.utils.functional import Promise

from console.kube.status import Severity
from console.ui.lists.spec_cache import cached_by_spec
from console.ui.lists.viewspec import ViewSpec

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


@cached_by_spec(TALLY_LINKS_CACHE_SIZE)
def _links(spec: ViewSpec, severity: str) -> tuple[str, str]:
    """Return the URL of the rows in this state, and the URL without this state in the filter."""
    return spec.with_values("status", (severity,)).url, spec.without("status", severity).url


LIMITS = (20, 50, 100, 200, 500)
#: Number of cached pagers.
KEPT = 500


class LimitChoice(NamedTuple):
    n: int
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class Pager:
    """Pagination of a list. `first` and `last` count from 1 and are both 0 on an empty page."""

    first: int
    last: int
    total: int
    page: int
    pages: int
    limit: int
    limits: tuple[LimitChoice, ...]
    prev_url: str | None
    next_url: str | None


def page_count(total: int, limit: int) -> int:
    """Return the number of pages, at least 1: an empty list has one empty page."""
    return max(1, -(-total // limit))


@cached_by_spec(KEPT)
def make_pager(spec: ViewSpec, total: int) -> Pager:
    pages = page_count(total, spec.limit)
    start = (spec.page - 1) * spec.limit
    on_page = min(spec.limit, max(0, total - start))
    choices = sorted({*LIMITS, spec.limit})
    return Pager(
        first=start + 1 if on_page else 0,
        last=start + on_page if on_page else 0,
        total=total,
        page=spec.page,
        pages=pages,
        limit=spec.limit,
        limits=tuple(LimitChoice(n, spec.with_limit(n).url, n == spec.limit) for n in choices),
        prev_url=spec.with_page(min(spec.page - 1, pages)).url if spec.page > 1 else None,
        next_url=spec.with_page(spec.page + 1).url if spec.page < pages else None,
    )
