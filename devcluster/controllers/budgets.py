"""Disruption budget controller: computes how many pods may be evicted.

https://kubernetes.io/docs/tasks/run-application/configure-pdb/
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from console.kube.group_kind import group_kind, group_of
from console.kube.selectors import Requirement
from devcluster.controllers.base import Controller
from devcluster.controllers.pods import conditions_with, is_ready
from devcluster.objects import Obj, controller_of, dicts, dig, meta, parse_time, timestamp
from devcluster.store import Change, Record

BUDGETS = "poddisruptionbudgets.policy"
#: Seconds after which an evicted pod that still exists counts as healthy again.
_DISRUPTED_FOR = 120.0
_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists"}
#: Collections of the scalable kinds, by group and kind.
_SCALED = {
    "Deployment.apps": "deployments.apps",
    "ReplicaSet.apps": "replicasets.apps",
    "ReplicationController": "replicationcontrollers",
    "StatefulSet.apps": "statefulsets.apps",
}


class _SyncFailed(Exception):
    """The status of the budget cannot be computed. The message contains the reason."""


class BudgetController(Controller):
    name, collection = "budgets", BUDGETS

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection != "pods" and collection not in _SCALED.values():
            return super().keys_of(collection, change)
        budgets = self.store.collection(self.collection).records_in(change.new.namespace)
        if collection != "pods":
            return [one.key for one in budgets]
        pods = [one for one in (change.old, change.new) if one]
        return [one.key for one in budgets if any(selects(one.load(), p.labels) for p in pods)]

    def reconcile_record(self, record: Record) -> float | None:
        budget = record.load()
        held: Obj = budget.get("status") or {}
        try:
            status = self._status(budget)
            state = allowed_condition(budget, status["disruptionsAllowed"])
        except _SyncFailed as error:
            status = {**held, "disruptionsAllowed": 0}
            state = _condition(budget, "False", "SyncFailed", str(error))
        status["conditions"] = conditions_with(held.get("conditions"), timestamp(), state)
        self.set_status(self.collection, record, status)
        return _DISRUPTED_FOR if status.get("disruptedPods") else None

    def _status(self, budget: Obj) -> Obj:
        """Return the status for the current pods. Raise `_SyncFailed` if it cannot be computed."""
        about = meta(budget)
        there = self.store.collection("pods").records_in(about["namespace"])
        pods = [pod for pod in there if selects(budget, pod.labels)]
        expected, needed = self._counts(budget.get("spec") or {}, pods)
        disrupted = dict(_disrupted(budget, pods))
        healthy = sum(
            not pod.deleting and pod.name not in disrupted and is_ready(pod.load()) for pod in pods
        )
        status: Obj = {
            "currentHealthy": healthy,
            "desiredHealthy": needed,
            "disruptionsAllowed": max(healthy - needed, 0) if expected else 0,
            "expectedPods": expected,
            "observedGeneration": about.get("generation", 0),
        }
        return {**status, "disruptedPods": disrupted} if disrupted else status

    def _counts(self, spec: Obj, pods: list[Record]) -> tuple[int, int]:
        """Return the expected number of pods and the required number of healthy pods."""
        if spec.get("maxUnavailable") is not None:
            expected = self._expected(pods)
            return expected, max(expected - _amount(spec["maxUnavailable"], expected), 0)
        least = spec.get("minAvailable", 0)
        expected = self._expected(pods) if isinstance(least, str) else len(pods)
        return expected, _amount(least, expected)

    def _expected(self, pods: Iterable[Record]) -> int:
        """Return the total replicas of the pods' controllers. Pods without a controller are not
        counted.
        """
        scaled = [found for pod in pods if (found := self._scaled(pod)) is not None]
        replicas = {meta(one)["uid"]: int(dig(one, "spec.replicas") or 0) for one in scaled}
        return sum(replicas.values())

    def _scaled(self, pod: Record) -> Obj | None:
        """Return the pod's topmost scalable owner, such as the Deployment instead of its
        ReplicaSet.
        """
        scaled, owner = None, controller_of(pod.load())
        while owner and (scaled is None or _kind_of(owner) in _SCALED):
            collection = _SCALED.get(_kind_of(owner), "")
            found = self.find(f"{pod.namespace}/{owner['name']}", collection)
            if not collection or found is None or found.uid != owner["uid"]:
                raise _SyncFailed(f'found no controllers for pod "{pod.name}"')
            scaled = found.load()
            owner = controller_of(scaled)
        return scaled


def _kind_of(owner: Obj) -> str:
    return group_kind(owner["kind"], group_of(owner["apiVersion"]))


def selects(budget: Obj, labels: Mapping[str, str]) -> bool:
    """Return True if the budget applies to the labels.

    An empty selector matches all pods in the namespace; a missing selector matches none.
    """
    selector = dig(budget, "spec.selector")
    if not isinstance(selector, dict):
        return False
    wanted = selector.get("matchLabels") or {}
    if not wanted.items() <= labels.items():
        return False
    return all(_meets(one, labels) for one in dicts(selector.get("matchExpressions")))


def _meets(expression: Obj, labels: Mapping[str, str]) -> bool:
    operator = _OPERATORS.get(expression.get("operator", ""), "!")
    values = frozenset(expression.get("values") or ())
    return Requirement(expression.get("key", ""), operator, values).matches(labels)


def allowed_condition(budget: Obj, allowed: int) -> Obj:
    """Return the DisruptionAllowed condition for the number of allowed disruptions."""
    if allowed:
        return _condition(budget, "True", "SufficientPods")
    return _condition(budget, "False", "InsufficientPods")


def _condition(budget: Obj, status: str, reason: str, message: str = "") -> Obj:
    return {
        "type": "DisruptionAllowed",
        "status": status,
        "reason": reason,
        "message": message,
        "observedGeneration": meta(budget).get("generation", 0),
    }


def _amount(value: Any, whole: int) -> int:
    """Return a number, or a percentage of `whole` rounded up."""
    return ceil(int(value.rstrip("%")) * whole / 100) if isinstance(value, str) else int(value)


def _disrupted(budget: Obj, pods: Iterable[Record]) -> Iterator[tuple[str, str]]:
    """Yield the name and eviction time of pods that were evicted but are not marked as deleted yet."""
    held = dig(budget, "status.disruptedPods") or {}
    since = datetime.now(UTC) - timedelta(seconds=_DISRUPTED_FOR)
    for pod in pods:
        moment = held.get(pod.name)
        if moment and not pod.deleting and parse_time(moment) > since:
            yield pod.name, moment
