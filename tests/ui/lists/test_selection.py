"""List selections are shared between requests with equal filters and permissions."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.ui.core.access import Access
from console.ui.core.kind_permissions import permissions_key
from console.ui.core.lru_cache import LruCache
from console.ui.core.permissions import Denied, Readable, readable, whole_namespaces
from console.ui.lists import selection
from console.ui.lists.ordered_view import OrderedView
from console.ui.lists.selection import ListQuery, select, select_async
from console.ui.lists.table import build_table, row_of
from tests.support.informers import bring, preloaded
from tests.ui.pod_lists import spec_of
from tests.ui.support import FakeAccess, admin, alice, bob, charlie, pod, small_world


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[OrderedView]]:
    """Clear the cache and record the views created from now on."""
    found: list[OrderedView] = []

    class Noted(OrderedView):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            found.append(self)

    monkeypatch.setattr(selection, "OrderedView", Noted)
    monkeypatch.setattr(selection, "_shelf", LruCache(places=4, room=40, idle=60))
    yield found


def names_only(*keys: Key) -> FakeAccess:
    return FakeAccess("named", list_in=(), delete_in=(), names=keys)


def test_pages_and_sort_directions_share_a_view(made: list[OrderedView]) -> None:
    informer = preloaded(PODS, small_world())
    for query in ("", "page=2&limit=2", "sort=-status", "sort=status", "limit=5"):
        build_table(ListQuery.of(spec_of(query), admin()), informer)
    assert len(made) == 1
    build_table(ListQuery.of(spec_of("sort=age"), admin()), informer)
    build_table(ListQuery.of(spec_of("sort=-age&page=3"), admin()), informer)
    assert len(made) == 2


def test_equal_permissions_share_a_view_and_different_ones_do_not(made: list[OrderedView]) -> None:
    informer = preloaded(PODS, small_world())
    seen = {
        name: {entry.key for entry in select(ListQuery.of(spec_of(""), access), informer).entries}
        for name, access in {
            "admin": admin(),
            "alice": alice(),
            "her twin": FakeAccess("twin", list_in={"team-a"}),
            "named": names_only(Key("team-a", "api-1")),
            "named elsewhere": names_only(Key("", "web-1")),
        }.items()
    }
    assert len(made) == 4
    assert seen["alice"] == seen["her twin"] == {Key("team-a", "api-1"), Key("team-a", "api-2")}
    assert len(seen["admin"]) == 6
    assert seen["named"] == {Key("team-a", "api-1")}
    assert seen["named elsewhere"] == {Key("shop", "web-1"), Key("team-b", "web-1")}


def test_changed_permissions_apply_immediately(made: list[OrderedView]) -> None:
    informer = preloaded(PODS, small_world())
    access = FakeAccess("changing", list_in={"shop", "team-a"})
    assert select(ListQuery.of(spec_of(""), access), informer).total == 5
    access.list_in = {"team-a"}
    assert select(ListQuery.of(spec_of(""), access), informer).total == 2
    access.list_in = ()
    with pytest.raises(Denied):
        select(ListQuery.of(spec_of(""), access), informer)


def test_stores_do_not_share_views(made: list[OrderedView]) -> None:
    assert select(ListQuery.of(spec_of(""), admin()), preloaded(PODS, small_world())).total == 6
    assert select(ListQuery.of(spec_of(""), admin()), preloaded(PODS, [])).total == 0
    assert len(made) == 2


def test_least_recently_used_entry_is_evicted() -> None:
    now = 0.0
    shelf: LruCache[str, list[int]] = LruCache(places=3, room=10, idle=60, clock=lambda: now)
    first = shelf.get("a", list)
    for key in "bc":
        shelf.get(key, list)
    assert shelf.get("a", list) is first
    shelf.get("d", list)
    # "b" is the least recently used entry.
    assert shelf.get("a", list) is first
    assert len(shelf) == 3
    first.extend(range(11))
    kept = shelf.get("d", list)
    shelf.get("e", list)
    # "a" has grown, so it was evicted together with less recently used entries.
    assert shelf.get("a", list) is not first
    assert shelf.get("d", list) is kept
    now = 61.0
    assert shelf.get("d", list) is kept
    assert len(shelf) == 1


def test_single_entry_may_exceed_the_limit() -> None:
    shelf: LruCache[str, list[int]] = LruCache(places=3, room=10, idle=60)
    large = shelf.get("large", lambda: list(range(100)))
    assert shelf.get("large", list) is large


def test_find_counts_as_use() -> None:
    now = 0.0
    shelf: LruCache[str, str] = LruCache(places=2, room=10, idle=60, clock=lambda: now)
    assert shelf.find("a") is None
    for key in "ab":
        shelf.get(key, lambda: "made")
    now = 50.0
    assert shelf.find("a") == "made"
    shelf.get("c", lambda: "made")
    assert (shelf.find("a"), shelf.find("b")) == ("made", None)
    now = 100.0
    assert shelf.get("a", lambda: "again") == "made"


def test_views_are_limited_by_number_and_size(made: list[OrderedView]) -> None:
    informer = preloaded(PODS, [pod(f"p-{n}") for n in range(15)])
    for query in ("", "sort=name", "sort=age", "sort=ip", "sort=node", "sort=restarts"):
        assert select(ListQuery.of(spec_of(query), admin()), informer).total == 15
        kept = selection._shelf
        assert len(kept) <= 4
        assert sum(len(view) for view, _asked in kept._kept.values()) <= 40 + 15


async def test_large_store_is_prepared_in_another_thread(
    made: list[OrderedView], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selection, "QUICK", 3)
    threads: list[threading.Thread] = []
    informer = preloaded(PODS, small_world())

    def catch_up(self: OrderedView) -> None:
        threads.append(threading.current_thread())
        with self.current():
            pass

    monkeypatch.setattr(OrderedView, "catch_up", catch_up)
    await select_async(ListQuery.of(spec_of(""), admin()), informer, seconds=0.0)
    assert [thread is threading.main_thread() for thread in threads] == [False]
    assert made[0].pending_changes == 0
    bring(informer, pod("new"))
    await select_async(ListQuery.of(spec_of(""), admin()), informer, seconds=0.0)
    assert len(threads) == 1
    assert select(ListQuery.of(spec_of(""), admin()), informer).total == 7
    with pytest.raises(Denied):
        await select_async(ListQuery.of(spec_of(""), charlie()), informer, seconds=0.0)


def test_permission_for_single_objects_lists_only_these() -> None:
    informer = preloaded(PODS, small_world())
    access = names_only(Key("team-a", "api-1"), Key("shop", "no-such-pod"))
    table = build_table(ListQuery.of(spec_of(""), access), informer)
    assert [row.key for row in table.rows] == ["team-a/api-1"]
    assert (table.total, table.filters.namespaces) == (1, ("shop", "team-a"))
    assert sum(item.count for item in table.tally) == 1
    assert build_table(ListQuery.of(spec_of("namespace=team-a"), access), informer).total == 1
    assert build_table(ListQuery.of(spec_of("namespace=shop"), access), informer).total == 0
    with pytest.raises(Denied) as caught:
        build_table(ListQuery.of(spec_of("namespace=team-b"), access), informer)
    assert caught.value.namespace == "team-b"
    for key, seen in {
        Key("team-a", "api-1"): True,
        Key("team-a", "api-2"): False,
        Key("shop", "web-1"): False,
        Key("shop", "no-such-pod"): False,
    }.items():
        assert (row_of(ListQuery.of(spec_of(""), access), key, informer) is not None) is seen


def test_redundant_permission_for_a_name_changes_nothing() -> None:
    more = FakeAccess("more", list_in={"team-a"}, names=(Key("team-a", "api-1"),))
    kind = spec_of("").kind
    assert readable(kind, more) == readable(kind, alice()) == Readable(frozenset({"team-a"}))


def test_permission_for_single_objects_does_not_grant_the_namespace() -> None:
    kind, access = spec_of("").kind, names_only(Key("team-a", "api-1"))
    with pytest.raises(Denied):
        whole_namespaces(kind, readable(kind, access))
    with pytest.raises(Denied):
        whole_namespaces(kind, readable(kind, access), ("team-a",))
    mixed = FakeAccess("mixed", list_in={"shop"}, names=(Key("team-a", "api-1"),))
    assert whole_namespaces(kind, readable(kind, mixed)) == frozenset({"shop"})
    with pytest.raises(Denied):
        whole_namespaces(kind, readable(kind, mixed), ("team-a",))


def test_rights_keys_are_equal_only_for_equal_permissions() -> None:
    kind = spec_of("").kind
    viewers: dict[str, Access] = {
        "admin": admin(),
        "alice": alice(),
        "bob": bob(),
        "named": names_only(Key("shop", "web-1")),
        "everywhere": names_only(Key("", "web-1")),
        "looks at team-a": FakeAccess("x", list_in={"team-a"}, delete_in=()),
    }
    found = [permissions_key(kind, access) for access in viewers.values()]
    assert len(set(found)) == len(viewers)
    assert permissions_key(kind, FakeAccess("other", list_in={"team-a"}, delete_in={"team-a"})) == (
        permissions_key(kind, alice())
    )
    with pytest.raises(Denied):
        permissions_key(kind, charlie())
