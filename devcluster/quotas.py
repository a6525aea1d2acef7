"""Resource quota usage and enforcement.

Quotas with scopes are counted like all others but not enforced.

https://kubernetes.io/docs/concepts/policy/resource-quotas/
"""

from collections.abc import Callable
from decimal import Decimal

from devcluster.errors import forbidden
from devcluster.objects import Obj, dicts, dig
from devcluster.quantities import parse_quantity
from devcluster.resources import ResourceType
from devcluster.store import Store

QUOTAS = "resourcequotas"
#: Collections whose objects can be counted without the `count/` prefix.
COUNTED = frozenset(
    {"configmaps", "persistentvolumeclaims", "pods", "replicationcontrollers", "resourcequotas"}
    | {"secrets", "services"}
)
_UNITS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def counted_collection(resource: str) -> str:
    """Return the collection that uses a quota resource, or "" if the resource is not supported."""
    plural = resource.removeprefix("count/")
    if plural in COUNTED or plural != resource:
        return plural
    if resource == "requests.storage":
        return "persistentvolumeclaims"
    kind, _dot, name = resource.rpartition(".")
    return "pods" if name in ("cpu", "memory") and kind in ("", "requests", "limits") else ""


def usage_of(resource: str, obj: Obj) -> float:
    """Return the amount of a quota resource that the object uses, in base units."""
    kind, _dot, name = resource.rpartition(".")
    if dig(obj, "status.phase") in ("Succeeded", "Failed"):
        return 0.0
    if name in ("cpu", "memory"):
        return _of_pod(obj, kind or "requests", name)
    if resource == "requests.storage":
        return parse_quantity((dig(obj, "spec.resources.requests") or {}).get("storage", 0))
    return 1.0


def used(store: Store, namespace: str, resource: str) -> float:
    collection = counted_collection(resource)
    records = store.collection(collection).records_in(namespace) if collection else ()
    return sum(usage_of(resource, record.load()) for record in records)


def amount_text(resource: str, amount: float) -> str:
    name = resource.rpartition(".")[2]
    if name == "cpu":
        return f"{round(amount * 1000)}m"
    whole = int(Decimal(amount))
    return _bytes_text(whole) if name in ("memory", "storage") else str(whole)


def _bytes_text(amount: int) -> str:
    """Format bytes in the largest unit that gives a whole number."""
    unit = 0
    while amount and amount % 1024 == 0 and unit < len(_UNITS) - 1:
        amount, unit = amount // 1024, unit + 1
    return f"{amount}{_UNITS[unit]}"


def check_quotas(store: Store, declared: ResourceType, obj: Obj, old: Obj | None = None) -> None:
    """Raise a 403 error with kube-apiserver's message if the object exceeds a quota of its
    namespace.

    `old` is the object that is replaced by an update.
    """
    about = obj["metadata"]
    for record in store.collection(QUOTAS).records_in(about["namespace"]):
        spec = record.load().get("spec") or {}
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue
        over = []
        for resource, most in sorted((spec.get("hard") or {}).items()):
            is_counted = counted_collection(resource) == declared.storage
            held = usage_of(resource, old) if is_counted and old is not None else 0.0
            more = usage_of(resource, obj) - held if is_counted else 0.0
            before = used(store, about["namespace"], resource) if more > 0 else 0.0
            if more > 0 and before + more > parse_quantity(most):
                texts = (amount_text(resource, more), amount_text(resource, before), most)
                over.append([f"{resource}={text}" for text in texts])
        if over:
            requested, spent, limited = (",".join(column) for column in zip(*over, strict=True))
            why = (
                f"exceeded quota: {record.name}, requested: {requested}, used: {spent}, "
                f"limited: {limited}"
            )
            raise forbidden(declared.group, declared.plural, about.get("name", ""), why)


def _of_pod(pod: Obj, kind: str, name: str) -> float:
    """Return the pod's total request or limit. Init containers run one at a time, so only the
    largest counts.
    """
    spec = pod["spec"]
    of: Callable[[Obj], float] = lambda one: parse_quantity(  # noqa: E731
        (dig(one, f"resources.{kind}") or {}).get(name, 0)
    )
    return max(
        sum(of(one) for one in dicts(spec.get("containers"))),
        max((of(one) for one in dicts(spec.get("initContainers"))), default=0.0),
    )
