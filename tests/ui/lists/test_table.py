"""Computation of lists: permissions, then filters, status counts, order and page."""

from typing import Any

import pytest

from console.kube.gvr import PODS
from console.kube.informer import Informer
from console.kube.projections import DECODERS
from console.ui.core.registry import kinds
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from tests.ui.pod_lists import keys, spec_of, table
from tests.ui.support import admin, bob, pod


def test_worst_status_is_first_then_by_name() -> None:
    assert keys(table()) == [
        "team-a/api-1",
        "shop/web-2",
        "team-a/api-2",
        "shop/cart-1",
        "shop/web-1",
        "team-b/web-1",
    ]


def test_totals_and_status_counts_are_exact() -> None:
    found = table()
    assert found.total == 6
    assert [(item.severity, item.count) for item in found.tally] == [
        ("error", 2),
        ("progress", 1),
        ("ok", 3),
    ]
    assert sum(item.share for item in found.tally) == pytest.approx(100, abs=0.1)


def test_status_count_links_to_the_counted_rows() -> None:
    for query in ("", "namespace=team-a", "q=web", "status=error"):
        for item in table(query).tally:
            assert table(item.url.partition("?")[2]).total == item.count


def test_status_filter_does_not_change_the_status_counts() -> None:
    found = table("status=error")
    assert keys(found) == ["team-a/api-1", "shop/web-2"]
    assert found.total == 2
    assert {item.severity: item.active for item in found.tally} == {
        "error": True,
        "progress": False,
        "ok": False,
    }
    assert found.tally[0].remove_url == "/clusters/host/pods"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=web", ["shop/web-2", "shop/web-1", "team-b/web-1"]),
        ("q=WEB", ["shop/web-2", "shop/web-1", "team-b/web-1"]),
        ("q=ledger%3A7", ["team-b/web-1"]),
        ("q=node-2", ["shop/web-2"]),
        ("q=10.0.0.20", ["shop/cart-1"]),
        ("q=tier%3Dfront", ["shop/web-1"]),
        ("q=web+node-2", ["shop/web-2"]),
        ("q=nothing-like-it", []),
        ("namespace=team-b", ["team-b/web-1"]),
        ("namespace=team-b&namespace=team-a", ["team-a/api-1", "team-a/api-2", "team-b/web-1"]),
        ("label=app%3Dweb", ["shop/web-2", "shop/web-1"]),
        ("label=app%3Dweb&label=tier%3Dfront", ["shop/web-1"]),
        ("status=progress&namespace=team-a", ["team-a/api-2"]),
        ("q=web&status=running&namespace=shop", ["shop/web-1"]),
    ],
)
def test_filters_are_applied(query: str, expected: list[str]) -> None:
    found = table(query)
    assert keys(found) == expected
    assert found.total == len(expected)


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("name", "team-a/api-1"),
        ("-name", "shop/web-2"),
        ("namespace", "shop/cart-1"),
        ("-status", "shop/cart-1"),
        ("-restarts", "team-b/web-1"),
        ("node", "team-a/api-1"),
        ("-node", "team-a/api-2"),
        ("age", "shop/cart-1"),
        ("ready", "team-a/api-1"),
    ],
)
def test_sort_orders_are_applied(sort: str, first: str) -> None:
    assert keys(table(f"sort={sort}"))[0] == first


def test_ip_addresses_are_sorted_numerically() -> None:
    ips = ["10.0.0.20", "fd00::1", "", "10.0.0.3", "10.0.0.100"]
    objects = [pod(f"p-{n}", ip=ip) for n, ip in enumerate(ips)]
    assert [key[-1] for key in keys(table("sort=ip", objects=objects))] == ["3", "0", "4", "1", "2"]


def test_every_sort_contains_every_row_with_ties_by_name() -> None:
    kind = kinds.by_segment("pods")
    assert kind is not None
    same = [pod(f"p-{n}", namespace) for n in range(5) for namespace in ("b", "a")]
    by_name = [f"{ns}/p-{n}" for n in range(5) for ns in ("a", "b")]
    for column in kind.sortable:
        for sign in ("", "-"):
            assert len(table(f"sort={sign}{column}").rows) == 6
            if column not in {"name", "namespace"}:
                assert keys(table(f"sort={sign}{column}", objects=same)) == by_name


