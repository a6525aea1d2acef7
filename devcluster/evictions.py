"""The pod eviction API: deletes a pod if its disruption budget allows the disruption.

https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
"""

from devcluster.controllers.budgets import BUDGETS, allowed_condition, selects
from devcluster.controllers.pods import conditions_with, is_ready, phase
from devcluster.deletion import check_preconditions
from devcluster.errors import Cause, StatusError, bad_request, too_many_requests
from devcluster.handlers import Handlers
from devcluster.objects import Obj, condition_of, dig, meta, timestamp
from devcluster.requests import Request, Response, success_response
from devcluster.store import Record
from devcluster.write_options import Write

_VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
_TOO_MANY = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
    "support."
)
_TARGET = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "EvictionByEvictionAPI",
    "message": "Eviction API: evicting",
}


class Evictions:
    """Handler of `pods/eviction`."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers, self._objects = handlers, handlers.objects

    def answer(self, call: Request) -> Response:
        eviction = call.object()
        subresource = call.declared.subresource("eviction")
        old = subresource is not None and subresource.version != "v1"
        if old and eviction.get("apiVersion") == "policy/v1":
            raise bad_request('no kind "Eviction" is registered for version "policy/v1"')
        if meta(eviction).get("name", call.info.name) != call.info.name:
            raise bad_request("name in URL does not match name in Eviction object")
        options = eviction.get("deleteOptions") or {}
        how = self._handlers.deletion(call, options)
        pods, info = call.declared, call.info
        record = self._objects.get(pods, info.namespace, info.name)
        check_preconditions(pods, record.load(), how)
        if not _ignored_by_budgets(record):
            budget = self._budget(record)
            if budget is not None and not _allows_unhealthy_eviction(budget, record):
                self._take(budget, record.name, dry_run=how.dry_run)
        if not how.dry_run and not record.deleting:
            self._mark(call)
        self._objects.delete(pods, info.namespace, info.name, how)
        return success_response(201)

    def _budget(self, pod: Record) -> Record | None:
        budgets = self._objects.store.collection(BUDGETS).records_in(pod.namespace)
        found = [one for one in budgets if selects(one.load(), pod.labels)]
        if len(found) > 1:
            raise StatusError(500, "", _TOO_MANY)
        return found[0] if found else None

    def _take(self, record: Record, pod: str, *, dry_run: bool) -> None:
        """Use one of the budget's allowed disruptions. Raise a 429 error if no disruption is
        allowed.
        """
        _check(record.load())

        def mutate(budget: Obj) -> Obj:
            status = budget["status"]
            status["disruptionsAllowed"] -= 1
            status["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod: timestamp()}
            if not status["disruptionsAllowed"]:
                state = allowed_condition(budget, 0)
                status["conditions"] = conditions_with(status.get("conditions"), timestamp(), state)
            return budget

        declared = self._objects.registry.get(BUDGETS)
        write = Write(subresource="status", dry_run=dry_run)
        self._objects.update(declared, "v1", record.namespace, record.name, mutate, write)

    def _mark(self, call: Request) -> None:
        def mutate(pod: Obj) -> Obj:
            status = pod.setdefault("status", {})
            status["conditions"] = conditions_with(status.get("conditions"), timestamp(), _TARGET)
            return pod

        info, write = call.info, Write(subresource="status")
        self._objects.update(call.declared, "v1", info.namespace, info.name, mutate, write)


def _ignored_by_budgets(pod: Record) -> bool:
    """Return True for pods that budgets ignore: pods that are not running or are being deleted."""
    return pod.deleting or phase(pod) in ("Succeeded", "Failed", "Pending")


def _allows_unhealthy_eviction(record: Record, pod: Record) -> bool:
    """Return True if the pod is not ready and the budget allows evicting it without a disruption."""
    budget = record.load()
    if is_ready(pod.load()):
        return False
    if dig(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    needed: int = dig(budget, "status.desiredHealthy") or 0
    healthy: int = dig(budget, "status.currentHealthy") or 0
    return 0 < needed <= healthy


def _check(budget: Obj) -> None:
    about, status = meta(budget), budget.get("status") or {}
    name = about["name"]
    if status.get("observedGeneration", 0) < about.get("generation", 0):
        text = f"The disruption budget {name} is still being processed by the server."
        raise too_many_requests(_VIOLATES, Cause("", "DisruptionBudget", text), seconds=10)
    if status.get("disruptionsAllowed"):
        return
    failed = condition_of(budget, "DisruptionAllowed") or {}
    if failed.get("reason") == "SyncFailed":
        text = (
            f"The disruption budget {name} does not allow evicting pods currently because it "
            f"failed sync: {failed.get('message')}"
        )
    else:
        text = (
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods "
            f"and has {status.get('currentHealthy', 0)} currently"
        )
    raise too_many_requests(_VIOLATES, Cause("", "DisruptionBudget", text))
