"""Deployment controller: rolling updates within maxSurge and maxUnavailable."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import ceil, floor

from devcluster.controllers.base import Controller
from devcluster.controllers.pods import conditions_with, owner_reference, template_hash
from devcluster.objects import Obj, clone, dicts, dig, labels_of, meta, parse_time, timestamp
from devcluster.store import Record
from devcluster.write_options import Mutation

_SETS = "replicasets.apps"
_HASH = "pod-template-hash"
_REVISION = "deployment.kubernetes.io/revision"
_OWN_ANNOTATIONS = (
    _REVISION,
    "deployment.kubernetes.io/desired-replicas",
    "kubectl.kubernetes.io/last-applied-configuration",
)


class DeploymentController(Controller):
    name, collection, dependents = "deployment", "deployments.apps", _SETS

    def reconcile_record(self, record: Record) -> float | None:
        deployment = record.load()
        sets = list(self.owned(record.uid, _SETS))
        new = next((s for s in sets if _is_current(s, deployment)), None)
        if new is None and not deployment["spec"].get("paused"):
            self._create_set(deployment, sets)
            return None
        old = [s for s in sets if s is not new]
        if new and not deployment["spec"].get("paused"):
            self._set_revision(deployment, new, old)
            self._roll(deployment, new, old)
            self._clean_up(deployment, old)
        elif sets:
            self._scale(max(sets, key=_revision), int(deployment["spec"]["replicas"]))
        return self._report(record.key, new.name if new else "")

    def _create_set(self, deployment: Obj, sets: list[Record]) -> None:
        spec, about = deployment["spec"], meta(deployment)
        digest = template_hash(spec["template"])
        template = clone(spec["template"])
        labels = {**(meta(template).get("labels") or {}), _HASH: digest}
        meta(template)["labels"] = labels
        selector = clone(spec["selector"])
        selector.setdefault("matchLabels", {})[_HASH] = digest
        revision = max((_revision(s) for s in sets), default=0) + 1
        body: Obj = {
            "metadata": {
                "name": f"{about['name']}-{digest}",
                "labels": labels,
                "annotations": {
                    **_shared_annotations(deployment),
                    "deployment.kubernetes.io/desired-replicas": str(spec["replicas"]),
                    _REVISION: str(revision),
                },
                "ownerReferences": [owner_reference("apps/v1", "Deployment", deployment)],
            },
            "spec": {"replicas": 0, "selector": selector, "template": template},
        }
        self.create(_SETS, about["namespace"], body)

    def _set_revision(self, deployment: Obj, new: Record, old: list[Record]) -> None:
        """Give the current ReplicaSet the highest revision, also after a rollback."""
        highest = max((_revision(s) for s in old), default=0)
        wanted = str(max(_revision(new), highest + 1))
        notes = {**_shared_annotations(deployment), _REVISION: wanted}
        if notes.items() - _annotations(new.load()).items():
            self.update(_SETS, new, _annotated(notes))
        if _annotations(deployment).get(_REVISION) != wanted:
            record = self.find(f"{meta(deployment)['namespace']}/{meta(deployment)['name']}")
            if record:
                self.update(self.collection, record, _annotated({_REVISION: wanted}))

    def _roll(self, deployment: Obj, new: Record, old: list[Record]) -> None:
        spec = deployment["spec"]
        wanted = int(spec["replicas"])
        if dig(spec, "strategy.type") == "Recreate":
            self._recreate(wanted, new, old)
            return
        surge = _resolve_percentage(dig(spec, "strategy.rollingUpdate.maxSurge"), wanted, up=True)
        absent = _resolve_percentage(
            dig(spec, "strategy.rollingUpdate.maxUnavailable"), wanted, up=False
        )
        if surge == 0 and absent == 0:
            absent = 1
        sizes = {s.key: _replicas(s) for s in (new, *old)}
        room = wanted + surge - sum(sizes.values())
        target = min(wanted, sizes[new.key] + max(0, room))
        self._scale(new, target)
        sizes[new.key] = target
        available = sum(_available(s) for s in (new, *old))
        spare = available - (wanted - absent)
        for one in sorted(old, key=_revision):
            # Scale down unavailable pods first, because that reduces no availability.
            missing = sizes[one.key] - _available(one)
            cut = min(sizes[one.key], missing + max(0, spare))
            if cut > 0:
                self._scale(one, sizes[one.key] - cut)
                spare -= cut - missing

    def _recreate(self, wanted: int, new: Record, old: list[Record]) -> None:
        for one in old:
            self._scale(one, 0)
        if not any(self.store.dependents_of(one.uid, "pods") for one in old):
            self._scale(new, wanted)

    def _scale(self, replica_set: Record, number: int) -> None:
        if _replicas(replica_set) == number:
            return

        def mutate(obj: Obj) -> Obj:
            obj["spec"]["replicas"] = number
            return obj

        self.update(_SETS, replica_set, mutate)

    def _clean_up(self, deployment: Obj, old: list[Record]) -> None:
        kept = int(deployment["spec"].get("revisionHistoryLimit", 10))
        empty = [s for s in sorted(old, key=_revision) if not _replicas(s)]
        for one in empty[: max(0, len(empty) - kept)]:
            if not self.store.dependents_of(one.uid, "pods"):
                self.delete(_SETS, one)

    def _report(self, key: str, new_name: str) -> float | None:
        """Write the status. Return the seconds until the progress deadline, or None."""
        record = self.find(key)
        if record is None:
            return None
        deployment = record.load()
        wanted = int(deployment["spec"]["replicas"])
        sets = {s.name: s.load() for s in self.owned(record.uid, _SETS)}
        total = _sum(sets.values(), "replicas")
        available = _sum(sets.values(), "availableReplicas")
        updated = _sum([sets[new_name]] if new_name in sets else [], "replicas")
        status: Obj = {
            "observedGeneration": meta(deployment).get("generation", 1),
            "replicas": total,
            "updatedReplicas": updated,
            "readyReplicas": _sum(sets.values(), "readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": max(0, max(total, wanted) - available),
        }
        status = {name: value for name, value in status.items() if value}
        status["conditions"] = [
            *_conditions(deployment, new_name, updated, total, available),
            *_failures(sets.get(new_name, {})),
        ]
        self.set_status(self.collection, record, status)
        progress = next(c for c in status["conditions"] if c["type"] == "Progressing")
        if progress["reason"] != "ReplicaSetUpdated" or deployment["spec"].get("paused"):
            return None
        return max(1.0, _deadline(deployment) - _age(progress))


def _conditions(
    deployment: Obj, new_name: str, updated: int, total: int, available: int
) -> list[Obj]:
    spec = deployment["spec"]
    wanted = int(spec["replicas"])
    absent = _resolve_percentage(
        dig(spec, "strategy.rollingUpdate.maxUnavailable"), wanted, up=False
    )
    now = timestamp()
    enough = available >= wanted - absent
    conditions = dig(deployment, "status.conditions") or ()
    held = {c["type"]: c for c in conditions if c["type"] != "ReplicaFailure"}
    before = deployment.get("status") or {}
    last = held.get("Progressing", {})
    same = f'"{new_name}"' in last.get("message", "")
    done = updated == wanted and total == wanted and available >= wanted
    # A completed rollout stays complete, even if pods fail later.
    done = done or (same and last.get("reason") == "NewReplicaSetAvailable" and updated == total)
    moved = updated > before.get("updatedReplicas", 0) or available > before.get(
        "availableReplicas", 0
    )
    known = last.get("reason") == "ProgressDeadlineExceeded"
    still = not done and same and not moved
    stuck = still and (known or _age(last) >= _deadline(deployment))
    minimum: Obj = {
        "type": "Available",
        "status": "True" if enough else "False",
        "reason": f"MinimumReplicas{'Available' if enough else 'Unavailable'}",
        "message": f"Deployment {'has' if enough else 'does not have'} minimum availability.",
        "lastUpdateTime": now,
    }
    text = "has successfully progressed." if done else "is progressing."
    text = "has timed out progressing." if stuck else text
    reason = "NewReplicaSetAvailable" if done else "ReplicaSetUpdated"
    progress: Obj = {
        "type": "Progressing",
        "status": "False" if stuck else "True",
        "reason": "ProgressDeadlineExceeded" if stuck else reason,
        "message": f'ReplicaSet "{new_name}" {text}',
        "lastUpdateTime": now,
    }
    for one in (minimum, progress):
        old = held.get(one["type"], {})
        if not (moved and one is progress) and all(
            old.get(name) == one[name] for name in ("status", "reason", "message")
        ):
            one["lastUpdateTime"] = old["lastUpdateTime"]
    return conditions_with(list(held.values()), now, minimum, progress)


def _failures(replica_set: Obj) -> list[Obj]:
    """Return the ReplicaFailure conditions of the ReplicaSet, which its Deployment also reports."""
    conditions = dicts((replica_set.get("status") or {}).get("conditions"))
    return [one for one in conditions if one["type"] == "ReplicaFailure"]


def _age(condition: Obj) -> float:
    """Return the seconds since the last update of the condition."""
    return (datetime.now(UTC) - parse_time(condition["lastUpdateTime"])).total_seconds()


def _deadline(deployment: Obj) -> float:
    return float(deployment["spec"].get("progressDeadlineSeconds", 600))


def _annotated(notes: Mapping[str, str]) -> Mutation:
    def mutate(obj: Obj) -> Obj:
        meta(obj)["annotations"] = {**_annotations(obj), **notes}
        return obj

    return mutate


def _annotations(obj: Obj) -> dict[str, str]:
    return meta(obj).get("annotations") or {}


def _shared_annotations(deployment: Obj) -> dict[str, str]:
    """Return the annotations that are copied to the ReplicaSet, so that a rollback restores them."""
    notes = _annotations(deployment)
    return {name: text for name, text in notes.items() if name not in _OWN_ANNOTATIONS}


def _is_current(record: Record, deployment: Obj) -> bool:
    template = clone(record.load()["spec"]["template"])
    labels = labels_of(template)
    labels.pop(_HASH, None)
    wanted = clone(deployment["spec"]["template"])
    labels_of(wanted).pop(_HASH, None)
    return template == wanted


def _revision(record: Record) -> int:
    return int(_annotations(record.load()).get(_REVISION, 0))


def _replicas(record: Record) -> int:
    return int(record.load()["spec"].get("replicas", 0))


def _available(record: Record) -> int:
    return int(dig(record.load(), "status.availableReplicas") or 0)


def _sum(sets: Iterable[Obj], field: str) -> int:
    return sum(int(dig(one, f"status.{field}") or 0) for one in sets)


def _resolve_percentage(value: object, total: int, *, up: bool) -> int:
    """Return a number, or a percentage of `total`."""
    if isinstance(value, str) and value.endswith("%"):
        exact = total * int(value[:-1]) / 100
        return ceil(exact) if up else floor(exact)
    return int(value) if isinstance(value, int | str) and value != "" else 0
