"""Probes of kube-apiserver, and waking of informers."""

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest

from console.kube.errors import ApiError, ServerError, Unavailable
from console.kube.heartbeat import PROBE_INTERVAL, PROBE_RETRY, Heartbeat
from tests.kube.fakes import FakeClock


class Reader:
    """Respond to probes as scripted, then never again."""

    def __init__(self, *answers: ApiError | None) -> None:
        self.answers = list(answers)
        self.done = asyncio.Event()

    async def ready(self) -> None:
        if not self.answers:
            self.done.set()
            await asyncio.Event().wait()
        answer = self.answers.pop(0)
        if answer is not None:
            raise answer


class Noting:
    """Record the calls of a heartbeat to an informer."""

    def __init__(self) -> None:
        self.doubts: list[datetime | None] = []
        self.woken = 0
        self.renewed = 0
        self.renewed_at: int | None = None

    def set_unresponsive_since(self, since: datetime | None) -> None:
        self.doubts.append(since)

    def wake(self) -> None:
        self.woken += 1

    def restart_watches(self) -> None:
        self.renewed += 1
        self.renewed_at = len(self.doubts)


def pulse_of(reader: Any, *informers: Any, clock: FakeClock) -> Heartbeat:
    return Heartbeat(reader, lambda: informers, clock)


async def run(heartbeat: Heartbeat, reader: Reader) -> None:
    task = asyncio.create_task(heartbeat.run())
    async with asyncio.timeout(5):
        await reader.done.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_informer_is_in_doubt_while_the_server_does_not_respond() -> None:
    clock, informer = FakeClock(), Noting()
    gone = Unavailable("No response")
    reader = Reader(None, gone, gone, None)
    heartbeat = pulse_of(reader, informer, clock=clock)
    began = clock.now()
    await run(heartbeat, reader)
    assert informer.doubts == [None, began, began, None]
    # When notified that the server is available, the informer must already know that its open
    # connections may be dead.
    assert informer.renewed_at == 3
    assert (informer.woken, informer.renewed) == (1, 1)
    assert clock.sleeps == [PROBE_INTERVAL, PROBE_RETRY, PROBE_RETRY, PROBE_INTERVAL]
    assert (heartbeat.last_response - began).total_seconds() == PROBE_INTERVAL + 2 * PROBE_RETRY


async def test_server_without_etcd_leaves_informers_in_doubt() -> None:
    clock, informer = FakeClock(), Noting()
    body = b"[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n"
    reader = Reader(ServerError(500, "not ready", body=body), None)
    began = clock.now()
    await run(pulse_of(reader, informer, clock=clock), reader)
    assert informer.doubts == [began, None]
    assert (informer.woken, informer.renewed) == (1, 1)


async def test_server_that_is_not_ready_counts_as_available() -> None:
    clock, informer = FakeClock(), Noting()
    reader = Reader(ServerError(500, "not ready"), None)
    heartbeat = pulse_of(reader, informer, clock=clock)
    await run(heartbeat, reader)
    assert informer.doubts == [None, None]
    assert (informer.woken, informer.renewed) == (1, 0)


async def test_several_reasons_wake_an_informer_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.kube.heartbeat.WAKE_GAP", 0.0)
    informers = Noting(), Noting()
    heartbeat = pulse_of(Reader(), *informers, clock=FakeClock())
    for _ in range(100):
        heartbeat.wake_soon()
    await asyncio.sleep(0.001)
    assert [informer.woken for informer in informers] == [1, 1]
    heartbeat.wake_soon()
    await asyncio.sleep(0.001)
    assert [informer.woken for informer in informers] == [2, 2]
