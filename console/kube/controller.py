"""Controllers: level-triggered loops that make the world match what objects say.

A reconciler gets a name, reads the world from the cache, compares and acts; it is called again for
every change of the object, after failures with a doubling delay, and at start for every object. It
must be idempotent and must not assume to be alone. See
https://kubernetes.io/docs/concepts/architecture/controller/.
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

#: Seconds until another look when a cache has no list yet.
UNSYNCED_RETRY = 1.0


@dataclass(frozen=True, slots=True)
class Request:
    """Which object to look at; it may be gone."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Result:
    """`requeue_after`: look again after that many seconds, whatever happens."""

    requeue_after: float | None = None


class TerminalError(Exception):
    """Trying again without a change of the object is useless."""


class NotSynced(Exception):
    """A cache that the look needs has no list yet. It is taken again soon."""


class Away(Exception):
    """Something that the look needs beside the cluster does not answer, such as a database."""


class Reconciler(Protocol):
    name: str
    gvr: GVR

    async def reconcile(self, request: Request) -> Result:
        """Any exception means: again later (an `Away` and an `ApiError` are known troubles, of which the
        log tells no more than the words); a `TerminalError` means: not before the next change; a
        `NotSynced`: soon, and that is no failure."""
        ...


@runtime_checkable
class Folding(Protocol):
    """A reconciler that looks at several objects together."""

    def request_for(self, key: Key) -> Request | None:
        """The look that a change of this object asks for, the same for all that are looked at together;
        None for no look."""
        ...


@dataclass(slots=True)
class Progress:
    """How one controller does in this process. `done` and `failed` count looks since the start; `waiting`
    are objects to look at, `early` among them those that were looked at too early, `retrying` those
    whose last look failed."""

    done: int = 0
    failed: int = 0
    waiting: int = 0
    retrying: int = 0
    early: set[Request] = field(default_factory=set)


Factory = Callable[["Runtime"], Reconciler]
_factories: list[Factory] = []
_queues: dict[str, WorkQueue[Request]] = {}
_progress: dict[str, Progress] = {}


def progress() -> Mapping[str, Progress]:
    """Of every controller that ran here, by its name."""
    for name, queue in _queues.items():
        found = _progress[name]
        found.waiting, found.retrying = len(queue) + len(found.early), queue.retrying
    return dict(_progress)


def register(factory: Factory) -> None:
    """Adds a controller to those that `run_all` runs. Called while Django starts."""
    _factories.append(factory)


async def run_all(runtime: "Runtime") -> None:
    """Runs every registered controller until cancelled. On the core's loop."""
    async with asyncio.TaskGroup() as tasks:
        for factory in _factories:
            tasks.create_task(run(runtime, factory(runtime)))


async def run(runtime: "Runtime", reconciler: Reconciler, *, workers: int = 2) -> None:
    """Feeds one reconciler until cancelled."""
    queue: WorkQueue[Request] = WorkQueue(clock=runtime.clock)
    _queues[reconciler.name] = queue
    told = _progress.setdefault(reconciler.name, Progress())
    informer = runtime.informer(reconciler.gvr)

    request_for = reconciler.request_for if isinstance(reconciler, Folding) else _request_for

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


async def _work(queue: WorkQueue[Request], reconciler: Reconciler, told: Progress) -> None:
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
            # Somebody else was quicker, and the watch brings what they wrote: that is no failure.
            delay = queue.add_rate_limited(request)
            log.debug("%s %s: %s; again in %.1f s", reconciler.name, request.name, error, delay)
        except (ApiError, Away) as error:
            told.failed += 1
            delay = queue.add_rate_limited(request)
            log.info("%s %s: %s; again in %.1f s", reconciler.name, request.name, error, delay)
        except Exception:
            told.failed += 1
            delay = queue.add_rate_limited(request)
            log.exception("%s %s failed; again in %.1f s", reconciler.name, request.name, delay)
        else:
            told.done += 1
            queue.forget(request)
            if result.requeue_after is not None:
                queue.add_after(request, result.requeue_after)
        finally:
            queue.done(request)
        # A look that changes nothing waits for nothing, and the lease is renewed on this loop.
        await asyncio.sleep(0)
