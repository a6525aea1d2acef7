"""Following logs over a websocket: lines are neither lost nor repeated, and permissions apply."""

import asyncio
import json
from collections.abc import Mapping

import pytest

from console.audit.models import AuditRecord
from console.kube.errors import Forbidden
from console.live.limits import SocketCap
from console.live.sessionmonitor import get_session_monitor
from console.logs.consumer import MAX_UNACKNOWLEDGED, LogConsumer
from console.logs.following import Follower
from console.logs.runs import ContainerRun
from console.streams.stream import ResponseStream
from console.ui.core.clusters import clusters
from devcluster.controllers.behaviour import ANNOTATION
from devcluster.logs.options import LogOptions, read_log_options
from devcluster.logs.runs import RATE_ANNOTATION, TEXT_ANNOTATION
from tests.controlplane.waiting import eventually
from tests.logs.conftest import World
from tests.logs.followers import TIMEOUT, Browser, following, written
from tests.ui.support import FakeAccess

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogConsumer, "cap", SocketCap(3))


def same(browser: Browser, world: World, name: str) -> None:
    """Check that the received lines are a contiguous part of the cluster's lines."""
    whole = written(world, name)
    first = whole.index(browser.lines[0])
    assert browser.lines == whole[first : first + len(browser.lines)]


async def test_lines_arrive_as_written(world: World) -> None:
    path = world.start(world.pod("live", **{RATE_ANNOTATION: "300"}))
    async with following(Browser(f"{path}?tail=10")) as browser:
        await browser.until(400)
        assert browser.sources == ["app"]
        same(browser, world, "live")
        stamp, count, run = browser.at["app"]
        assert (stamp, count) == (browser.lines[-1][0], 1) and run.startswith("containerd://")


async def test_client_that_does_not_acknowledge_pauses_the_stream_without_loss(
    world: World,
) -> None:
    path = world.start(world.pod("paused", **{RATE_ANNOTATION: "5000"}))
    async with following(Browser(f"{path}?tail=1", answers=False)) as browser:
        unread = 0
        while not await browser.socket.receive_nothing(timeout=0.5):
            unread += len(json.dumps(await browser.hear()))
        assert MAX_UNACKNOWLEDGED < unread < 3 * MAX_UNACKNOWLEDGED
        held = len(browser.lines)
        browser.answers = True
        await browser.socket.send_to(text_data=json.dumps({"ack": 10**6}))
        await browser.until(held + 10_000)
        same(browser, world, "paused")


async def test_cluster_outage_loses_no_line(world: World) -> None:
    path = world.start(world.pod("cut", **{RATE_ANNOTATION: "1000"}))
    async with following(Browser(f"{path}?tail=5")) as browser:
        await browser.until(300)
        world.cluster.kill()
        world.cluster.start()
        await browser.until(len(browser.lines) + 2000)
        same(browser, world, "cut")
        assert not any("missing" in note for note in browser.notes)


async def test_reconnected_websocket_continues_at_its_position(world: World) -> None:
    path = world.start(world.pod("again", **{RATE_ANNOTATION: "1000"}))
    async with following(Browser(f"{path}?tail=5")) as first:
        await first.until(100)
    async with following(Browser(f"{path}?tail=5"), first.at) as second:
        await second.until(300)
    second.lines = [*first.lines, *second.lines]
    same(second, world, "again")


