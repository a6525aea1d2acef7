"""Controllers: level-triggered loops that reconcile the cluster with the objects' desired state.

A reconciler receives the name of an object, reads the current state from the cache, compares and
acts. It is called for every object at startup, for every change of an object, and after failures
with a delay that doubles each time. It must be idempotent and must tolerate concurrent writers.
See https://kubernetes.io/docs/concepts/architecture/controller/.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from console.kube.errors import ApiError, Conflict
from console.kube.gvr import GVR, Key
from console.kube.workqueue import WorkQueue

if TYPE_CHECKING:
    from console.kube.runtime import Runtime

log = logging.getLogger(__name__)

#: Seconds until the next attempt if a cache is not synced.
UNSYNCED_RETRY = 1.0


@dataclass(frozen=True, slots=True)
class Request:
    """The name of the object to reconcile. The object may not exist anymore."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a reconciliation. `requeue_after`: reconcile again after this many seconds."""

    requeue_after: float | None = None


class TerminalError(Exception):
    """A failure that a retry cannot fix unless the object changes."""


class NotSynced(Exception):
    """A cache that the reconciler needs is not synced. The request is retried soon."""


class DependencyUnavailable(Exception):
    """A dependency outside the cluster, such as a database, does not respond."""


class Reconciler(Protocol):
    name: str
    gvr: GVR

    async def reconcile(self, request: Request) -> Result:
        """Reconcile one object. Any exception causes a retry with backoff.

        `DependencyUnavailable` and `ApiError` are logged without a traceback. After
        `TerminalError` there is no retry before the next change. `NotSynced` causes a retry soon
        and does not count as a failure.
        """
        ...


@runtime_checkable
class GroupingReconciler(Protocol):
    """A reconciler that handles several objects in one request."""

    def request_for(self, key: Key) -> Request | None:
        """Return the request for a change of `key`, or None for no request.

        It must be the same for all objects that are reconciled together.
        """
        ...


@dataclass(slots=True)
class ControllerStats:
    """Statistics of one controller in this process.

    `done` and `failed` count reconciliations since startup. `waiting` is the number of queued
    requests, including `early`, the requests whose cache was not synced. `retrying` is the
    number of requests whose last attempt failed.
    """

    done: int = 0
    failed: int = 0
    waiting: int = 0
    retrying: int = 0
    early: set[Request] = field(default_factory=set)


Factory = Callable[["Runtime"], Reconciler]
_factories: list[Factory] = []
_queues: dict[str, WorkQueue[Request]] = {}
_progress: dict[str, ControllerStats] = {}


def controller_stats() -> Mapping[str, ControllerStats]:
    """Return the statistics of every controller that has run in this process, by name."""
    for name, queue in _queues.items():
        found = _progress[name]
        found.waiting, found.retrying = len(queue) + len(found.early), queue.retrying
    return dict(_progress)


def register(factory: Factory) -> None:
    """Add a controller for `run_all`. Call it while Django starts."""
    _factories.append(factory)


async def run_all(runtime: "Runtime") -> None:
    """Run every registered controller until cancelled. Core thread only."""
    async with asyncio.TaskGroup() as tasks:
        for factory in _factories:
            tasks.create_task(run(runtime, factory(runtime)))


async def run(runtime: "Runtime", reconciler: Reconciler, *, workers: int = 2) -> None:
    """Run one reconciler until cancelled."""
    queue: WorkQueue[Request] = WorkQueue(clock=runtime.clock)
    _queues[reconciler.name] = queue
    told = _progress.setdefault(reconciler.name, ControllerStats())
    informer = runtime.informer(reconciler.gvr)

    request_for = (
        reconciler.request_for if isinstance(reconciler, GroupingReconciler) else _request_for
    )

    def changed(key: Key) -> None:
        request = request_for(key)
        if request is not None:
            queue.add(request)

    remove = informer.add_listener(changed)
    for key in informer.store.snapshot().entries:
        changed(key)
    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(workers):
                tasks.create_task(_work(queue, reconciler, told))
    finally:
        remove()
        queue.shut_down()
        if _queues.get(reconciler.name) is queue:
            del _queues[reconciler.name]
            told.waiting = told.retrying = 0
            told.early.clear()


def _request_for(key: Key) -> Request:
    return Request(key.namespace, key.name)


async def _work(queue: WorkQueue[Request], reconciler: Reconciler, told: ControllerStats) -> None:
    while (request := await queue.get()) is not None:
        told.early.discard(request)
        try:
            result = await reconciler.reconcile(request)
        except NotSynced:
            told.early.add(request)
            queue.add_after(request, UNSYNCED_RETRY)
        except TerminalError as error:
            told.failed += 1
            log.warning("%s %s: %s", reconciler.name, request.name, error)
            queue.forget(request)
        except Conflict as error:
            # Another client wrote first, and the watch delivers its change. This is not a failure.
            delay = queue.add_rate_limited(request)
            log.debug("%s %s: %s; retrying in %.1f s", reconciler.name, request.name, error, delay)
        except (ApiError, DependencyUnavailable) as error:
            told.failed += 1
            delay = queue.add_rate_limited(request)
            log.info("%s %s: %s; retrying in %.1f s", reconciler.name, request.name, error, delay)
        except Exception:
            told.failed += 1
            delay = queue.add_rate_limited(request)
            log.exception("%s %s failed; retrying in %.1f s", reconciler.name, request.name, delay)
        else:
            told.done += 1
            queue.forget(request)
            if result.requeue_after is not None:
                queue.add_after(request, result.requeue_after)
        finally:
            queue.done(request)
        # A reconciliation without changes never suspends, and this loop also renews the lease.
        await asyncio.sleep(0)
