"""Container runs in quick succession: each run is read, or a possibly missing run is reported.

The pods are on a node that doesn't exist, so the tests write their status.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from console.kube.gvr import PODS
from console.logs import following as words
from console.logs.runs import ContainerRuns
from console.streams.stream import ResponseStream
from devcluster.logs.runs import TEXT_ANNOTATION
from tests.contract.pages import known
from tests.devcluster.conftest import Obj
from tests.logs.conftest import POD_PATH, World
from tests.logs.followers import Browser, Line, following, written

pytestmark = pytest.mark.django_db(transaction=True)

WAITS = {"waiting": {"reason": "CrashLoopBackOff"}}
AGAIN = "The container was restarted."
ENDED = "The container has terminated: it exited with an error (exit 3, Error)."
LOST, ROTATED = str(words.LOST), str(words.ROTATED)
BEGIN = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=5)


def at(number: int, seconds: int = 0) -> str:
    """Return a time within a run. Runs are ten seconds apart."""
    return f"{BEGIN + timedelta(seconds=10 * number + seconds):%Y-%m-%dT%H:%M:%SZ}"


def ended(number: int) -> Obj:
    moments = {"startedAt": at(number), "finishedAt": at(number, 3)}
    end = {"containerID": f"containerd://{number}", "exitCode": 3, "reason": "Error", **moments}
    return {"terminated": end}


def running(number: int) -> Obj:
    return {"running": {"startedAt": at(number)}}


class Pod:
    """A pod whose status the test writes. `says` sets the restart count, the state and the last
    state of the container.
    """

    def __init__(self, world: World, name: str) -> None:
        pod = world.pod(name, **{TEXT_ANNOTATION: "one\ntwo"})
        pod["spec"]["nodeName"] = "elsewhere"
        self.world, self.name, self._path = world, name, f"{POD_PATH}/{name}"
        made = world.api.post(POD_PATH, pod)
        known(world.runtime, PODS, made)
        self.path = f"/clusters/host/projects/default/pods/{name}/log"

    def says(self, number: int, state: Obj, last: Obj | None = None) -> None:
        status: dict[str, Any] = {"name": "app", "image": "example/app:1", "imageID": "x"}
        status |= {"restartCount": number, "ready": False, "state": state, "lastState": last or {}}
        if "running" in state:
            status["containerID"] = f"containerd://{number}"
        body = {"status": {"phase": "Running", "containerStatuses": [status]}}
        code, found = self.world.api.call("PATCH", f"{self._path}/status", body)
        assert code == 200, found
        known(self.world.runtime, PODS, found)

    def lines(self, query: str = "") -> list[Line]:
        return written(self.world, self.name, query)


async def begun(browser: Browser) -> None:
    """Wait until the browser waits for the first run."""
    while not any("waiting to start" in note for note in browser.notes):
        await browser.hear()
    browser.notes.clear()


async def noted(browser: Browser, note: str) -> None:
    while note not in browser.notes:
        await browser.hear()


async def test_run_that_ended_before_its_log_was_opened_is_read(world: World) -> None:
    pod = Pod(world, "quick")
    async with following(Browser(pod.path)) as browser:
        await begun(browser)
        pod.says(1, running(1), ended(0))
        await noted(browser, AGAIN)
        await browser.until(len(pod.lines("&previous=true")) + 2)
    assert browser.lines == [*pod.lines("&previous=true"), *pod.lines()]
    assert browser.notes == [ENDED, AGAIN]


async def test_unterminated_last_line_arrives_at_the_end_of_the_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some container runtimes pass the last output of a program on without a line ending."""
    pod, read = Pod(world, "unended"), ResponseStream.read
    held: dict[ResponseStream, bytes] = {}

    async def without_the_last_end(self: ResponseStream) -> bytes:
        piece = await read(self)
        if not piece:
            return b""
        given = held.get(self, b"") + piece
        whole = given.removesuffix(b"\n")
        held[self] = given[len(whole) :]
        return whole

    monkeypatch.setattr(ResponseStream, "read", without_the_last_end)
    async with following(Browser(pod.path)) as browser:
        await begun(browser)
        pod.says(0, running(0))
        await browser.until(1)
        pod.says(0, ended(0))
        await browser.until(2)
        assert browser.lines == pod.lines()


