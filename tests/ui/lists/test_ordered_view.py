"""An incrementally sorted list equals a newly computed one after any changes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console.kube import store as store_module
from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.permissions import Readable
from console.ui.lists.ordered_view import ListSlice, OrderedView, ViewQuery
from console.ui.lists.viewspec import ViewSpec
from tests.support.informers import bring, preloaded, take_away
from tests.ui.changes import RIGHTS, change, changes, pods
from tests.ui.pod_lists import spec_of
from tests.ui.support import NAMESPACE_NAMES, pod

SORTS = ("", "name", "namespace", "status", "ready", "restarts", "node", "ip", "age")
QUERIES = (
    "",
    "q=a",
    "q=node-2",
    "label=app%3Dx",
    "status=error",
    "status=error&status=ok&q=b",
    "namespace=shop",
    "namespace=shop&namespace=team-a&status=progress",
)


def made_anew(informer: Informer[Any], spec: ViewSpec, readable: Readable) -> ListSlice:
    """Compute the expected list from all objects."""
    found: list[Entry[Any]] = [
        entry
        for key, entry in informer.store.snapshot().entries.items()
        if (readable.namespaces is None or key.namespace in readable.namespaces)
        or any(key.name == k.name and k.namespace in ("", key.namespace) for k in readable.names)
    ]
    found = [entry for entry in found if all(test(entry) for test in spec.tests(faceted=False))]
    tally = Counter(dict.fromkeys(Severity, 0))
    tally.update(entry.projection.status.severity for entry in found)
    found = [entry for entry in found if all(test(entry) for test in spec.tests(faceted=True))]
    found.sort(key=lambda entry: (entry.key.name, entry.key.namespace))
    column = spec.kind.sortable[spec.sort_column or "status"]
    found.sort(key=column.sort_key, reverse=spec.descending)
    return ListSlice(tuple(found), len(found), dict(tally), informer.store.resource_version)


def question_of(spec: ViewSpec, readable: Readable) -> ViewQuery:
    return ViewQuery.of(spec, readable)


def check(view: OrderedView, informer: Informer[Any], spec: ViewSpec, readable: Readable) -> None:
    wanted = made_anew(informer, spec, readable)
    assert view.read(descending=spec.descending) == wanted
    for size in (1, 3):
        pages = [
            view.read(slice(at, at + size), descending=spec.descending)
            for at in range(0, wanted.total + size, size)
        ]
        assert tuple(entry for page in pages for entry in page.entries) == wanted.entries
        assert all((page.total, page.tally) == (wanted.total, wanted.tally) for page in pages)


@given(
    st.lists(pods, min_size=4, max_size=9),
    st.lists(changes, max_size=20),
    st.sampled_from(SORTS),
    st.booleans(),
    st.sampled_from(QUERIES),
    st.sampled_from(RIGHTS),
    st.sampled_from((2, 1000)),
)
@example([pod("a"), pod("b")], [("remove", pod("a"))], "age", True, "", RIGHTS[0], 1000)
@example(
    [pod("a"), pod("b")],
    [("apply", pod("b", waiting="CrashLoopBackOff")), ("read", None), ("apply", pod("b"))],
    "",
    False,
    "",
    RIGHTS[0],
    1000,
)
def test_incremental_list_equals_a_new_one(
    first: Sequence[dict[str, Any]],
    then: Sequence[tuple[str, Any]],
    sort: str,
    descending: bool,
    query: str,
    readable: Readable,
    remembered: int,
) -> None:
    """`remembered` limits the change history, so that views must be rebuilt now and then."""
    spec = spec_of(f"{query}&sort={'-' if descending and sort else ''}{sort}")
    assert not spec.errors
    with patch.object(store_module, "_REMEMBERED", remembered):
        informer = preloaded(PODS, [])
        change(informer, "list", first)
        view = OrderedView(informer.store, question_of(spec, readable))
        check(view, informer, spec, readable)
        for what, given_ in then:
            change(informer, what, given_)
            if what == "read":
                check(view, informer, spec, readable)
        check(view, informer, spec, readable)


def many(count: int) -> list[dict[str, Any]]:
    return [pod(f"p-{n:05}", NAMESPACE_NAMES[n % 3], restarts=n % 7) for n in range(count)]


def test_thousands_of_entries_are_in_order() -> None:
    informer = preloaded(PODS, many(5001))
    for sort in ("", "sort=restarts", "sort=-restarts", "sort=-name"):
        spec = spec_of(sort)
        view = OrderedView(informer.store, question_of(spec, RIGHTS[0]))
        wanted = made_anew(informer, spec, RIGHTS[0])
        assert view.read(descending=spec.descending) == wanted
        middle = view.read(slice(2500, 2550), descending=spec.descending)
        assert middle.entries == wanted.entries[2500:2550]


def test_returned_selection_is_immutable() -> None:
    informer = preloaded(PODS, many(10))
    view = OrderedView(informer.store, question_of(spec_of(""), RIGHTS[0]))
    before = view.read()
    copy = (tuple(before.entries), before.total, dict(before.tally), before.resource_version)
    bring(informer, pod("p-00001", NAMESPACE_NAMES[1], waiting="CrashLoopBackOff"))
    take_away(informer, pod("p-00002", NAMESPACE_NAMES[2]))
    assert view.read().total == 9
    assert (before.entries, before.total, before.tally, before.resource_version) == copy


def test_change_evaluates_only_the_changed_object(monkeypatch: pytest.MonkeyPatch) -> None:
    informer = preloaded(PODS, many(200))
    looked = _count_looks(monkeypatch)
    view = OrderedView(informer.store, question_of(spec_of("q=p"), RIGHTS[0]))
    view.read(slice(0, 50))
    assert len(looked) == 200
    looked.clear()
    for _ in range(3):
        view.read(slice(100, 150), descending=True)
    assert looked == []
    bring(informer, pod("p-00001", NAMESPACE_NAMES[1]))
    view.read(slice(0, 50))
    assert [key.name for key in looked] == ["p-00001"]
    assert view.rebuilds == 1


def test_tenant_view_evaluates_only_the_tenants_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    informer = preloaded(PODS, [pod(f"p-{n}", f"team-{n % 100}") for n in range(1000)])
    looked = _count_looks(monkeypatch)
    readable = Readable(frozenset({"team-1", "team-2"}), frozenset({Key("team-3", "p-3")}))
    view = OrderedView(informer.store, question_of(spec_of("q=p"), readable))
    assert view.read().total == 21
    assert len(looked) == 21
    looked.clear()
    bring(informer, pod("p-50", "team-50"))
    bring(informer, pod("p-101", "team-1"))
    assert view.read().total == 21
    assert [key.name for key in looked] == ["p-101"]


def _count_looks(monkeypatch: pytest.MonkeyPatch) -> list[Key]:
    """Record the keys of objects evaluated by filters from now on."""
    looked: list[Key] = []

    def test(entry: Entry[Any]) -> bool:
        looked.append(entry.key)
        return True

    monkeypatch.setattr(
        ViewSpec, "tests", lambda self, *, faceted: [] if faceted or not self.values else [test]
    )
    return looked
