"""What an open list sends, worked out without a socket."""

import json
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.live.mailbox import Mail
from console.live.subscribe import Subscription
from console.live.view import LiveView
from console.ui.decisions import Denied
from console.ui.places import find_list
from console.ui.table import rows
from tests.live.conftest import URL
from tests.ui.support import FakeAccess, admin, charlie, pod

NOTHING = Mail(frozenset(), overflow=False, state=False)
STATE = Mail(frozenset(), overflow=False, state=True)
OVERFLOW = Mail(frozenset(), overflow=True, state=False)


def mail(*names: str, namespace: str = "shop") -> Mail:
    keys = frozenset(Key(namespace, name) for name in names)
    return Mail(keys, overflow=False, state=False)


def view(informer: Informer[Any], query: str = "", access: FakeAccess | None = None) -> LiveView:
    """An open list whose browser has what the page shows now."""
    place = find_list(URL + query)
    assert place is not None
    access = access or admin()
    etag = rows(place.spec, access, informer).etag
    found = LiveView(Subscription(place, etag, "en"), access, informer)
    assert len(found.start()) == 1
    return found


def kinds_of(frames: list[str]) -> list[str]:
    """Each frame by what it is."""
    found = []
    for frame in frames:
        if frame.startswith("{"):
            found.append(next(iter(json.loads(frame))))
        else:
            ids = ("summary", "pager", "freshness")
            found.append(next((i for i in ids if f'id="{i}"' in frame), "rows"))
    return found


def refresh_in(frames: list[str]) -> dict[str, Any] | None:
    for frame in frames:
        if frame.startswith('{"refresh"'):
            return dict(json.loads(frame))
    return None


def world(count: int) -> Informer[Any]:
    return Informer.preloaded(PODS, [pod(f"p-{n:02}") for n in range(count)])


def test_nothing_new_is_nothing_sent() -> None:
    informer = world(3)
    open_list = view(informer)
    assert open_list.flush(NOTHING) == []
    assert open_list.flush(STATE) == []
    assert open_list.flush(mail("p-00")) == []


def test_many_changes_of_one_row_are_one_frame() -> None:
    informer = world(3)
    open_list = view(informer)
    for restarts in range(1, 9):
        informer.apply(pod("p-01", restarts=restarts))
    frames = open_list.flush(mail("p-01"))
    assert kinds_of(frames) == ["rows"]
    assert frames[0].count("<tr") == 1
    assert ">8<" in frames[0]
    assert open_list.flush(mail("p-01")) == []


def test_many_rows_are_one_frame() -> None:
    informer = world(5)
    open_list = view(informer)
    for n in range(5):
        informer.apply(pod(f"p-{n:02}", restarts=1))
    [frame] = open_list.flush(mail(*(f"p-{n:02}" for n in range(5))))
    assert frame.count("<tr") == 5


def test_a_row_that_changed_back_sends_nothing() -> None:
    informer = world(2)
    open_list = view(informer)
    informer.apply(pod("p-01", restarts=1))
    informer.apply(pod("p-01"))
    assert open_list.flush(mail("p-01")) == []


def test_changes_on_other_pages_change_the_counts_alone() -> None:
    informer = world(6)
    open_list = view(informer, "?limit=2")
    informer.apply(pod("p-05", restarts=1))
    assert open_list.flush(mail("p-05")) == []
    informer.apply(pod("p-06"))
    assert kinds_of(open_list.flush(mail("p-06"))) == ["summary", "pager"]


@pytest.mark.parametrize(
    ("name", "remove", "told"),
    [("p-aa", False, (1, 0)), ("p-00", True, (0, 1))],
)
def test_a_page_that_shifts_counts_what_happened(
    name: str, remove: bool, told: tuple[int, int]
) -> None:
    informer = world(6)
    open_list = view(informer, "?limit=2&sort=name")
    if remove:
        informer.remove(pod(name))
    else:
        name = "a-new-one"
        informer.apply(pod(name))
    refresh = refresh_in(open_list.flush(mail(name)))
    assert refresh is not None
    assert (refresh["added"], refresh["removed"]) == told


def test_a_row_that_the_filter_no_longer_fits_is_one_less() -> None:
    informer = world(3)
    open_list = view(informer, "?status=ok")
    informer.apply(pod("p-01", waiting="CrashLoopBackOff"))
    frames = open_list.flush(mail("p-01"))
    assert kinds_of(frames) == ["rows", "summary", "pager", "refresh"]
    assert refresh_in(frames) == {"refresh": True, "added": 0, "removed": 1}


def test_a_refresh_is_said_once_until_there_is_more() -> None:
    informer = world(3)
    open_list = view(informer)
    informer.apply(pod("p-03"))
    assert refresh_in(open_list.flush(mail("p-03")))
    assert not refresh_in(open_list.flush(STATE))
    informer.apply(pod("p-04"))
    assert refresh_in(open_list.flush(mail("p-04"))) == {
        "refresh": True,
        "added": 2,
        "removed": 0,
    }


def test_what_is_gone_is_said_once_and_never_redrawn() -> None:
    informer = world(3)
    open_list = view(informer)
    informer.remove(pod("p-01"))
    assert '{"gone":["shop/p-01"]}' in open_list.flush(mail("p-01"))
    assert open_list.flush(mail("p-01")) == []
    informer.apply(pod("p-01", restarts=5))
    assert "rows" not in kinds_of(open_list.flush(mail("p-01")))


def test_an_overflow_is_one_refresh_and_then_silence() -> None:
    informer = world(3)
    open_list = view(informer)
    informer.apply(pod("p-01", restarts=5))
    assert kinds_of(open_list.flush(OVERFLOW)) == ["refresh"]
    informer.apply(pod("p-01", restarts=6))
    assert open_list.flush(mail("p-01")) == []
    assert open_list.flush(OVERFLOW) == []


def test_other_projects_are_not_even_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    informer = world(3)
    open_list = view(informer, "?namespace=shop")

    def looked(*args: object) -> object:
        raise AssertionError("looked")

    monkeypatch.setattr("console.live.view.rows", looked)
    assert open_list.flush(mail("x", namespace="team-a")) == []
    with pytest.raises(AssertionError, match="looked"):
        open_list.flush(mail("p-01"))


def test_rights_are_decided_at_every_flush_before_anything_is_read() -> None:
    informer = world(3)
    access = admin()
    open_list = view(informer, access=access)
    access.list_in = ()
    for news in (NOTHING, STATE, OVERFLOW, mail("p-00")):
        with pytest.raises(Denied):
            open_list.flush(news)


def test_there_is_nothing_to_start_without_rights() -> None:
    place = find_list(URL)
    assert place is not None
    with pytest.raises(Denied):
        LiveView(Subscription(place, "", "en"), charlie(), world(1)).start()


def test_an_empty_list_that_fills_and_empties() -> None:
    informer = world(0)
    open_list = view(informer)
    informer.apply(pod("p-01"))
    assert refresh_in(open_list.flush(mail("p-01")))
    open_list = view(informer)
    informer.remove(pod("p-01"))
    frames = open_list.flush(mail("p-01"))
    assert kinds_of(frames) == ["gone", "summary", "pager", "refresh"]
