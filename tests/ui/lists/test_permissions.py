"""Lists contain only objects that the user may see, and check permissions before reading."""

import pytest

from console.kube.gvr import PODS, Key
from console.ui.core.permissions import NOTHING, Denied, Readable
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table, row_of
from tests.support.informers import preloaded
from tests.ui.pod_lists import keys, spec_of, table
from tests.ui.support import admin, alice, bob, charlie, small_world


def test_alice_sees_only_her_project() -> None:
    found = table("", alice())
    assert keys(found) == ["team-a/api-1", "team-a/api-2"]
    assert found.total == 2
    assert sum(item.count for item in found.tally) == 2
    assert found.filters.namespaces == ("team-a",)


@pytest.mark.parametrize(
    "query", ["", "q=web", "label=app%3Dweb", "status=ok", "sort=name", "page=2"]
)
def test_no_query_shows_alice_more(query: str) -> None:
    assert {row.namespace for row in table(query, alice()).rows} <= {"team-a"}
    assert table(query, alice()).total <= 2


@pytest.mark.parametrize("namespace", ["shop", "nowhere"])
def test_forbidden_project_is_refused_whether_or_not_it_exists(namespace: str) -> None:
    with pytest.raises(Denied) as caught:
        table(f"namespace={namespace}", alice())
    assert caught.value.namespace == namespace


def test_forbidden_project_beside_a_permitted_one_is_refused() -> None:
    with pytest.raises(Denied):
        table("namespace=team-a&namespace=shop", alice())


def test_charlie_is_refused() -> None:
    for query in ("", "namespace=shop", "limit=abc"):
        with pytest.raises(Denied):
            table(query, charlie())


def test_selections_are_not_shared_across_permissions() -> None:
    informer = preloaded(PODS, small_world())
    spec = spec_of("")
    assert build_table(ListQuery.of(spec, admin()), informer).total == 6
    assert build_table(ListQuery.of(spec, alice()), informer).total == 2
    assert build_table(ListQuery.of(spec, admin()), informer).total == 6


def test_only_permitted_actions_are_offered() -> None:
    offered = ["edit", "labels", "copy", "log", "terminal", "debug", "evict", "open-port", "delete"]
    assert all([item.action.name for item in row.menu] == offered for row in table().rows)
    assert all(row.menu == () for row in table("", bob()).rows)
    edit, *_others, delete = table().rows[0].menu
    assert edit.url == "/clusters/host/projects/team-a/pods/api-1/edit"
    assert delete.url == "/clusters/host/projects/team-a/pods/api-1/actions/delete"


def test_row_is_found_by_its_key_if_permitted() -> None:
    informer = preloaded(PODS, small_world())
    found = row_of(ListQuery.of(spec_of("q=zzz"), admin()), Key("shop", "web-2"), informer)
    assert found is not None
    assert found in build_table(ListQuery.of(spec_of(""), admin()), informer).rows
    assert row_of(ListQuery.of(spec_of(""), admin()), Key("shop", "none"), informer) is None
    assert row_of(ListQuery.of(spec_of(""), alice()), Key("shop", "web-2"), informer) is None
    with pytest.raises(Denied):
        row_of(ListQuery.of(spec_of(""), charlie()), Key("shop", "web-2"), informer)


@pytest.mark.parametrize(
    ("allowed", "wanted", "whole", "singles"),
    [
        (Readable(None), (), {"a", "b"}, []),
        (Readable(None), ("b", "z"), {"b"}, []),
        (Readable(frozenset({"a", "z"})), (), {"a"}, []),
        (Readable(frozenset({"a"}), frozenset({Key("", "x")})), (), {"a"}, ["b/x"]),
        (Readable(frozenset({"a"}), frozenset({Key("b", "x")})), ("a",), {"a"}, []),
        (Readable(frozenset(), frozenset({Key("b", "y")})), ("b",), set(), ["b/y"]),
        (NOTHING, (), set(), []),
    ],
)
def test_visible_objects_are_whole_namespaces_and_single_names(
    allowed: Readable, wanted: tuple[str, ...], whole: set[str], singles: list[str]
) -> None:
    keys = [Key("a", "x"), Key("b", "x"), Key("b", "y")]
    assert allowed.whole({"a", "b"}, wanted) == whole
    assert [str(key) for key in allowed.singles(keys, wanted)] == singles