async def test_kubelet_that_ignores_the_start_time_repeats_no_line(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kubelet sends the whole log each time."""

    def ignoring(name: str, query: Mapping[str, str]) -> LogOptions:
        ignored = ("sinceTime", "tailLines")
        return read_log_options(name, {k: v for k, v in query.items() if k not in ignored})

    monkeypatch.setattr("devcluster.subresources.read_log_options", ignoring)
    path = world.start(world.pod("lenient", **{RATE_ANNOTATION: "300"}))
    async with following(Browser(f"{path}?tail=5")) as first:
        await first.until(100)
    async with following(Browser(f"{path}?tail=5"), first.at) as second:
        await second.until(100)
    second.lines = [*first.lines, *second.lines]
    same(second, world, "lenient")
    assert second.notes == []


def _follow_never(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every followed log end immediately, so that the console must reopen it."""
    followed = Follower._followed

    def never(self: Follower, run: ContainerRun) -> list[tuple[str, str]]:
        return [one for one in followed(self, run) if one[0] != "follow"]

    monkeypatch.setattr(Follower, "_followed", never)


async def test_follow_requests_back_off_if_the_node_cannot_follow(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kubelet without free inotify watches ends each followed log immediately."""
    path = world.start(world.pod("crowded", **{RATE_ANNOTATION: "50"}))
    monkeypatch.setattr("console.logs.following.MIN_RETRY_WAIT", 0.02)
    monkeypatch.setattr("console.logs.following.MAX_RETRY_WAIT", 0.1)
    waits: list[float] = []
    pause = Follower._pause

    async def paused(self: Follower) -> None:
        waits.append(self._wait)
        await pause(self)

    _follow_never(monkeypatch)
    monkeypatch.setattr(Follower, "_pause", paused)
    async with following(Browser(f"{path}?tail=1")) as browser:
        while len(waits) < 5:
            await browser.until(len(browser.lines) + 1)
        same(browser, world, "crowded")
    assert waits[:5] == [0.02, 0.04, 0.08, 0.1, 0.1]


async def test_forbidden_responses_are_retried_while_permissions_load(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restarted kube-apiserver refuses permitted requests for a moment after each start."""
    path = world.start(world.pod("forbidden", **{RATE_ANNOTATION: "50"}))
    monkeypatch.setattr("console.logs.following.MIN_RETRY_WAIT", 0.02)
    # Of two consecutive requests, the second succeeds.
    monkeypatch.setattr("console.logs.following.FORBIDDEN_RETRY_SECONDS", 0.0)
    opened, asked = ResponseStream.open, 0

    async def every_second_time(self: ResponseStream) -> None:
        nonlocal asked
        asked += 1
        if asked % 2 == 0:
            raise Forbidden(403, "not yet")
        await opened(self)

    _follow_never(monkeypatch)
    monkeypatch.setattr(ResponseStream, "open", every_second_time)
    async with following(Browser(f"{path}?tail=1")) as browser:
        while asked < 6:
            await browser.until(len(browser.lines) + 1)
        same(browser, world, "forbidden")


async def test_resume_position_counts_lines_with_equal_timestamps(world: World) -> None:
    """Lines of that timestamp that were received already are skipped, the others are sent."""
    path = world.start(world.pod("equal", **{TEXT_ANNOTATION: "a\nb\nc"}))
    eventually(lambda: len(written(world, "equal")) == 3, "all is written")
    stamp = written(world, "equal")[1][0]
    for count, expected in ((0, ["b", "c"]), (1, ["c"])):
        async with following(Browser(path), {"app": [stamp, count, ""]}) as browser:
            await browser.until(len(expected))
            assert [text for _, text in browser.lines] == expected


async def test_rotated_log_file_is_reported(world: World) -> None:
    path = world.start(world.pod("rotated", **{TEXT_ANNOTATION: "a\nb"}))
    eventually(lambda: len(written(world, "rotated")) == 2, "all is written")
    at = {"app": ["2020-01-01T00:00:00.000000000Z", 1, ""]}
    async with following(Browser(path), at) as browser:
        await browser.until(2)
        assert browser.notes == ["Some lines may be missing here because the log was rotated."]


async def test_restarted_container_is_followed_and_each_run_is_read_once(world: World) -> None:
    pod = world.pod("restarts", **{ANNOTATION: "crash error boom", RATE_ANNOTATION: "20"})
    path = world.start(pod)
    async with following(Browser(path)) as browser:
        while "The container was restarted." not in browser.notes:
            await browser.hear()
        await browser.until(len(browser.lines) + 30)
        assert any(
            "terminated: it exited with an error (exit 1, Error)." in note for note in browser.notes
        )
    before = written(world, "restarts", "&previous=true")
    now = written(world, "restarts")
    assert browser.lines == [*before, *now][: len(browser.lines)]
    assert [text for _, text in before].count("boom") == 1


async def test_several_containers_are_merged(world: World) -> None:
    path = world.start(world.pod("pair", "app", "proxy", **{RATE_ANNOTATION: "100"}))
    async with following(Browser(f"{path}?container=*&tail=20")) as browser:
        await browser.until(300)
        assert browser.sources == ["app", "proxy"] and set(browser.at) == {"app", "proxy"}


async def test_only_lines_matching_the_search_arrive(world: World) -> None:
    path = world.start(world.pod("search", **{RATE_ANNOTATION: "500"}))
    async with following(Browser(f"{path}?q=cache")) as browser:
        await browser.until(30)
        assert all("cache" in text for _, text in browser.lines)


async def test_deleted_pod_ends_the_log(world: World) -> None:
    path = world.start(world.pod("going"))
    async with following(Browser(path)) as browser:
        await browser.until(2)
        world.stop("going")
        while "The pod no longer exists." not in browser.notes:
            await browser.hear()


async def test_losing_the_permission_ends_the_log_within_two_seconds(world: World) -> None:
    path = world.start(world.pod("right", **{RATE_ANNOTATION: "20000"}))
    browser = Browser(path, answers=False)
    async with following(browser):
        await browser.until(1000)
        assert browser.access is not None
        browser.access.get_in = ()
        async with asyncio.timeout(2):
            assert await browser.error() == (403, 4403)


async def test_unconfirmed_permission_makes_the_browser_reconnect(world: World) -> None:
    path = world.start(world.pod("unsure", **{RATE_ANNOTATION: "100"}))
    browser = Browser(path)
    async with following(browser):
        await browser.until(20)
        assert browser.access is not None
        browser.access.get_in, browser.access.doubt = (), True
        assert await browser.error() == (503, 1013)
    async with following(Browser(path, browser.access)) as again:
        assert await again.error() == (503, 1013)


async def test_ended_session_ends_the_log_within_two_seconds(world: World) -> None:
    path = world.start(world.pod("session", **{RATE_ANNOTATION: "20000"}))
    browser = Browser(path, answers=False)
    async with following(browser):
        await browser.until(1000)
        browser.alive = False
        get_session_monitor()._on_rights(clusters.host)
        async with asyncio.timeout(2):
            assert await browser.error() == (401, 4401)


async def test_each_followed_log_is_recorded_in_the_audit_trail(world: World) -> None:
    path = world.start(world.pod("trail"))
    async with following(Browser(path)) as browser:
        await browser.until(2)
        (record,) = [one async for one in AuditRecord.objects.all()]
        assert (record.actor, record.verb, record.subresource) == ("admin", "get", "log")
        assert record.path == f"/ws{path}"
    (record,) = [one async for one in AuditRecord.objects.all()]
    assert record.code == 200


@pytest.mark.parametrize(
    ("query", "code"),
    [("tail=0", 400), ("container=zz", 400), ("level=loud", 400), ("&" * 1500, 400)],
)
async def test_invalid_parameters_are_refused(world: World, query: str, code: int) -> None:
    path = world.start(world.pod(f"bad-{query.partition('=')[0].strip('&')}x"))
    async with following(Browser(f"{path}?{query}")) as browser:
        assert (await browser.error())[0] == code


async def test_forbidden_and_missing_pods_are_refused(world: World) -> None:
    path = world.start(world.pod("other"))
    mark = world.cluster.audit.mark()
    eve = Browser(path, FakeAccess("eve", get_in=(), list_in=()))
    async with following(eve):
        assert await eve.error() == (403, 4403)
    assert world.asked(mark) == []
    for gone in (path.replace("other", "nobody"), path.replace("/host/", "/mars/")):
        async with following(Browser(gone)) as browser:
            assert (await browser.error())[0] == 404
    nobody = Browser(path, None)
    connected, _ = await nobody.socket.connect(timeout=TIMEOUT)
    assert not connected


@pytest.mark.parametrize(
    "text",
    ["{}", '{"follow": 1}', '{"follow":"en","x":1}', '{"follow":"en","at":{"a":["\\u0000",1,""]}}',
     '{"ack":1}', "[" * 5000],
)  # fmt: skip
async def test_invalid_message_closes_the_websocket(world: World, text: str) -> None:
    browser = Browser("/clusters/host/projects/default/pods/any/log")
    await browser.socket.connect(timeout=TIMEOUT)
    await browser.socket.send_to(text_data=text)
    message = await browser.socket.receive_output(timeout=TIMEOUT)
    assert (message["type"], message["code"]) == ("websocket.close", 1008)


async def test_followed_logs_are_limited_per_account(world: World) -> None:
    path = world.start(world.pod("many"))
    async with following(Browser(path)), following(Browser(path)), following(Browser(path)):
        fourth = Browser(path)
        fourth.socket.scope["language"] = "zh-hans"
        await fourth.socket.connect(timeout=TIMEOUT)
        error = (await fourth.hear())["error"]
        assert error == {"code": 429, "message": "打开的日志过多，请关闭一些。"}
        assert (await fourth.socket.receive_output(timeout=TIMEOUT))["code"] == 1013
        await fourth.leave()
