"""Permissions and sessions of live websockets."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from console.kube.gvr import USERS
from console.kube.informer import Informer
from console.live.sessionmonitor import SessionMonitor
from tests.live.conftest import URL, Browser, Browsers, Session
from tests.rbac.objects import user
from tests.support.informers import bring, preloaded, take_away
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice, charlie, pod


async def test_websocket_requires_an_account_and_permissions() -> None:
    assert not await Browser(None).connect()
    nobody = Browser(admin())
    nobody._socket.scope["access_in"] = None
    assert not await nobody.connect()
    unchecked = Browser(admin())
    del unchecked._socket.scope["session_alive"]
    assert not await unchecked.connect()


async def test_subscription_without_permission_is_refused_and_closed(browsers: Browsers) -> None:
    browser = await browsers(charlie())
    await browser.say(json.dumps({"subscribe": URL}))
    error = (await browser.control())["error"]
    assert (error["code"], error["message"]) == (403, "You don't have permission to list pods.")
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
        (_finds_an_authorizer_that_fails, "控制台发生内部错误。"),
        (_is_signed_out, "会话已结束。"),
    ],
)
async def test_closing_error_uses_the_language_of_the_page(
    browsers: Browsers,
    pods: Informer[Any],
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[Browser], None],
    said: str,
) -> None:
    """The code that detects the end has no active language."""
    monkeypatch.setattr(SessionMonitor, "check_seconds", 0.05)
    browser = await browsers(admin())
    await browser.subscribe(lang="zh-hans")
    await browser.frame()
    happens(browser)
    bring(pods, pod("web-1", restarts=5))
    while not (frame := await browser.frame()).startswith("{"):
        pass
    assert json.loads(frame)["error"]["message"] == said


async def test_initial_denial_uses_the_requested_language(
    browsers: Browsers,
) -> None:
    browser = await browsers(charlie())
    await browser.say(json.dumps({"subscribe": URL, "lang": "zh-hans"}))
    assert (await browser.control())["error"]["message"] == "无权列出容器组。"


async def test_subscription_to_a_forbidden_project_is_refused_and_closed(
    browsers: Browsers,
) -> None:
    browser = await browsers(alice())
    await browser.say(json.dumps({"subscribe": f"{URL}?namespace=shop"}))
    assert (await browser.control())["error"]["code"] == 403
    assert await browser.closed() == 4403


async def test_changes_in_other_projects_are_not_sent(
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


async def test_lost_permission_closes_the_websocket_before_another_row_is_sent(
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


async def test_changed_binding_triggers_a_new_permission_check(
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


async def test_first_subscriber_after_all_left_is_notified_of_permission_changes(
    browsers: Browsers, bindings: Informer[Any]
) -> None:
    first = Browser(admin())
    assert await first.connect()
    await first.leave()
    await test_changed_binding_triggers_a_new_permission_check(browsers, bindings)


async def test_reduced_permissions_remove_rows(browsers: Browsers, pods: Informer[Any]) -> None:
    access = FakeAccess("alice", list_in={"team-a", "shop"}, delete_in=())
    browser = await browsers(access)
    await browser.subscribe()
    await browser.frame()
    access.list_in = {"team-a"}
    bring(pods, pod("web-1", restarts=5))
    gone = (await browser.control())["gone"]
    assert sorted(gone) == ["shop/cart-1", "shop/web-1", "shop/web-2"]


async def test_failing_authorizer_closes_the_websocket(
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


async def test_end_of_the_session_closes_the_websocket(
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


async def test_changed_binding_triggers_a_session_check(
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


async def test_sending_frames_does_not_check_the_session(
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


async def test_moving_to_another_shared_view_sends_the_freshness(
    browsers: Browsers, pods: Informer[Any], bindings: Informer[Any]
) -> None:
    """Permissions may return before, with or after the cluster. A new shared view only knows the
    state at its creation and must not assume that its viewers received it.
    """
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


async def test_changed_user_affects_only_that_users_websockets(
    browsers: Browsers, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """User objects change with every sign-in: `lastLoginTime`."""
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
