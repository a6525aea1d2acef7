"""Controllers that crash after any of their writes, with an in-memory console client."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from console.kube.controller import Factory
from console.kube.gvr import EVENTS, GVR
from tests.rbac.fakes import FakeConsole, FakeRuntime, Manifest
from tests.support.controllers import Controllers

WRITES = ("create", "replace", "patch", "apply", "delete")
#: Maximum number of rounds until nothing changes. More indicate controllers that write against each
#: other.
ROUNDS = 30


class Crash(BaseException):
    """The process was killed. Not an Exception, so that no handler catches it."""


class Crashing:
    """Console client that is interrupted at its write number `at`, before (`lost`) or after the
    write reached the server.
    """

    def __init__(self, console: FakeConsole, at: int, *, lost: bool) -> None:
        self._console, self._at, self._lost = console, at, lost
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._console, name)
        if name not in WRITES:
            return found

        async def write(*args: Any, **kwargs: Any) -> Any:
            self.writes += 1
            # A dead process writes nothing, including pending calls.
            if 0 < self._at < self.writes or (self.writes == self._at and self._lost):
                raise Crash
            answer = await found(*args, **kwargs)
            if self.writes == self._at:
                raise Crash
            return answer

        return write


Cluster = Callable[[FakeRuntime], None]


async def settle(
    runtime: FakeRuntime, factories: Sequence[Factory], cluster: Cluster = lambda _: None
) -> None:
    """Run the controllers of a new process until idle. `cluster` simulates Kubernetes' own
    controllers.
    """
    controllers = Controllers(runtime, factories)
    for _ in range(ROUNDS):
        before = runtime.console.version, len(runtime.console.objects)
        worked = await controllers.work()
        cluster(runtime)
        if not worked and (runtime.console.version, len(runtime.console.objects)) == before:
            return
    raise AssertionError("the controllers do not come to rest")


def state(
    runtime: FakeRuntime, without: Callable[[GVR, Manifest], Manifest] = lambda _, item: item
) -> Mapping[tuple[GVR, str], Manifest]:
    """Return all objects without versions and events."""
    found = {}
    for (gvr, place), item in runtime.console.objects.items():
        if gvr != EVENTS:
            meta = {
                k: v for k, v in item["metadata"].items() if k not in ("resourceVersion", "uid")
            }
            found[gvr, place] = without(gvr, {**item, "metadata": meta})
    return found


async def crash_everywhere(
    make: Callable[[], FakeRuntime],
    factories: Sequence[Factory],
    *,
    cluster: Cluster = lambda _: None,
    without: Callable[[GVR, Manifest], Manifest] = lambda _, item: item,
) -> int:
    """Assert that the final state is the same for each interrupted write. Return the number of
    writes.
    """
    whole = make()
    counting = Crashing(whole.console, 0, lost=False)
    whole.console = cast(FakeConsole, counting)
    await settle(whole, factories, cluster)
    wanted = state(whole, without)
    for at in range(1, counting.writes + 1):
        for lost in (True, False):
            runtime = make()
            console = runtime.console
            runtime.console = cast(FakeConsole, Crashing(console, at, lost=lost))
            try:
                await settle(runtime, factories, cluster)
            except Crash:
                runtime.console = console
                await settle(runtime, factories, cluster)
            assert state(runtime, without) == wanted, (at, lost)
    return counting.writes
