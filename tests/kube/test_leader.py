"""Leader election over an in-memory Lease with simulated clocks."""

import asyncio
import copy
from typing import Any, cast

import pytest

from console.kube.clients import ObjectClient
from console.kube.errors import ApiError, Conflict, NotFound, Unavailable
from console.kube.leader import LEASE_SECONDS, RENEW_WITHIN, RETRY_EVERY, Leader, NotLeading
from tests.rbac.fakes import MovableClock

Manifest = dict[str, Any]


class Server:
    """A server with one Lease and the update rules of kube-apiserver."""

    def __init__(self) -> None:
        self.lease: Manifest | None = None
        self.version = 0
        self.down = False

    async def get(self, *_: Any, **__: Any) -> Manifest:
        self._answer()
        if self.lease is None:
            raise NotFound(404, "no lease")
        return copy.deepcopy(self.lease)

    async def create(self, _gvr: Any, body: Manifest, **_: Any) -> Manifest:
        self._answer()
        if self.lease is not None:
            raise Conflict(409, "there is one")
        return self._store(body)

    async def replace(self, _gvr: Any, body: Manifest, **_: Any) -> Manifest:
        self._answer()
        if self.lease is None:
            raise NotFound(404, "no lease")
        if body["metadata"].get("resourceVersion") != str(self.version):
            raise Conflict(409, "it was changed")
        return self._store(body)

    def _answer(self) -> None:
        if self.down:
            raise Unavailable("no answer")

    def _store(self, body: Manifest) -> Manifest:
        self.version += 1
        self.lease = copy.deepcopy(body)
        self.lease["metadata"]["resourceVersion"] = str(self.version)
        return self.lease

    @property
    def holder(self) -> str:
        return str((self.lease or {"spec": {}})["spec"].get("holderIdentity", ""))


class Ticking(MovableClock):
    """A clock whose sleeps end when the test advances it."""

    def __init__(self) -> None:
        super().__init__()
        self._moved = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        until = self.monotonic() + seconds
        while self.monotonic() < until:
            await self._moved.wait()
            await asyncio.sleep(0)

    async def pass_by(self, seconds: float) -> None:
        """Advance the clock in small steps, and let all tasks run between them."""
        for _ in range(round(seconds * 2)):
            self.move(seconds=0.5)
            self._moved.set()
            for _ in range(10):
                await asyncio.sleep(0)
            self._moved.clear()


class Working:
    """Record the current and the maximum number of workers."""

    def __init__(self) -> None:
        self.now: list[str] = []
        self.most = 0

    def of(self, name: str) -> Any:
        async def work() -> None:
            self.now.append(name)
            self.most = max(self.most, len(self.now))
            try:
                await asyncio.Event().wait()
            finally:
                self.now.remove(name)

        return work


def leader(server: Server, clock: MovableClock, name: str) -> Leader:
    client = cast(ObjectClient, server)
    return Leader(client, clock, name="lease", namespace="here", identity=name)


async def end(*tasks: "asyncio.Task[None]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_one_of_two_works_and_the_other_takes_over() -> None:
    server, clock, working = Server(), Ticking(), Working()
    a, b = leader(server, clock, "a"), leader(server, clock, "b")
    first = asyncio.create_task(a.run(working.of("a")))
    await clock.pass_by(1)
    second = asyncio.create_task(b.run(working.of("b")))
    await clock.pass_by(60)
    assert (working.now, server.holder) == (["a"], "a")
    assert a.leading
    with pytest.raises(NotLeading):
        b.check()
    await end(first)
    assert server.holder == ""
    await clock.pass_by(RETRY_EVERY + 1)
    assert (working.now, working.most) == (["b"], 1)
    await end(second)


async def test_crashed_leader_is_replaced_only_after_the_lease_expires() -> None:
    server, clock, working = Server(), Ticking(), Working()
    await leader(server, clock, "dead")._try()
    task = asyncio.create_task(leader(server, clock, "b").run(working.of("b")))
    await clock.pass_by(LEASE_SECONDS - 1)
    assert working.now == []
    await clock.pass_by(RETRY_EVERY + 2)
    assert working.now == ["b"]
    await end(task)


async def test_clock_skew_does_not_cause_two_leaders() -> None:
    server, clock, working = Server(), Ticking(), Working()
    holds = asyncio.create_task(leader(server, clock, "a").run(working.of("a")))
    await clock.pass_by(3)
    assert server.lease is not None
    far = Ticking()
    far.move(days=300)
    waits = asyncio.create_task(leader(server, far, "b").run(working.of("b")))
    for _ in range(20):
        await clock.pass_by(2)
        await far.pass_by(2)
    assert (working.now, working.most) == (["a"], 1)
    await end(holds, waits)


async def test_leader_without_a_server_response_stops_before_the_lease_expires() -> None:
    server, clock, working = Server(), Ticking(), Working()
    a = leader(server, clock, "a")
    task = asyncio.create_task(a.run(working.of("a")))
    await clock.pass_by(4)
    server.down = True
    await clock.pass_by(RENEW_WITHIN - 3)
    assert working.now == ["a"]
    await clock.pass_by(4)
    assert working.now == []
    assert not a.leading
    server.down = False
    await clock.pass_by(RETRY_EVERY + 1)
    # No other replica acquired it.
    assert (working.now, a.transitions) == (["a"], 2)
    await end(task)


async def test_external_change_of_the_lease_does_not_end_leadership() -> None:
    server, clock, working = Server(), Ticking(), Working()
    task = asyncio.create_task(leader(server, clock, "a").run(working.of("a")))
    await clock.pass_by(1)
    assert server.lease is not None
    for _ in range(10):
        server._store({**server.lease, "metadata": {"labels": {"x": "y"}}})
        await clock.pass_by(1.5)
    assert (working.now, server.holder) == (["a"], "a")
    await end(task)


async def test_suspended_leader_may_not_write_when_it_resumes() -> None:
    server, clock = Server(), Ticking()
    a = leader(server, clock, "a")
    assert await a._try()
    a.check()
    clock.move(seconds=RENEW_WITHIN)
    with pytest.raises(ApiError):
        a.check()


async def test_failing_work_is_reported_and_releases_the_lease() -> None:
    server, clock = Server(), Ticking()

    async def fail() -> None:
        raise ValueError("no")

    task = asyncio.create_task(leader(server, clock, "a").run(fail))
    await clock.pass_by(3)
    with pytest.raises(ValueError, match="no"):
        await task
    assert server.holder == ""


@pytest.mark.parametrize("turns", range(20))
async def test_racing_candidates_elect_one_leader(turns: int) -> None:
    server, clock, working = Server(), Ticking(), Working()
    names = [f"r{number}" for number in range(5)]
    tasks = [asyncio.create_task(leader(server, clock, n).run(working.of(n))) for n in names]
    for turn in range(4):
        await clock.pass_by(turns % 7 + 1)
        server.down = (turns + turn) % 3 == 0
        await clock.pass_by(LEASE_SECONDS)
        server.down = False
    await clock.pass_by(LEASE_SECONDS + RETRY_EVERY)
    assert len(working.now) == working.most == 1
    await end(*tasks)
