"""Values that depend on a list's query are cached, unless the query is long."""

import tracemalloc

from django.http import QueryDict

from console.kinds.pods import PodKind
from console.ui.lists.list_forms import column_picker, filter_form
from console.ui.lists.spec_cache import MAX_QUERY, cached_by_spec, sizes
from console.ui.lists.summary import make_pager
from console.ui.lists.table import _headers
from console.ui.lists.viewspec import ViewSpec

KIND = PodKind()
#: Lists with long queries that a client requests.
REQUESTS = 60
#: Maximum bytes that they may leave behind: the parsed selectors. Cached values would take 10 MiB.
MAX_LEFT = 4 * 2**20


def spec_of(query: str) -> ViewSpec:
    found = ViewSpec.parse(KIND, QueryDict(query), cluster="host")
    assert not found.errors
    return found


def long_query(number: int) -> str:
    values = ",".join(f"{at}{'x' * 50}" for at in range(8))
    labels = "&".join(f"label=a{number}-{at}+in+({values})" for at in range(10))
    return f"q=x{number}&{labels}&page={number + 2}"


def test_values_of_short_queries_are_cached() -> None:
    computed: list[str] = []

    @cached_by_spec(2)
    def compute(spec: ViewSpec, number: int) -> str:
        computed.append(spec.query)
        return f"{spec.query} {number}"

    for _time in range(3):
        assert compute(spec_of("q=a"), 1) == "q=a 1"
    assert computed == ["q=a"]
    assert sizes.pop("compute")() == 1


def test_values_of_long_queries_are_not_cached() -> None:
    tracemalloc.start()
    try:
        before, _peak = tracemalloc.get_traced_memory()
        kept = {name: size() for name, size in sizes.items()}
        for number in range(REQUESTS):
            spec = spec_of(long_query(number))
            assert len(spec.query) > MAX_QUERY
            make_pager(spec, 10_000)
            _headers(spec, metered=True)
            filter_form(spec, frozenset())
            column_picker(spec)
        del spec
        after, _peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert {name: size() for name, size in sizes.items()} == kept
    assert after - before < MAX_LEFT
