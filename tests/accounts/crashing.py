"""Controllers that crash after any of their writes, over the console client of dictionaries."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from console.kube.controller import Factory
from console.kube.gvr import EVENTS, GVR
from tests.controllers import Controllers
from tests.rbac.fakes import FakeConsole, FakeRuntime, Manifest

WRITES = ("create", "replace", "patch", "apply", "delete")
#: Rounds until nothing changes; more of them is a fight between controllers.
ROUNDS = 30


class Crash(BaseException):
    """The process is gone: nobody handles it."""


class Crashing:
    """A console client that is cut off at its `at`th write: before it reached the server, or after."""

    def __init__(self, console: FakeConsole, at: int, *, lost: bool) -> None:
        self._console, self._at, self._lost = console, at, lost
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._console, name)
        if name not in WRITES:
            return found

        async def write(*args: Any, **kwargs: Any) -> Any:
            self.writes += 1
            # Who is dead writes nothing, whatever was to follow or was under way.
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
    """What controllers of a new process do until nothing is left. `cluster`: what Kubernetes itself does
    meanwhile."""
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
    """Everything but versions and events."""
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
    """The end is the same wherever the controllers were cut off. Returns how many writes there are."""
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
