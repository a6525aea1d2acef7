"""Checks after a schedule."""

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from console.kube.gvr import GVR, Key
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from tests.chaos.history import History, Violation
from tests.chaos.observer import Observer, fresh
from tests.chaos.targets import TARGETS
from tests.chaos.world import World
from tests.controlplane.proxy import RecordedRequest

__all__ = ["CONVERGE_SECONDS", "converge", "judge"]

#: Seconds since the end of the last fault.
CONVERGE_SECONDS = 10.0
#: Limit of requests for one kind: initial number, and average number per second.
_FIRST_REQUESTS, _REQUESTS_PER_SECOND = 12, 2.0
#: Limit of successful lists of one kind: initial number, and number per fault. A restarted server
#: may reject a version again while its cache fills.
_FIRST_LISTS, _LISTS_PER_FAULT = 3, 3

Listed = dict[Key, dict[str, Any]]


def converge(world: World, observer: Observer, history: History) -> float:
    """Wait until every store equals a fresh list and reports that it is fresh. Return the seconds
    it took.
    """
    began = time.monotonic()
    pause = 0.1
    while True:
        late = time.monotonic() - began > CONVERGE_SECONDS
        differing = [
            problem for target in TARGETS if (problem := _differs(world, observer, target.gvr))
        ]
        took = time.monotonic() - began
        if not differing:
            history.note("converged", seconds=round(took, 2))
            return took
        if late:
            raise Violation(f"not equal after {CONVERGE_SECONDS:g} s: {'; '.join(differing)}")
        time.sleep(pause)
        pause = min(0.5, pause * 2)


def _differs(world: World, observer: Observer, gvr: GVR) -> str:
    """Return the difference between the store and the server, or ""."""
    informer = observer.informers[gvr]
    if not fresh(informer):
        return f"{gvr.qualified} is stale: {informer.freshness.problem}"
    target = next(target for target in TARGETS if target.gvr == gvr)
    listed: Listed = {}
    for item in world.items(target):
        metadata = item["metadata"]
        listed[Key(metadata.get("namespace", ""), metadata["name"])] = item
    there = {key: item["metadata"]["resourceVersion"] for key, item in listed.items()}
    entries = informer.store.snapshot().entries
    held = {key: entry.resource_version for key, entry in entries.items()}
    if held != there:
        wrong = [str(key) for key in {*held, *there} if held.get(key) != there.get(key)]
        return f"{gvr.qualified} differs in {len(wrong)}: {', '.join(sorted(wrong)[:5])}"
    for key, entry in entries.items():
        if _bare(entry.original()) != _bare(listed[key]):
            return f"{gvr.qualified} {key}: not the server's object"
    return ""


def _bare(item: dict[str, Any]) -> dict[str, Any]:
    """Return the object without fields that the cache drops and fields that differ between lists
    and watches.
    """
    metadata = {key: item["metadata"][key] for key in item["metadata"] if key != "managedFields"}
    rest = {key: item[key] for key in item if key not in ("kind", "apiVersion", "metadata")}
    return {**rest, "metadata": metadata}


def judge(
    world: World,
    observer: Observer,
    history: History,
    seen: Sequence[RecordedRequest],
    seconds: float,
) -> None:
    """Check everything that must hold when the stores equal the server's state. Raise `Violation`."""
    for informer in observer.informers.values():
        _judge_notifications(informer, history)
        _judge_derived(observer, informer)
    _judge_requests(seen, seconds, len(history.all("fault")))
    if observer.errors:
        raise Violation(f"errors were logged:\n{observer.errors[0]}")


def _judge_notifications(informer: Informer[Any], history: History) -> None:
    """Check that no version went backwards, no deleted object came back, and no change was missed."""
    resource = informer.gvr.qualified
    last: dict[str, tuple[str, int]] = {}
    gone: dict[str, set[str]] = defaultdict(set)
    for event in history.all("seen"):
        if event["resource"] != resource:
            continue
        key, uid, version = event["key"], event["uid"], int(event["version"] or 0)
        known_uid, known_version = last.get(key, ("", 0))
        if uid and uid in gone[key]:
            raise Violation(f"{resource} {key}: {uid} came back after it was gone")
        if uid and version < known_version:
            raise Violation(f"{resource} {key}: {version} after {known_version}")
        if known_uid and uid != known_uid:
            gone[key].add(known_uid)
        last[key] = (uid, version or known_version)
    entries = informer.store.snapshot().entries
    held = {f"{key.namespace}/{key.name}": entry.projection.uid for key, entry in entries.items()}
    told = {key: uid for key, (uid, _) in last.items() if uid}
    if told != held:
        wrong = [key for key in {*told, *held} if told.get(key) != held.get(key)]
        raise Violation(f"{resource}: listeners were not told of {', '.join(sorted(wrong)[:5])}")
    versions = {
        f"{key.namespace}/{key.name}": int(entry.resource_version) for key, entry in entries.items()
    }
    for key, version in versions.items():
        if last[key][1] != version:
            raise Violation(
                f"{resource} {key}: listeners were told of {last[key][1]} last, not {version}"
            )
    for event in history.all("write"):
        deleted = event["method"] == "DELETE" and event["status"] == 200
        if event["resource"] == resource and deleted and held.get(event["key"]) == event["uid"]:
            raise Violation(f"{resource} {event['key']}: {event['uid']} was deleted and is held")


def _judge_derived(observer: Observer, informer: Informer[Any]) -> None:
    """Check that the data that readers update incrementally equals a full computation."""
    replica = observer.replicas[informer.gvr]
    replica.catch_up()
    entries = dict(informer.store.snapshot().entries)
    if replica.entries != entries:
        raise Violation(f"{informer.gvr.qualified}: the changes do not add up to the objects")
    counted = indexes_of(informer.store).by_namespace.values()
    if counted != Counter(key.namespace for key in entries):
        raise Violation(f"{informer.gvr.qualified}: the index by namespace is wrong")


def _judge_requests(seen: Sequence[RecordedRequest], seconds: float, faults: int) -> None:
    """Check the number of all requests and of successful lists."""
    allowed = _FIRST_REQUESTS + _REQUESTS_PER_SECOND * seconds
    count = Counter(one.resource for one in seen if one.verb != "get")
    for resource, number in count.items():
        if number > allowed:
            raise Violation(f"{number} requests for {resource} in {seconds:.0f} s")
    lists = Counter(one.resource for one in seen if one.verb == "list" and one.status == 200)
    for resource, number in lists.items():
        if number > _FIRST_LISTS + _LISTS_PER_FAULT * faults:
            raise Violation(f"{number} lists of {resource} for {faults} faults")
