"""Who may follow a list, and what ends that."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from console.kube.gvr import USERS
from console.kube.informer import Informer
from console.live.sessionmonitor import SessionMonitor
from tests.informers import bring, preloaded, take_away
from tests.live.conftest import URL, Browser, Browsers, Session
from tests.rbac.objects import user
from tests.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice, charlie, pod


async def test_without_an_account_or_rights_there_is_no_socket() -> None:
    assert not await Browser(None).connect()
    nobody = Browser(admin())
    nobody._socket.scope["access_in"] = None
    assert not await nobody.connect()
    unchecked = Browser(admin())
    del unchecked._socket.scope["session_alive"]
    assert not await unchecked.connect()


async def test_no_right_is_an_error_and_the_end(browsers: Browsers) -> None:
    browser = await browsers(charlie())
    await browser.say(json.dumps({"subscribe": URL}))
    error = (await browser.control())["error"]
    assert (error["code"], error["message"]) == (403, "You may not list pods.")
    assert await browser.closed() == 4403


def _loses_the_right(browser: Browser) -> None:
    assert browser.access is not None
    browser.access.list_in = ()


def _finds_an_authorizer_that_fails(browser: Browser) -> None:
    assert browser.access is not None
    browser.access.namespaces_where = None  # type: ignore[assignment, method-assign]


def _is_signed_out(browser: Browser) -> None:
    browser.session.alive = False


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (_loses_the_right, "无权列出容器组。"),
        (_finds_an_authorizer_that_fails, "控制台出错。"),
        (_is_signed_out, "会话已结束。"),
    ],
)
async def test_what_ends_it_is_said_in_the_language_of_the_page(
    browsers: Browsers,
    pods: Informer[Any],
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[Browser], None],
    said: str,
) -> None:
    """Whoever finds out has no language of its own."""
    monkeypatch.setattr(SessionMonitor, "check_seconds", 0.05)
    browser = await browsers(admin())
    await browser.subscribe(lang="zh-hans")
    await browser.frame()
    happens(browser)
    bring(pods, pod("web-1", restarts=5))
    while not (frame := await browser.frame()).startswith("{"):
        pass
    assert json.loads(frame)["error"]["message"] == said


async def test_a_denial_at_the_beginning_is_in_the_language_that_was_asked_for(
    browsers: Browsers,
) -> None:
    browser = await browsers(charlie())
    await browser.say(json.dumps({"subscribe": URL, "lang": "zh-hans"}))
    assert (await browser.control())["error"]["message"] == "无权列出容器组。"


async def test_a_forbidden_project_is_an_error_and_the_end(browsers: Browsers) -> None:
    browser = await browsers(alice())
    await browser.say(json.dumps({"subscribe": f"{URL}?namespace=shop"}))
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403


async def test_alice_hears_nothing_of_other_projects(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    browser = await browsers(alice())
    await browser.subscribe()
    await browser.frame()
    bring(pods, pod("web-1", restarts=77))
    bring(pods, pod("secret", "team-b"))
    take_away(pods, pod("web-2"))
    assert await browser.quiet()
    bring(pods, pod("api-1", "team-a", restarts=1))
    assert 'data-key="team-a/api-1"' in await browser.html()


async def test_a_lost_right_ends_the_socket_before_another_row(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    access = admin()
    browser = await browsers(access)
    await browser.subscribe()
    await browser.frame()
    access.list_in = ()
    bring(pods, pod("web-1", restarts=5))
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403


async def test_a_changed_binding_asks_for_a_new_decision(
    browsers: Browsers, bindings: Informer[Any]
) -> None:
    access = admin()
    browser = await browsers(access)
    await browser.subscribe()
    await browser.frame()
    access.list_in = ()
    bring(
        bindings,
        {"metadata": {"name": "b", "resourceVersion": "2"}, "roleRef": {"kind": "x", "name": "y"}},
    )
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403


async def test_who_comes_after_the_last_one_has_left_hears_of_rights_as_well(
    browsers: Browsers, bindings: Informer[Any]
) -> None:
    first = Browser(admin())
    assert await first.connect()
    await first.leave()
    await test_a_changed_binding_asks_for_a_new_decision(browsers, bindings)


async def test_a_narrowed_right_takes_rows_away(browsers: Browsers, pods: Informer[Any]) -> None:
    access = FakeAccess("alice", list_in={"team-a", "shop"}, delete_in=())
    browser = await browsers(access)
    await browser.subscribe()
    await browser.frame()
    access.list_in = {"team-a"}
    bring(pods, pod("web-1", restarts=5))
    gone = (await browser.control())["gone"]
    assert sorted(gone) == ["shop/cart-1", "shop/web-1", "shop/web-2"]


async def test_an_authorizer_that_fails_shows_nothing(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    access = admin()
    browser = await browsers(access)
    await browser.subscribe()
    await browser.frame()

    def broken(verb: str, gvr: object, subresource: str = "") -> None:
        raise RuntimeError("secret detail")

    access.namespaces_where = broken  # type: ignore[method-assign]
    bring(pods, pod("web-1", restarts=5))
    error = await browser.control()
    assert error["error"]["code"] == 500
    assert "secret" not in json.dumps(error)
    assert await browser.closed() == 1013


async def test_the_end_of_the_session_ends_the_socket(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionMonitor, "check_seconds", 0.05)
    session = Session()
    browser = await browsers(admin(), session)
    await browser.subscribe()
    await browser.frame()
    session.alive = False
    assert (await browser.control())["error"]["code"] == 401
    assert await browser.closed() == 4401


async def test_a_changed_binding_looks_at_the_session(
    browsers: Browsers, bindings: Informer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionMonitor, "check_gap", 0.0)
    session = Session()
    browser = await browsers(admin(), session)
    session.alive = False
    bring(
        bindings,
        {"metadata": {"name": "b", "resourceVersion": "2"}, "roleRef": {"kind": "x", "name": "y"}},
    )
    assert (await browser.control())["error"]["code"] == 401
    assert await browser.closed() == 4401


async def test_frames_are_made_without_looking_at_the_session(
    browsers: Browsers, pods: Informer[Any]
) -> None:
    session = Session()
    browser = await browsers(admin(), session)
    await browser.subscribe()
    await browser.frame()
    for restarts in range(10, 15):
        bring(pods, pod("web-1", restarts=restarts))
        await browser.frame()
    assert session.asked == 0


async def test_whoever_changes_screens_is_told_how_fresh_it_is(
    browsers: Browsers, pods: Informer[Any], bindings: Informer[Any]
) -> None:
    """Rights may come back before, with or after the cluster: a new shared view knows no other state than
    the one that it began with, and must not take its viewers to have heard of it."""
    access = FakeAccess("eve", delete_in=None)
    browser = await browsers(access)
    await browser.subscribe()
    await browser.frame()
    pods.disconnected("away")
    assert 'data-state="stale"' in await browser.html()
    access.delete_in = ()
    pods.connected()
    bring(bindings, {"metadata": {"name": "b", "uid": "b", "resourceVersion": "9"}})
    assert 'data-state="live"' in await browser.html()


async def test_a_change_of_a_user_is_news_to_that_users_sockets_alone(
    browsers: Browsers, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users change with every login: `lastLoginTime`."""
    monkeypatch.setattr(SessionMonitor, "check_gap", 0.0)
    users: Informer[Any] = preloaded(USERS, [user("alice"), user("eve")])
    runtime._informers[USERS] = users
    mine, others = Session(), Session()
    browser, other = await browsers(alice(), mine), await browsers(charlie(), others)
    bring(users, user("eve", state="Disabled"))
    assert await browser.quiet()
    assert (mine.asked, others.asked) == (0, 0)
    mine.alive = False
    bring(users, user("alice", state="Disabled"))
    assert (await browser.control())["error"]["code"] == 401
    assert await browser.closed() == 4401
    assert await other.quiet()
    assert others.asked == 0
