"""Incrementally grouped problems equal those computed from the whole store after any changes."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import PERSISTENT_VOLUME_CLAIMS, PODS, Key
from console.kube.informer import Informer
from console.kube.status import Severity
from console.ui.core.permissions import Readable
from console.ui.core.registry import kinds
from console.ui.diagnosis.problems import SHOWN, Problems
from tests.support.informers import bring, preloaded
from tests.ui.changes import RIGHTS, change, changes
from tests.ui.support import pod, small_world

BAD = (Severity.ERROR, Severity.WARN)


def kind_of(segment: str) -> Any:
    kind = kinds.by_segment(segment)
    assert kind is not None
    return kind


def counted(
    informer: Informer[Any], readable: Readable, wanted: tuple[str, ...]
) -> dict[str, set[Key]]:
    found: dict[str, set[Key]] = {}
    for key, entry in informer.store.snapshot().entries.items():
        status = entry.projection.status
        here = not wanted or key.namespace in wanted
        if status.severity in BAD and readable.includes(key) and here:
            found.setdefault(status.word, set()).add(key)
    return found


def owners(informer: Informer[Any], keys: set[Key]) -> dict[tuple[str, str], set[Key]]:
    """Group the keys by namespace and owner; objects without an owner form their own group."""
    found: dict[tuple[str, str], set[Key]] = {}
    for key in keys:
        entry = informer.store.get(key)
        assert entry is not None
        owner = entry.projection.owner or key.name
        found.setdefault((key.namespace, owner), set()).add(key)
    return found


@given(st.lists(changes, max_size=20))
def test_problems_follow_the_store(then: Sequence[tuple[str, Any]]) -> None:
    informer = preloaded(PODS, small_world())
    troubles = Problems(informer.store, kind_of("pods"))
    for what, given_ in [*then, ("read", None)]:
        change(informer, what, given_)
        if what != "read":
            continue
        for readable in RIGHTS:
            for wanted in ((), ("shop",), ("shop", "team-a"), ("nowhere",)):
                expected = counted(informer, readable, wanted)
                found = troubles.of(readable, wanted)
                assert {f.cause.word: f.count for f in found} == {
                    word: len(keys) for word, keys in expected.items()
                }
                for finding in found:
                    lots = owners(informer, expected[finding.cause.word])
                    largest = sorted(lots.items(), key=lambda lot: (-len(lot[1]), min(lot[1])))
                    assert [(lot.owner, lot.first, lot.count) for lot in finding.lots] == [
                        (owner if "/" in owner else "", min(keys), len(keys))
                        for (_namespace, owner), keys in largest[:SHOWN]
                    ]


def test_problems_are_sorted_by_severity_and_count() -> None:
    informer = preloaded(PODS, [])
    for at in range(3):
        bring(informer, pod(f"crash-{at}", waiting="CrashLoopBackOff"))
    bring(informer, pod("pull", waiting="ImagePullBackOff"))
    found = Problems(informer.store, kind_of("pods")).of(Readable(None))
    assert [(f.cause.word, f.count) for f in found] == [("Crash loop", 3), ("Image pull failed", 1)]


def test_pending_claim_is_a_problem_although_it_is_in_progress() -> None:
    claim = {"metadata": {"name": "data", "namespace": "shop", "uid": "u", "resourceVersion": "1"}}
    claim |= {"spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"}}
    informer = preloaded(PERSISTENT_VOLUME_CLAIMS, [claim])
    found = Problems(informer.store, kind_of("persistentvolumeclaims")).of(Readable(None))
    assert [f.cause.word for f in found] == ["Waiting"]
