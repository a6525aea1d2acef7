"""Storage of operations. Synchronous: don't call these functions on the event loop.

Guarantees: at most one operation per object and action is running. A process without a heartbeat
for `STALE` loses its operation, and its next call of `record_heartbeat` raises `OperationLost`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from console.kube.gvr import ObjectReference
from console.operations.models import Operation, State

#: Time without a heartbeat after which a process counts as dead.
STALE = timedelta(seconds=15)
#: Retention of ended operations.
RETENTION = timedelta(days=30)

Results = Sequence[Any]


@dataclass(frozen=True, slots=True)
class StoredOperation:
    """Stored `Operation`. If its process has died, the state is INTERRUPTED."""

    number: int
    actor: str
    data: Mapping[str, Any]
    state: State
    reason: str
    stopper: str
    results: Results
    started: datetime
    ended: datetime | None

    @property
    def running(self) -> bool:
        return self.state is State.RUNNING


class AlreadyRunning(Exception):
    """The action is already running on the object."""


class OperationLost(Exception):
    """The operation belongs to another process or has ended."""


def create_operation(
    about: ObjectReference, action: str, actor: str, data: Mapping[str, Any]
) -> int:
    """Create an operation and return its number. Raise `AlreadyRunning` if the action is already
    running.
    """
    now = timezone.now()
    with transaction.atomic():
        Operation.objects.filter(ended__lt=now - RETENTION).delete()
        dead = _rows(about, action).filter(state=State.RUNNING, heartbeat__lt=now - STALE)
        dead.update(state=State.INTERRUPTED, ended=F("heartbeat"))
        try:
            with transaction.atomic():
                row = Operation.objects.create(
                    actor=actor,
                    **about.columns(),
                    action=action,
                    data=data,
                )
        except IntegrityError as error:
            raise AlreadyRunning from error
    return row.pk


def record_heartbeat(number: int, results: Results | None) -> bool:
    """Record a heartbeat. Return False if a user requested a stop.

    `results` replaces the stored results unless it is None. Raise `OperationLost` if the operation is no
    longer running.
    """
    news = {"heartbeat": timezone.now(), **({} if results is None else {"results": results})}
    rows = Operation.objects.filter(pk=number, state=State.RUNNING)
    if not rows.update(**news):
        raise OperationLost
    return not rows.exclude(stopper="").exists()


def finish_operation(number: int, state: State, reason: str, results: Results) -> None:
    now = timezone.now()
    rows = Operation.objects.filter(pk=number, state=State.RUNNING)
    rows.update(state=state, reason=reason, results=results, heartbeat=now, ended=now)


def discard(number: int) -> None:
    """Delete an operation that could not be started."""
    Operation.objects.filter(pk=number).delete()


def request_stop(about: ObjectReference, action: str, actor: str) -> bool:
    """Request a stop. Return False if no operation is running. Only the first requester is
    recorded.
    """
    alive = timezone.now() - STALE
    rows = _rows(about, action).filter(state=State.RUNNING, heartbeat__gte=alive)
    rows.filter(stopper="").update(stopper=actor)
    return rows.exists()


def latest(about: ObjectReference, action: str) -> StoredOperation | None:
    row = _rows(about, action).first()
    return _kept(row) if row is not None else None


def _rows(about: ObjectReference, action: str) -> QuerySet[Operation]:
    return Operation.objects.filter(**about.columns(), action=action)


def _kept(row: Operation) -> StoredOperation:
    state, ended = State(row.state), row.ended
    if state is State.RUNNING and row.heartbeat < timezone.now() - STALE:
        state, ended = State.INTERRUPTED, row.heartbeat
    return StoredOperation(
        row.pk,
        row.actor,
        row.data,
        state,
        row.reason,
        row.stopper,
        row.results,
        row.started,
        ended,
    )