async def test_two_runs_that_ended_before_are_reported_as_missing(world: World) -> None:
    pod = Pod(world, "quicker")
    async with following(Browser(pod.path)) as browser:
        await begun(browser)
        pod.says(2, running(2), ended(1))
        await noted(browser, AGAIN)
        await browser.until(len(pod.lines("&previous=true")) + 2)
    assert browser.lines == [*pod.lines("&previous=true"), *pod.lines()]
    assert browser.notes[0] == LOST


def ahead(
    monkeypatch: pytest.MonkeyPatch,
    pod: Pod,
    number: int,
    *,
    previous: bool,
    state: Obj | None = None,
) -> None:
    """Simulate a kubelet that is ahead of the pod status.

    The new run starts just before a log is opened for the first time: the log of the previous
    run if `previous`. `state` is the state of a run that has already ended.
    """
    how = (running(number), ended(number - 1)) if state is None else (state, ended(number))
    opened, told = words.Follower._opened, False

    async def open_(self: words.Follower, params: Sequence[tuple[str, str]]) -> ResponseStream:
        nonlocal told
        if not told and previous == (("previous", "true") in params):
            told = True
            await asyncio.to_thread(pod.says, number, *how)
        return await opened(self, params)

    monkeypatch.setattr(words.Follower, "_opened", open_)


async def test_previous_run_is_not_mistaken_for_a_later_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run in the pod status ends before the log of the previous run is opened."""
    pod = Pod(world, "hasty")
    async with following(Browser(pod.path)) as browser:
        await begun(browser)
        ahead(monkeypatch, pod, 2, previous=True)
        pod.says(1, running(1), ended(0))
        await noted(browser, LOST)
        await browser.until(4)
    assert browser.lines == [*pod.lines("&previous=true"), *pod.lines()]


async def test_run_is_not_mistaken_for_its_predecessor(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run in the pod status ends before its own log is opened."""
    pod = Pod(world, "hastier")
    pod.says(0, running(0))
    ahead(monkeypatch, pod, 1, previous=False)
    async with following(Browser(pod.path)) as browser:
        await browser.until(2)
        pod.says(1, ended(1), ended(0))
        await noted(browser, LOST)
    assert browser.lines[:2] == pod.lines()[:2]


