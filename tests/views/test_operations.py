"""The operation repository: mutual exclusion, the owning process and expiry."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from console.kube.gvr import NODES, Key, ObjectReference
from console.operations.models import Operation, State
from console.operations.store import (
    RETENTION,
    STALE,
    AlreadyRunning,
    OperationLost,
    create_operation,
    discard,
    finish_operation,
    latest,
    record_heartbeat,
    request_stop,
)

pytestmark = pytest.mark.django_db

NODE = ObjectReference("host", NODES, Key("", "worker-1"), "uid-1")
OURS = NODE, "drain"


def test_one_operation_per_object_runs_at_a_time() -> None:
    assert latest(*OURS) is None
    number = create_operation(*OURS, "editor", {"minutes": 5})
    with pytest.raises(AlreadyRunning):
        create_operation(*OURS, "eve", {})
    for other in (
        (replace(NODE, cluster="other"), "drain"),
        (replace(NODE, uid="uid-2"), "drain"),
        (NODE, "upgrade"),
    ):
        assert latest(*other) is None
        create_operation(*other, "eve", {})
    found = latest(*OURS)
    assert found is not None and found.running
    assert (found.number, found.actor, found.data) == (number, "editor", {"minutes": 5})
    finish_operation(number, State.DONE, "", ["all"])
    assert create_operation(*OURS, "eve", {}) != number


def test_operation_stores_progress_and_receives_stop_requests() -> None:
    number = create_operation(*OURS, "editor", {})
    assert record_heartbeat(number, ["first"]) and record_heartbeat(number, None)
    found = latest(*OURS)
    assert found is not None and found.results == ["first"]
    assert request_stop(*OURS, "eve") and request_stop(*OURS, "bob")
    assert not record_heartbeat(number, ["second"])
    finish_operation(number, State.STOPPED, "", ["second"])
    found = latest(*OURS)
    assert found is not None
    assert (found.state, found.stopper, found.results) == (State.STOPPED, "eve", ["second"])
    assert not request_stop(*OURS, "eve")


def test_operation_without_heartbeat_is_interrupted() -> None:
    number = create_operation(*OURS, "editor", {})
    Operation.objects.update(heartbeat=timezone.now() - STALE - timedelta(seconds=1))
    found = latest(*OURS)
    assert found is not None and found.state is State.INTERRUPTED and not found.running
    assert not request_stop(*OURS, "eve")
    assert create_operation(*OURS, "eve", {}) != number
    with pytest.raises(OperationLost):
        record_heartbeat(number, ["late"])
    finish_operation(number, State.DONE, "", ["late"])
    kept = Operation.objects.get(pk=number)
    assert (kept.state, kept.results) == (State.INTERRUPTED, [])
    assert kept.ended == kept.heartbeat


def test_late_heartbeat_continues_the_operation() -> None:
    number = create_operation(*OURS, "editor", {})
    Operation.objects.update(heartbeat=timezone.now() - STALE - timedelta(seconds=1))
    assert record_heartbeat(number, None)
    found = latest(*OURS)
    assert found is not None and found.running


def test_finished_operations_expire() -> None:
    number = create_operation(*OURS, "editor", {})
    finish_operation(number, State.DONE, "", [])
    Operation.objects.update(ended=timezone.now() - RETENTION - timedelta(minutes=1))
    discard(create_operation(*OURS, "eve", {}))
    assert not Operation.objects.exists()