def test_header_links_cycle_through_the_three_sort_orders() -> None:
    def header(query: str, column: str) -> tuple[str | None, str]:
        found = next(h for h in table(query).columns if h.id == column)
        return found.sort_url, found.aria_sort

    base = "/clusters/host/pods"
    assert header("", "age") == (f"{base}?sort=age", "none")
    assert header("sort=age", "age") == (f"{base}?sort=-age", "ascending")
    assert header("sort=-age", "age") == (base, "descending")
    assert header("", "status") == (f"{base}?sort=-status", "ascending")
    assert header("sort=-status", "status") == (base, "descending")
    assert header("sort=age", "status") == (base, "none")


def test_pages_contain_all_rows_once() -> None:
    first, second, third = (table(f"limit=2&page={n}") for n in (1, 2, 3))
    assert keys(first) + keys(second) + keys(third) == keys(table())
    assert (second.pager.first, second.pager.last, second.pager.pages) == (3, 4, 3)
    assert second.pager.prev_url == "/clusters/host/pods?limit=2"
    assert second.pager.next_url == "/clusters/host/pods?page=3&limit=2"
    assert first.pager.prev_url is None
    assert third.pager.next_url is None


def test_page_beyond_the_last_links_to_the_last_page() -> None:
    found = table("limit=2&page=9")
    assert found.rows == ()
    assert found.total == 6
    assert found.state is not None
    assert (found.state.kind, found.state.action_url) == (
        "beyond",
        "/clusters/host/pods?page=3&limit=2",
    )
    assert (found.pager.first, found.pager.last) == (0, 0)
    assert found.pager.prev_url == "/clusters/host/pods?page=3&limit=2"


def test_unknown_project_is_named() -> None:
    found = table("namespace=nowhere")
    assert found.state is not None
    assert found.state.kind == "no-match"
    assert str(found.state.title) == "Project nowhere not found"
    assert found.state.action_url == "/clusters/host/pods"


def test_empty_project_shows_the_first_use_state() -> None:
    """No filter was set, so "no match" would be wrong. Users who may not create objects get a link
    to all projects.
    """
    for access, offered in (
        (admin(), ("/clusters/host/import?kind=pods&namespace=shop", "Create pod")),
        (bob(), ("/clusters/host/pods", "Show all pods")),
    ):
        state = table("namespace=shop", access, objects=[]).state
        assert state is not None
        assert (state.kind, state.title) == ("first-use", "No pods in shop yet")
        assert (state.action_url, state.action_label) == offered
    state = table("namespace=shop&namespace=team-a", objects=[]).state
    assert state is not None and state.title == "No pods in shop, team-a yet"


def test_filter_in_an_empty_project_shows_the_no_match_state() -> None:
    state = table("namespace=shop&q=zzz", objects=[]).state
    assert state is not None
    assert (state.kind, state.title) == ("no-match", "No pods found")


def test_filter_without_a_match_offers_to_clear_it() -> None:
    found = table("q=zzz&limit=20")
    assert found.state is not None
    assert (found.state.kind, found.state.action_url) == (
        "no-match",
        "/clusters/host/pods?limit=20",
    )


def test_empty_list_shows_the_first_use_state() -> None:
    found = table(objects=[])
    assert found.state is not None
    assert found.state.kind == "first-use"
    assert found.total == 0


def test_invalid_parameters_show_only_the_errors() -> None:
    found = table("limit=abc&q=web")
    assert found.rows == ()
    assert found.total == 0
    assert found.url == ""
    assert found.state is not None
    assert found.state.kind == "bad-input"
    assert [error.field for error in found.filters.errors] == ["limit"]


def test_unsynced_list_is_shown_as_loading() -> None:
    informer: Informer[Any] = Informer(PODS, DECODERS[PODS])
    found = build_table(ListQuery.of(spec_of(""), admin()), informer)
    assert found.state is not None
    assert found.state.kind == "loading"
    assert (found.rows, found.etag, found.freshness.state) == ((), "", "off")


def test_objects_of_hidden_projects_are_left_out() -> None:
    found = table("not_namespace=shop&not_namespace=team-a")
    assert found.rows
    assert {key.partition("/")[0] for key in keys(found)}.isdisjoint({"shop", "team-a"})
    assert spec_of("not_namespace=a%20b").errors
