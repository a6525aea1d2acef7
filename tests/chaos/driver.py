"""Apply the faults of a schedule to the control plane and the connection."""

import time
from collections.abc import Callable, Sequence
from threading import Thread

from tests.chaos.history import History, Violation
from tests.chaos.observer import Observer
from tests.chaos.schedule import SILENT, Fault, Schedule, Step
from tests.chaos.world import World
from tests.controlplane.cluster import APISERVER, ETCD
from tests.controlplane.proxy import RecordedRequest, Script, ScriptedResponse, refusal

__all__ = ["Driver"]

#: Seconds without data after which an informer must report that it is stale, and the tolerance for
#: a loaded machine.
_HONEST, _SLACK = 15.0, 1.5


class Driver:
    """Runs schedules. `run` returns when all faults are over; `restarts` counts the faults after
    which informers may list again.
    """

    def __init__(self, world: World, observer: Observer, history: History) -> None:
        self._world, self._observer, self._history = world, observer, history
        self._cluster, self._proxy = world.cluster, world.proxy
        self._problems: list[BaseException] = []

    def run(self, schedule: Schedule) -> None:
        """Run both lanes. Raise the first error of either lane."""
        lanes = [
            Thread(target=self._lane, args=(lane,)) for lane in (schedule.server, schedule.wire)
        ]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        if self._problems:
            raise self._problems[0]

    def _lane(self, steps: Sequence[Step]) -> None:
        try:
            for step in steps:
                time.sleep(step.pause)
                self._history.note("fault", fault=str(step), number=step.number)
                self._do(step)
                self._history.note("fault over", fault=str(step))
        except BaseException as error:  # noqa: BLE001 - told by `run`, on the schedule's thread
            self._problems.append(error)

    def _do(self, step: Step) -> None:
        match step.fault:
            case Fault.KILL_API:
                self._cluster.kill()
                self._hold(step)
                self._cluster.restart()
            case Fault.FREEZE_API:
                self._frozen(APISERVER, step)
            case Fault.RESTART_COMPACTED:
                self._cluster.kill()
                self._cluster.compact()
                self._cluster.restart()
            case Fault.KILL_ETCD:
                self._cluster.kill(ETCD)
                self._hold(step)
                self._cluster.restart(ETCD)
            case Fault.FREEZE_ETCD:
                self._frozen(ETCD, step)
            case Fault.COMPACT:
                self._cluster.compact()
            case Fault.REVOKE:
                self._world.revoke()
                # An open watch continues after its permission was revoked, so only the next watch
                # fails.
                self._proxy.reset()
                self._hold(step)
                self._world.grant()
            case _:
                self._break_line(step)

    def _frozen(self, program: str, step: Step) -> None:
        self._cluster.freeze(program)
        self._hold(step)
        self._cluster.thaw(program)
        self._cluster.wait_ready()

    def _break_line(self, step: Step) -> None:
        proxy = self._proxy
        begin: dict[Fault, Callable[[], None]] = {
            Fault.RESET: proxy.reset,
            Fault.CUT: lambda: proxy.cut(after=step.number),
            Fault.REFUSE: proxy.refuse,
            Fault.HALF_OPEN: proxy.swallow,
            Fault.STORM: lambda: proxy.answer(_storm(step.number)),
            Fault.ERRORS: lambda: proxy.answer(_errors()),
            Fault.PIECES: lambda: proxy.deliver(piece=step.number, hold=0.02),
        }
        begin[step.fault]()
        if step.fault in (Fault.REFUSE, Fault.STORM, Fault.ERRORS):
            proxy.reset()
        self._hold(step)
        proxy.heal()

    def _hold(self, step: Step) -> None:
        """Wait for the duration of the fault. If it is long enough, check that the informers report
        that they are stale.
        """
        began = time.monotonic()
        watched = step.fault in SILENT and step.seconds > _HONEST + _SLACK
        if watched:
            time.sleep(_HONEST + _SLACK)
            self._must_doubt()
        time.sleep(max(0.0, began + step.seconds - time.monotonic()))
        if watched:
            self._must_doubt()

    def _must_doubt(self) -> None:
        for gvr, informer in self._observer.informers.items():
            if informer.freshness.stale_since is None:
                raise Violation(f"{gvr.qualified} says that it is fresh after {_HONEST:g} s")


def _storm(seconds: int) -> Script:
    """Answer all requests with 429, as an overloaded server does."""

    def answer(seen: RecordedRequest) -> ScriptedResponse | None:
        return refusal(429, "TooManyRequests", retry_after=seconds)

    return answer


def _errors() -> Script:
    """Answer lists and watches with 500, 503, 504, and "Too large resource version" in turn."""
    count = iter(range(10**9))
    answers = (
        refusal(500, "InternalError"),
        refusal(503, "ServiceUnavailable"),
        refusal(504, "Timeout", "Too large resource version: 9, current: 1",
                retry_after=1, cause="ResourceVersionTooLarge"),
    )  # fmt: skip

    def answer(seen: RecordedRequest) -> ScriptedResponse | None:
        return answers[next(count) % len(answers)] if seen.verb != "get" else None

    return answer