async def test_continuing_run_is_not_mistaken_for_its_predecessor(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run in the pod status ends before its own log is opened, and the next run writes nothing
    more and doesn't end.
    """
    monkeypatch.setattr(words, "CLOSE_AFTER", 0.1)
    pod = Pod(world, "hastiest")
    pod.says(0, running(0))
    ahead(monkeypatch, pod, 1, previous=False)
    async with following(Browser(pod.path)) as browser:
        await noted(browser, LOST)
        assert browser.lines == pod.lines()
    assert browser.notes.count(LOST) == 1


async def test_unread_lines_of_a_slow_reader_arrive_after_the_next_run_is_reported(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of a finished run is closed some time after the log of the next run was opened."""
    monkeypatch.setattr(words, "CLOSE_AFTER", 0.1)
    pod, read = Pod(world, "slow"), ResponseStream.read
    slow: list[ResponseStream] = []

    async def half(self: ResponseStream) -> bytes:
        if self not in slow:
            piece = await read(self)
            if slow:
                return piece
            slow.append(self)
            while piece.count(b"\n") < 2:
                piece += await read(self)
            # In the middle of the second line.
            return piece[:-3]
        while not self.closing:
            await asyncio.sleep(0.01)
        return b""

    pod.says(0, running(0))
    monkeypatch.setattr(ResponseStream, "read", half)
    async with following(Browser(pod.path)) as browser:
        await browser.until(1)
        pod.says(1, running(1), ended(0))
        await browser.until(len(pod.lines("&previous=true")) + 2)
        assert browser.lines == [*pod.lines("&previous=true"), *pod.lines()]
    assert not any("missing" in note for note in browser.notes)


@pytest.mark.parametrize("hears", [True, False])
async def test_first_run_lost_before_the_second_is_reported_is_marked_as_missing(
    world: World, monkeypatch: pytest.MonkeyPatch, hears: bool
) -> None:
    """When its log is opened, the second run has ended and waits for its restart, so both logs
    belong to the second run. With `hears`, the follower sees that state before the third run;
    otherwise it only sees the third run.
    """
    pod = Pod(world, f"first-{hears}".lower())
    changed, third_is_told = ContainerRuns.changed, asyncio.Event()

    async def changed_late(self: ContainerRuns, seconds: float | None = None) -> None:
        await third_is_told.wait()
        await changed(self, seconds)

    async with following(Browser(pod.path)) as browser:
        await begun(browser)
        ahead(monkeypatch, pod, 1, previous=False, state=WAITS)
        if not hears:
            monkeypatch.setattr(ContainerRuns, "changed", changed_late)
        pod.says(0, running(0))
        await noted(browser, LOST)
        assert browser.lines == pod.lines()
        if hears:
            await noted(browser, ENDED)
        pod.says(2, running(2), ended(1))
        third_is_told.set()
        await browser.until(4)
        assert browser.lines == [*pod.lines("&previous=true"), *pod.lines()]
    assert browser.notes.count(LOST) == 1


class Gone:
    """The kubelet's response for a missing log file."""

    def __init__(self) -> None:
        self._pieces = [b"unable to retrieve container logs for containerd://0"]

    async def read(self) -> bytes:
        return self._pieces.pop() if self._pieces else b""

    async def close(self) -> None: ...


async def test_first_run_without_a_log_file_is_reported_as_missing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run exists before the one that the pod status reports as first."""
    pod, opened = Pod(world, "unheard"), words.Follower._opened

    async def open_(self: words.Follower, params: Sequence[tuple[str, str]]) -> Any:
        return Gone() if ("previous", "true") in params else await opened(self, params)

    monkeypatch.setattr(words.Follower, "_opened", open_)
    async with following(Browser(pod.path)) as browser:
        await begun(browser)
        pod.says(0, running(0))
        await noted(browser, LOST)


async def test_waiting_container_has_only_the_log_of_its_last_run(world: World) -> None:
    """The log of the run before that is no longer available."""
    pod = Pod(world, "waits")
    async with following(Browser(pod.path)) as browser:
        await begun(browser)
        pod.says(1, WAITS, ended(1))
        await noted(browser, LOST)
        await browser.until(len(pod.lines()))
        assert browser.lines == pod.lines()
        pod.says(2, running(2), ended(1))
        await noted(browser, AGAIN)
        await browser.until(len(browser.lines) + 2)
        assert browser.lines == [*pod.lines("&previous=true"), *pod.lines()]
    assert browser.notes.count(LOST) == 1


async def test_each_run_is_opened_when_the_pod_status_reports_it(world: World) -> None:
    pod = Pod(world, "often")
    seen: list[Line] = []
    async with following(Browser(pod.path)) as browser:
        await begun(browser)
        for number in range(4):
            pod.says(number, running(number), ended(number - 1) if number else None)
            await browser.until(len(seen) + 2)
            pod.says(number, ended(number), ended(number - 1) if number else None)
            seen += pod.lines()
            await browser.until(len(seen))
            pod.says(number, WAITS, ended(number))
        assert browser.lines == seen
    assert browser.notes.count(AGAIN) == 3
    assert not any("missing" in note for note in browser.notes)


async def test_resuming_after_a_restart_continues_with_the_rest_of_the_previous_run(
    world: World,
) -> None:
    pod = Pod(world, "late")
    pod.says(0, ended(0))
    last = pod.lines()[0]
    pod.says(1, running(1), ended(0))
    where = {"app": [last[0], 1, "containerd://0"]}
    async with following(Browser(pod.path), where) as browser:
        await noted(browser, AGAIN)
        await browser.until(len(pod.lines("&previous=true")) + 1)
        assert browser.lines == [*pod.lines("&previous=true")[1:], *pod.lines()]
    assert not any("missing" in note for note in browser.notes)


async def test_run_without_a_log_file_is_reported_as_missing(world: World) -> None:
    pod = Pod(world, "gone")
    pod.says(0, ended(0))
    last = pod.lines()[0]
    pod.says(2, running(2), ended(1))
    async with following(Browser(pod.path), {"app": [last[0], 1, "containerd://0"]}) as browser:
        await browser.until(len(pod.lines("&previous=true")) + 2)
        assert browser.lines == [*pod.lines("&previous=true"), *pod.lines()]
    assert browser.notes[0] == LOST and ROTATED not in browser.notes
