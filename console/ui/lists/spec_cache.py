"""Cache of values that depend on a list's query, such as its pager.

Each of these values contains dozens of URLs with the query. A query of a user has a few dozen
characters, but clients can send 16 KB, so that a cache with a limit for the number of its values
would grow to hundreds of megabytes. Values of long queries are therefore not cached.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from console.ui.lists.viewspec import ViewSpec

P = ParamSpec("P")
T = TypeVar("T")

#: Maximum number of characters of a query whose values are cached.
MAX_QUERY = 500
#: The number of cached values by function.
sizes: dict[str, Callable[[], int]] = {}


def cached_by_spec(
    most: int,
) -> Callable[[Callable[Concatenate[ViewSpec, P], T]], Callable[Concatenate[ViewSpec, P], T]]:
    """Decorate a function of a view and other hashable values. At most `most` results are cached."""

    def decorate(
        compute: Callable[Concatenate[ViewSpec, P], T],
    ) -> Callable[Concatenate[ViewSpec, P], T]:
        cached: Any = lru_cache(most)(compute)
        sizes[compute.__name__.strip("_")] = lambda: int(cached.cache_info().currsize)

        @wraps(compute)
        def get(spec: ViewSpec, /, *args: P.args, **kwargs: P.kwargs) -> T:
            found: T = (cached if len(spec.query) <= MAX_QUERY else compute)(spec, *args, **kwargs)
            return found

        get.cache_clear = cached.cache_clear  # type: ignore[attr-defined]
        return get

    return decorate
