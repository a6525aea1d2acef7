"""Counts what a project uses of its resource quotas. Nothing is refused for exceeding one.

https://kubernetes.io/docs/concepts/policy/resource-quotas/
"""

from collections.abc import Callable, Iterable
from decimal import Decimal

from devcluster.controllers.base import Base
from devcluster.controllers.podtools import phase
from devcluster.objects import Obj, dicts, dig
from devcluster.quantities import parse_quantity
from devcluster.store import Change, Record

_MI = 2**20
_COUNTED = (
    "configmaps",
    "persistentvolumeclaims",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
)


class QuotaController(Base):
    name, collection = "quotas", "resourcequotas"

    def keys_of(self, collection: str, change: Change) -> Iterable[str]:
        if collection == self.collection:
            return (change.new.key,)
        if collection != "pods" and collection not in _COUNTED:
            return ()
        quotas = self.store.collection(self.collection)
        return [record.key for record in quotas.records_in(change.new.namespace)]

    def reconcile(self, key: str) -> float | None:
        record = self.find(key)
        if record is None:
            return None
        quota = record.load()
        hard = dict(dig(quota, "spec.hard") or {})
        used = {name: self._used(name, record.namespace) for name in hard}
        status = {"hard": hard, "used": {name: text for name, text in used.items() if text}}
        if quota.get("status") != status:
            self.set_status(self.collection, record, status)
        return None

    def _used(self, resource: str, namespace: str) -> str:
        """ "" for what is not counted here."""
        if resource == "pods":
            return str(len(self._pods(namespace)))
        plural = resource.removeprefix("count/")
        if plural in _COUNTED or resource.startswith("count/"):
            return str(len(self._records(plural, namespace)))
        if resource == "requests.storage":
            claims = self._records("persistentvolumeclaims", namespace)
            sizes = (dig(claim.load(), "spec.resources.requests") or {} for claim in claims)
            return _bytes_text(sum(parse_quantity(size.get("storage", 0)) for size in sizes))
        kind, _dot, name = resource.rpartition(".")
        if name not in ("cpu", "memory") or kind not in ("", "requests", "limits"):
            return ""
        amount = sum(_of_pod(pod, kind or "requests", name) for pod in self._pods(namespace))
        return f"{round(amount * 1000)}m" if name == "cpu" else _bytes_text(amount)

    def _pods(self, namespace: str) -> list[Obj]:
        """Those that have not ended."""
        pods = self._records("pods", namespace)
        return [pod.load() for pod in pods if phase(pod) not in ("Succeeded", "Failed")]

    def _records(self, collection: str, namespace: str) -> list[Record]:
        return list(self.store.collection(collection).records_in(namespace))


def _of_pod(pod: Obj, kind: str, name: str) -> float:
    """Init containers run before the others, one at a time, so the largest counts."""
    spec = pod["spec"]
    of: Callable[[Obj], float] = lambda one: parse_quantity(  # noqa: E731
        (dig(one, f"resources.{kind}") or {}).get(name, 0)
    )
    return max(
        sum(of(one) for one in dicts(spec.get("containers"))),
        max((of(one) for one in dicts(spec.get("initContainers"))), default=0.0),
    )


def _bytes_text(amount: float) -> str:
    whole = int(Decimal(amount))
    return f"{whole // _MI}Mi" if whole % _MI == 0 else str(whole)
