"""The history of an object's changes is kept for some time and found by object."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from console.history.models import ObjectChange
from console.history.store import (
    MAX_BYTES,
    MAX_CHANGES,
    RETENTION_DAYS,
    change_of,
    changes_of,
    store_change,
)
from console.kube.gvr import DEPLOYMENTS, STATEFUL_SETS, Key, ObjectReference

WEB = ObjectReference("host", DEPLOYMENTS, Key("shop", "web"), "uid-1")

pytestmark = pytest.mark.django_db


def kept(number: int, about: ObjectReference = WEB, after: Any = None) -> None:
    before = {"spec": {"replicas": number}}
    after = after or {"spec": {"replicas": number + 1}}
    audit_id = f"{about.uid}-{about.cluster}-{number}"
    store_change(about, "editor", audit_id, ("patch", "scale"), before, after)


def test_newest_change_is_first_and_the_oldest_is_dropped_at_the_limit() -> None:
    for number in range(MAX_CHANGES + 3):
        kept(number)
    found = changes_of(WEB)
    assert len(found) == MAX_CHANGES
    assert found[0].after == {"spec": {"replicas": MAX_CHANGES + 3}}
    assert (found[0].actor, found[0].verb, found[0].subresource) == ("editor", "patch", "scale")
    assert change_of(WEB, found[0].number) == found[0]


@pytest.mark.parametrize(
    "other",
    [
        ObjectReference("member", DEPLOYMENTS, WEB.key, WEB.uid),
        ObjectReference("host", STATEFUL_SETS, WEB.key, WEB.uid),
        ObjectReference("host", DEPLOYMENTS, Key("shop", "api"), WEB.uid),
        ObjectReference("host", DEPLOYMENTS, Key("team", "web"), WEB.uid),
        ObjectReference("host", DEPLOYMENTS, WEB.key, "uid-2"),
    ],
)
def test_changes_of_other_objects_are_separate(other: ObjectReference) -> None:
    kept(1)
    [change] = changes_of(WEB)
    assert changes_of(other) == [] and change_of(other, change.number) is None


def test_old_changes_expire() -> None:
    kept(1)
    ObjectChange.objects.update(time=timezone.now() - timedelta(days=RETENTION_DAYS + 1))
    kept(2, ObjectReference("host", DEPLOYMENTS, Key("shop", "api"), "uid-3"))
    assert changes_of(WEB) == []


def test_empty_and_oversized_changes_are_not_recorded() -> None:
    kept(1, after={"spec": {"replicas": 1}})
    noise = "".join(chr(0x4E00 + number * 7919 % 20000) for number in range(MAX_BYTES))
    kept(2, after={"data": noise})
    assert changes_of(WEB) == []
