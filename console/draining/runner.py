"""Runs drains: evicts the pods of a cordoned node and waits until they are deleted.

A drain uses the permissions of the user who started it. Every second it checks whether to stop:
on request, on timeout, when the session ends, when permissions are lost, or when the node is
replaced. Pods are identified by their UID. Evictions blocked by a disruption budget are retried.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from console.audit.trail import AuditAction as Recorded
from console.audit.trail import AuditUnavailable, record
from console.draining.plan import Disposition, NodePod, node_pod_of
from console.draining.results import EndReason, PodResult, PodStep, encode_results
from console.kube.clients import UserClient
from console.kube.errors import ApiError, Conflict, Forbidden, NotFound, TooManyRequests
from console.kube.gvr import NODES, PODS, Key
from console.kube.messages import Message
from console.kube.store import is_older
from console.live.perloop import PerLoop
from console.operations.models import State
from console.operations.store import OperationLost, finish_operation, record_heartbeat
from console.ui.core.access import Access
from console.ui.core.actions import Permission
from console.ui.core.clusters import Cluster
from console.ui.core.requests import UserSession
from console.views.problems import disruption_budget_text, has_cause

log = logging.getLogger(__name__)

#: Seconds between two checks of the pods and of the stop conditions.
CHECK_SECONDS = 1.0
#: Seconds before a failed eviction is retried.
RETRY_SECONDS = 5.0
MINUTE = 60.0
#: Number of concurrent evictions.
MAX_CONCURRENT_EVICTIONS = 8
#: Maximum characters of the stored message per pod.
MAX_MESSAGE_LENGTH = 300

NEEDS = (
    Permission("patch"),
    Permission("list", gvr=PODS),
    Permission("create", "eviction", gvr=PODS),
)


@dataclass(frozen=True, slots=True)
class DrainOrder:
    """Parameters of a drain. `version` is the resource version of the cordoned node, `recorded` the
    audit action of each eviction.
    """

    number: int
    cluster: Cluster
    node: Key
    uid: str
    version: str
    force: bool
    empty_dir: bool
    grace: int | None
    minutes: int
    presence: UserSession
    recorded: Recorded


class DrainTask:
    def __init__(self, order: DrainOrder) -> None:
        self._order = order
        self._until = _now() + order.minutes * MINUTE
        self._results: list[PodResult] = []
        self._due: dict[str, float] = {}
        self._stored_results: object = None
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_EVICTIONS)
        self._over = asyncio.Event()
        self._verdict: tuple[State, str] = (State.INTERRUPTED, "")

    async def run(self) -> None:
        """Run the drain until it ends. Cancelling the task interrupts the drain."""
        watch = asyncio.create_task(self._watch())
        try:
            await self._work()
        except Exception:
            log.exception("Drain %s failed", self._order.number)
            self._end(State.FAILED, EndReason.MISTAKE)
        finally:
            watch.cancel()
            state, reason = self._verdict
            try:
                results = encode_results(self._results)
                await sync_to_async(finish_operation)(self._order.number, state, reason, results)
            except DatabaseError as error:
                log.error("Cannot store the end of drain %s: %s", self._order.number, error)

    def _end(self, state: State, reason: str = "") -> None:
        """Set the final state, unless it is already set."""
        if not self._over.is_set():
            self._verdict = (state, reason)
            self._over.set()

    # Stop conditions.

    async def _watch(self) -> None:
        while not self._over.is_set():
            try:
                await self._look_around()
            except (DatabaseError, OperationLost) as error:
                # Without the database the drain can't be stopped by users, so it is interrupted.
                log.error("Drain %s interrupted: %r", self._order.number, error)
                self._end(State.INTERRUPTED)
            except Exception:
                log.exception("Drain %s failed", self._order.number)
                self._end(State.FAILED, EndReason.MISTAKE)
            await self._pause()

    async def _look_around(self) -> None:
        order, results = self._order, encode_results(self._results)
        news = None if results == self._stored_results else results
        if not await sync_to_async(record_heartbeat)(order.number, news):
            self._end(State.STOPPED)
        self._stored_results = results
        if _now() >= self._until:
            self._end(State.FAILED, EndReason.TIME)
        if not await order.presence.is_valid():
            self._end(State.FAILED, EndReason.SESSION)
        if not all(one.granted(self._access, NODES, order.node) for one in NEEDS):
            self._end(State.FAILED, EndReason.RIGHT)
        self._look_at_node()

    def _look_at_node(self) -> None:
        order = self._order
        node = order.cluster.runtime.informer(NODES).store.get(order.node)
        if node is None or node.projection.uid != order.uid:
            self._end(State.FAILED, EndReason.NODE)
        elif not is_older(node.resource_version, order.version) and not node.projection.cordoned:
            self._end(State.STOPPED, EndReason.UNCORDONED)

    @property
    def _access(self) -> Access:
        return self._order.presence.access_for(self._order.cluster)

    @property
    def _client(self) -> UserClient:
        return self._order.cluster.runtime.as_user(self._access.identity)

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._over.wait(), CHECK_SECONDS)
        except TimeoutError:
            return

    # Pods.

    async def _work(self) -> None:
        found = await self._pods()
        while found is None and not self._over.is_set():
            await self._pause()
            found = await self._pods()
        if found is None or not self._agreed(found):
            return
        self._finish()
        while not self._over.is_set():
            now = _now()
            due = [one for one in self._results if self._due.get(one.uid, now + 1) <= now]
            await asyncio.gather(*(self._evict(one) for one in due))
            await self._pause()
            if not self._over.is_set() and (found := await self._pods()) is not None:
                self._take(found)
                self._finish()

    async def _pods(self) -> Mapping[str, NodePod] | None:
        """Return the node's pods to evict by UID, or None if they can't be read."""
        try:
            found = await self._client.list_by_fields(
                PODS, f"spec.nodeName={self._order.node.name}"
            )
        except Forbidden:
            self._end(State.FAILED, EndReason.RIGHT)
            return None
        except ApiError as error:
            log.info("Cannot read the pods of node %s: %s", self._order.node.name, error)
            return None
        guests = map(node_pod_of, found)
        return {guest.uid: guest for guest in guests if guest.fate.is_evicted}

    def _agreed(self, found: Mapping[str, NodePod]) -> bool:
        """Return False, and end the drain, if a pod requires consent that the user did not give."""
        order, missing = self._order, False
        for guest in sorted(found.values(), key=lambda guest: guest.key):
            result = PodResult(guest.key.namespace, guest.key.name, guest.uid)
            lost = guest.fate is Disposition.LOST and not order.force
            if not guest.terminating and (lost or (guest.loses_data and not order.empty_dir)):
                result.step, missing = PodStep.UNAGREED, True
            self._results.append(result)
            if guest.terminating:
                self._step(result, PodStep.ENDING)
            else:
                self._due[guest.uid] = _now()
        if missing:
            self._end(State.FAILED, EndReason.CONSENT)
        return not missing

    def _take(self, found: Mapping[str, NodePod]) -> None:
        for result in self._results:
            guest = found.get(result.uid)
            if guest is None:
                self._step(result, PodStep.GONE)
            elif guest.terminating and result.step is not PodStep.ENDING:
                self._step(result, PodStep.ENDING)

    def _finish(self) -> None:
        steps = {result.step for result in self._results}
        if steps <= {PodStep.GONE}:
            self._end(State.DONE)
        elif steps <= {PodStep.GONE, PodStep.REFUSED}:
            self._end(State.FAILED, EndReason.REFUSED)

    async def _evict(self, result: PodResult) -> None:
        async with self._slots:
            if self._over.is_set():
                return
            try:
                await self._ask(result)
            except NotFound:
                self._step(result, PodStep.GONE)
            except Conflict:
                # Another pod has the name now; the next check of the pods detects this.
                self._due[result.uid] = _now() + RETRY_SECONDS
            except TooManyRequests as error:
                self._step(result, PodStep.BLOCKED, disruption_budget_text(error) or _said(error))
            except AuditUnavailable:
                self._step(result, PodStep.UNSURE)
            except ApiError as error:
                self._step(result, _step_of(error), _said(error))
            else:
                self._step(result, PodStep.ENDING)

    async def _ask(self, result: PodResult) -> None:
        namespace, name = result.namespace, result.name
        recorded = replace(self._order.recorded, namespace=namespace, name=name)
        async with record(recorded) as recording:
            recording.uid = result.uid
            await self._client.evict(
                namespace=namespace,
                name=name,
                uid=result.uid,
                grace=self._order.grace,
                audit_id=recording.audit_id,
            )

    def _step(self, result: PodResult, step: PodStep, note: str = "") -> None:
        if step is PodStep.ENDING and result.step is not step:
            result.since = time.time()
        result.step, result.note = step, str(note)[:MAX_MESSAGE_LENGTH]
        if step in (PodStep.BLOCKED, PodStep.UNSURE):
            self._due[result.uid] = _now() + RETRY_SECONDS
        else:
            self._due.pop(result.uid, None)


def _step_of(error: ApiError) -> PodStep:
    if error.code in (401, 502, 503, 504):
        return PodStep.UNSURE
    # The namespace is being deleted, and its pods with it.
    going = isinstance(error, Forbidden) and has_cause(error, "NamespaceTerminating")
    return PodStep.ENDING if going else PodStep.REFUSED


def _said(error: ApiError) -> str:
    """Return the cluster's message. Messages of the console are omitted, because they are
    translated and the step conveys the same information.
    """
    return "" if isinstance(error.message, Message) else error.message


def _now() -> float:
    return asyncio.get_running_loop().time()


class DrainRunner:
    """Running drains of one event loop."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, order: DrainOrder) -> None:
        task = asyncio.create_task(DrainTask(order).run())
        # The event loop only keeps weak references to tasks.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def interrupt(self) -> None:
        """Interrupt all drains before the process exits, so that another process may resume them."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


get_drains = PerLoop(DrainRunner)
