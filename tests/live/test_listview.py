"""The messages of an open list, computed without a websocket."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.live.listview import ListView
from console.live.mailbox import Mail
from console.live.view import ClientState
from console.ui.core.permissions import Denied
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import Table, build_table, columns_tag
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.page_routes import resolve_list
from tests.live.conftest import URL
from tests.support.informers import bring, preloaded, take_away
from tests.ui.support import CountingAccess, FakeAccess, admin, charlie, pod

NOTHING = Mail()
STATE = Mail(state=True)
OVERFLOW = Mail(overflow=True)


def mail(*names: str, namespace: str = "shop") -> Mail:
    return Mail(keys=frozenset(Key(namespace, name) for name in names))


def spec_of(query: str) -> ViewSpec:
    place = resolve_list(URL + query)
    assert place is not None
    return place.spec


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Open:
    """An open list with one viewer."""

    live: ListView
    spec: ViewSpec
    access: FakeAccess
    informer: Informer[Any]
    clock: Clock

    def flush(self, mail: Mail) -> list[str]:
        """Update the list at a time when its order can be sent again."""
        self.clock.now += self.live.arrange_seconds
        return self.flush_at_once(mail)

    def flush_at_once(self, mail: Mail) -> list[str]:
        return self.live.update(mail, self.access)

    def page(self) -> Table:
        return build_table(ListQuery.of(self.spec, self.access), self.informer)

    def catch_up(self, known: ClientState) -> list[str] | None:
        assert self.live.update(NOTHING, self.access, anew=True) is not None
        return self.live.catch_up(known, self.access)


def view(informer: Informer[Any], query: str = "", access: FakeAccess | None = None) -> Open:
    """Return an open list whose viewer has the current page."""
    spec, access = spec_of(query), access or admin()
    clock = Clock()
    live = ListView(spec, "en", informer, clock=clock)
    found = Open(live, spec, access, informer, clock)
    assert found.catch_up(known(found.page())) == []
    return found


def known(table: Table) -> ClientState:
    return ClientState(table.etag, {row.key: row.signature for row in table.rows})


def before(table: Table, rows: dict[str, str] | None) -> ClientState:
    """Return the state of a browser that has an earlier version of the list with the same columns
    and these `build_table`.
    """
    return ClientState(f"{columns_tag(table.etag)}-old", rows)


def kinds_of(frames: list[str]) -> list[str]:
    """Return the type of each frame."""
    found = []
    for frame in frames:
        if frame.startswith("{"):
            found.append(next(iter(json.loads(frame))))
        else:
            ids = ("summary", "pager", "freshness")
            found.append(next((i for i in ids if f'id="{i}"' in frame), "rows"))
    return found


def order_in(frames: list[str]) -> list[str] | None:
    for frame in frames:
        if frame.startswith('{"order"'):
            return list(json.loads(frame)["order"])
    return None


def keys(*names: str) -> list[str]:
    return [f"shop/{name}" for name in names]


def world(count: int) -> Informer[Any]:
    return preloaded(PODS, [pod(f"p-{n:02}") for n in range(count)])


def test_unchanged_list_sends_nothing() -> None:
    informer = world(3)
    open_list = view(informer)
    assert open_list.flush(NOTHING) == []
    assert open_list.flush(STATE) == []
    assert open_list.flush(mail("p-00")) == []


def test_order_and_counts_are_sent_at_most_once_per_second() -> None:
    informer = world(4)
    open_list = view(informer, "?limit=3")
    bring(informer, pod("p-02", waiting="CrashLoopBackOff"))
    assert order_in(open_list.flush(mail("p-02"))) == keys("p-02", "p-00", "p-01")
    bring(informer, pod("p-03", waiting="CrashLoopBackOff"))
    open_list.clock.now += open_list.live.arrange_seconds * 0.75
    assert open_list.flush_at_once(mail("p-03")) == []
    assert open_list.live.retry_after == pytest.approx(open_list.live.arrange_seconds * 0.25)
    bring(informer, pod("p-02"))
    # The content of rows on the page is not delayed.
    assert kinds_of(open_list.flush_at_once(mail("p-02"))) == ["rows"]
    open_list.clock.now += open_list.live.retry_after
    frames = open_list.flush_at_once(NOTHING)
    assert kinds_of(frames) == ["rows", "order"]
    assert order_in(frames) == keys("p-03", "p-00", "p-01")
    assert frames[0].count("<tr") == 1
    assert open_list.live.retry_after == 0
    assert open_list.flush(NOTHING) == []


def test_deleted_row_is_marked_before_the_order_changes() -> None:
    informer = world(3)
    open_list = view(informer)
    bring(informer, pod("p-03"))
    open_list.flush(mail("p-03"))
    take_away(informer, pod("p-01"))
    assert kinds_of(open_list.flush_at_once(mail("p-01"))) == ["gone"]
    assert kinds_of(open_list.flush(NOTHING)) == ["summary", "pager", "order"]


def test_change_that_is_undone_within_a_second_moves_nothing() -> None:
    informer = world(3)
    open_list = view(informer)
    bring(informer, pod("p-03"))
    open_list.flush(mail("p-03"))
    bring(informer, pod("p-04"))
    assert open_list.flush_at_once(mail("p-04")) == []
    take_away(informer, pod("p-04"))
    assert open_list.flush_at_once(mail("p-04")) == []
    assert open_list.flush(NOTHING) == []


def test_new_subscriber_gets_the_held_order_at_once() -> None:
    informer = world(3)
    open_list = view(informer)
    bring(informer, pod("p-03"))
    open_list.flush(mail("p-03"))
    known_before = known(open_list.page())
    bring(informer, pod("p-04"))
    assert open_list.flush_at_once(mail("p-04")) == []
    followers = open_list.live.update(NOTHING, open_list.access, anew=True)
    assert order_in(followers) == keys("p-00", "p-01", "p-02", "p-03", "p-04")
    joined = open_list.live.catch_up(known_before, open_list.access)
    assert joined is not None
    assert order_in(joined) == order_in(followers)


def test_browser_whose_rows_changed_after_its_etag_is_caught_up() -> None:
    informer = world(2)
    open_list = view(informer)
    etag = open_list.page().etag
    bring(informer, pod("p-01", restarts=1))
    changed = ClientState(etag, known(open_list.page()).rows)
    bring(informer, pod("p-01"))
    frames = open_list.catch_up(changed)
    assert frames is not None
    assert kinds_of(frames)[0] == "rows"


def test_several_changes_of_a_row_are_one_frame() -> None:
    informer = world(3)
    open_list = view(informer)
    for restarts in range(1, 9):
        bring(informer, pod("p-01", restarts=restarts))
    frames = open_list.flush(mail("p-01"))
    assert kinds_of(frames) == ["rows"]
    assert frames[0].count("<tr") == 1
    assert ">8<" in frames[0]
    assert open_list.flush(mail("p-01")) == []


def test_several_rows_are_one_frame() -> None:
    informer = world(5)
    open_list = view(informer)
    for n in range(5):
        bring(informer, pod(f"p-{n:02}", restarts=1))
    [frame] = open_list.flush(mail(*(f"p-{n:02}" for n in range(5))))
    assert frame.count("<tr") == 5


def test_row_that_changed_back_sends_nothing() -> None:
    informer = world(2)
    open_list = view(informer)
    bring(informer, pod("p-01", restarts=1))
    bring(informer, pod("p-01"))
    assert open_list.flush(mail("p-01")) == []


def test_changes_on_other_pages_send_only_the_counts() -> None:
    informer = world(6)
    open_list = view(informer, "?limit=2")
    bring(informer, pod("p-05", restarts=1))
    assert open_list.flush(mail("p-05")) == []
    bring(informer, pod("p-06"))
    frames = open_list.flush(mail("p-06"))
    assert kinds_of(frames) == ["summary", "pager", "total"]
    # The "select all matching" control shows the total.
    assert json.loads(frames[-1])["total"] == 7


@pytest.mark.parametrize(
    ("name", "remove", "order", "sent"),
    [
        ("a-new-one", False, ["a-new-one", "p-00"], ["rows", "summary", "pager", "order"]),
        ("p-00", True, ["p-01", "p-02"], ["rows", "gone", "summary", "pager", "order"]),
    ],
)
def test_shifted_page_sends_its_new_rows_and_order(
    name: str, remove: bool, order: list[str], sent: list[str]
) -> None:
    informer = world(6)
    open_list = view(informer, "?limit=2&sort=name")
    if remove:
        take_away(informer, pod(name))
    else:
        bring(informer, pod(name))
    frames = open_list.flush(mail(name))
    assert kinds_of(frames) == sent
    # Rows that move onto the page are rendered; rows that were there already are not.
    assert frames[0].count("<tr") == 1
    assert order_in(frames) == keys(*order)


def test_row_that_no_longer_matches_the_filter_is_updated_and_leaves() -> None:
    informer = world(3)
    open_list = view(informer, "?status=ok")
    bring(informer, pod("p-01", waiting="CrashLoopBackOff"))
    frames = open_list.flush(mail("p-01"))
    assert kinds_of(frames) == ["rows", "summary", "pager", "order"]
    assert 'data-key="shop/p-01"' in frames[0]
    assert order_in(frames) == keys("p-00", "p-02")


def test_row_that_left_the_page_is_still_updated_for_viewers_that_hold_it() -> None:
    informer = world(3)
    open_list = view(informer, "?limit=2&sort=name")
    bring(informer, pod("a"))
    open_list.flush(mail("a"))
    bring(informer, pod("p-01", restarts=7))
    [frame] = open_list.flush(mail("p-01"))
    assert 'data-key="shop/p-01"' in frame
    take_away(informer, pod("p-01"))
    assert kinds_of(open_list.flush(mail("p-01"))) == ["gone", "summary", "pager", "total"]


def test_row_that_returns_to_the_page_is_sent_again() -> None:
    informer = world(2)
    open_list = view(informer, "?limit=2&sort=name")
    bring(informer, pod("a"))
    open_list.flush(mail("a"))
    take_away(informer, pod("a"))
    frames = open_list.flush(mail("a"))
    assert order_in(frames) == keys("p-00", "p-01")
    assert 'data-key="shop/p-01"' in frames[0]
    assert frames[0].count("<tr") == 1


def test_rows_that_left_are_tracked_up_to_one_page() -> None:
    informer = world(3)
    open_list = view(informer, "?limit=2&sort=name")
    for name in ("f", "e", "d", "c", "b", "a"):
        bring(informer, pod(name))
        open_list.flush(mail(name))
    for number, name in enumerate(("a", "b", "c", "d", "e", "f"), 1):
        bring(informer, pod(name, restarts=number))
    [frame] = open_list.flush(mail("a", "b", "c", "d", "e", "f"))
    assert frame.count("<tr") == 4
    assert not {"e", "f"} & {key for key in "abcdef" if f'data-key="shop/{key}"' in frame}


def test_order_is_sent_only_when_it_changes() -> None:
    informer = world(3)
    open_list = view(informer)
    bring(informer, pod("p-03"))
    assert order_in(open_list.flush(mail("p-03")))
    assert open_list.flush(STATE) == []
    bring(informer, pod("p-04"))
    frames = open_list.flush(mail("p-04"))
    assert order_in(frames) == keys("p-00", "p-01", "p-02", "p-03", "p-04")
    page = open_list.page()
    assert json.loads(frames[-1]) == {
        "order": [row.key for row in page.rows],
        "url": URL,
        "total": 5,
        "etag": page.etag,
    }


def test_deletion_is_sent_once_and_the_row_may_return() -> None:
    informer = world(3)
    open_list = view(informer)
    take_away(informer, pod("p-01"))
    assert '{"gone":["shop/p-01"]}' in open_list.flush(mail("p-01"))
    assert open_list.flush(mail("p-01")) == []
    bring(informer, pod("p-01", restarts=5))
    frames = open_list.flush(mail("p-01"))
    assert kinds_of(frames) == ["rows", "summary", "pager", "order"]


def test_overflow_checks_every_row() -> None:
    informer = world(4)
    open_list = view(informer, "?limit=3&sort=name")
    bring(informer, pod("p-01", restarts=5))
    take_away(informer, pod("p-02"))
    frames = open_list.flush(OVERFLOW)
    assert kinds_of(frames) == ["rows", "gone", "summary", "pager", "order"]
    assert frames[0].count("<tr") == 2
    assert open_list.flush(OVERFLOW) == []


def test_changes_in_other_projects_do_not_rebuild_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    informer = world(3)
    open_list = view(informer, "?namespace=shop")

    def looked(*args: object) -> object:
        raise AssertionError("looked")

    monkeypatch.setattr("console.live.listview.build_table", looked)
    assert open_list.flush(mail("x", namespace="team-a")) == []
    with pytest.raises(AssertionError, match="looked"):
        open_list.flush(mail("p-01"))


def test_changes_in_invisible_projects_do_not_rebuild_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    informer = preloaded(PODS, [pod("a", "team-a"), pod("s", "secret")])
    open_list = view(informer, access=FakeAccess("alice", list_in={"team-a"}))

    def looked(*args: object) -> object:
        raise AssertionError("looked")

    monkeypatch.setattr("console.live.listview.build_table", looked)
    assert open_list.flush(mail("s", namespace="secret")) == []
    with pytest.raises(AssertionError, match="looked"):
        open_list.flush(mail("a", namespace="team-a"))


def test_denied_viewer_reads_nothing() -> None:
    informer = world(3)
    access = admin()
    open_list = view(informer, access=access)
    access.list_in = ()
    for news in (NOTHING, STATE, OVERFLOW, mail("p-00")):
        with pytest.raises(Denied):
            open_list.flush(news)
    with pytest.raises(Denied):
        ListView(spec_of(""), "en", informer).update(NOTHING, charlie())


def test_empty_list_fills_and_empties() -> None:
    informer = world(0)
    open_list = view(informer)
    bring(informer, pod("p-01"))
    assert order_in(open_list.flush(mail("p-01"))) == keys("p-01")
    take_away(informer, pod("p-01"))
    frames = open_list.flush(mail("p-01"))
    assert kinds_of(frames) == ["gone", "summary", "pager", "order"]
    assert order_in(frames) == []


def test_returning_viewer_receives_the_difference() -> None:
    informer = world(4)
    open_list = view(informer, "?limit=3&sort=name")
    had = known(open_list.page())
    bring(informer, pod("p-00", restarts=3))
    take_away(informer, pod("p-02"))
    open_list.flush(mail("p-00", "p-02"))
    frames = open_list.catch_up(had)
    assert frames is not None
    assert kinds_of(frames) == ["rows", "gone", "summary", "pager", "order"]
    assert frames[0].count("<tr") == 2
    assert order_in(frames) == keys("p-00", "p-01", "p-03")


def test_rows_in_another_order_are_reordered() -> None:
    open_list = view(world(3))
    page = known(open_list.page())
    assert page.rows is not None
    turned = before(open_list.page(), dict(reversed(list(page.rows.items()))))
    frames = open_list.catch_up(turned)
    assert frames is not None
    assert order_in(frames) == keys("p-00", "p-01", "p-02")
    assert "rows" not in kinds_of(frames)
    # The total that this viewer has received is unknown.
    same = open_list.catch_up(before(open_list.page(), dict(page.rows)))
    assert same is not None
    assert kinds_of(same) == ["summary", "pager", "total"]


@pytest.mark.parametrize(
    "stranger",
    [
        lambda table: before(table, None),
        lambda table: ClientState("", {}),
        lambda table: ClientState("", {"shop/p-00": "x"}),
        lambda table: before(table, {f"shop/q-{n}": "x" for n in range(101)}),
        lambda table: ClientState("other-columns", {"shop/p-00": "x"}),
    ],
    ids=["no-rows", "cold", "no-etag", "too-many", "other-columns"],
)
def test_viewer_that_does_not_send_its_rows_must_fetch(
    stranger: Callable[[Table], ClientState],
) -> None:
    open_list = view(world(1))
    assert open_list.catch_up(before(open_list.page(), {"shop/p-00": "x"})) is not None
    assert open_list.catch_up(stranger(open_list.page())) is None


def test_rows_claimed_by_a_browser_reveal_nothing() -> None:
    informer = preloaded(PODS, [pod("a", "team-a"), pod("s", "secret")])
    access = FakeAccess("alice", list_in={"team-a"}, delete_in=())
    open_list = view(informer, access=access)
    claimed = {"secret/s": "x", "secret/none": "x", "team-a/a": "x", "odd": "x"}
    claim = before(open_list.page(), claimed)
    frames = open_list.catch_up(claim)
    assert frames is not None
    assert '{"gone":["odd","secret/none","secret/s"]}' in frames
    assert frames[0].count("<tr") == 1
    assert 'data-key="team-a/a"' in frames[0]


def test_flush_checks_each_permission_once() -> None:
    """For the rows of the page and for the rows that left it."""
    informer = world(3)
    opened = view(informer, "?limit=2&sort=name")
    bring(informer, pod("a-1"))
    opened.flush(mail("a-1"))
    for name in ("p-00", "p-01"):
        bring(informer, pod(name, restarts=7))
    access = CountingAccess(admin())
    sent = opened.live.update(mail("p-00", "p-01"), access)
    assert all(key in sent[0] for key in keys("p-00", "p-01"))
    assert {asked: times for asked, times in access.asked.items() if times > 1} == {}
