"""The visible range of a list, and links to the adjacent pages."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from console.ui.viewspec import ViewSpec

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


@lru_cache(KEPT)
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
