"""What a pod asks of its node, as the scheduler counts it.

https://kubernetes.io/docs/concepts/workloads/pods/init-containers/#resource-sharing-within-containers and
PodRequests in Kubernetes' component-helpers: the sum of the containers and of the sidecars that started
before them, or what the greediest other init container needs, whichever is more; a request of the pod
itself goes before both; then the overhead.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from console.kube.projections.common import Object
from console.kube.quantity import parse_quantity
from console.kube.store import Entry

_NONE = Decimal(0)


class Requests(NamedTuple):
    """Cores and bytes."""

    cpu: Decimal = _NONE
    memory: Decimal = _NONE


class _Resources(msgspec.Struct, gc=False):
    requests: dict[str, str | int | float] | None = None


class _Container(msgspec.Struct, gc=False):
    restartPolicy: str | None = None
    resources: _Resources | None = None


class _Spec(msgspec.Struct, gc=False):
    containers: tuple[_Container, ...] | None = None
    initContainers: tuple[_Container, ...] | None = None
    resources: _Resources | None = None
    overhead: dict[str, str | int | float] | None = None


class _Status(msgspec.Struct, gc=False):
    phase: str | None = None


class _Pod(Object, gc=False):
    spec: _Spec | None = None
    status: _Status | None = None


# A node's pods change one at a time; an entry is one version of its object.
@lru_cache(2000)
def requests_of(entry: Entry[Any]) -> Requests | None:
    """None for a pod that has ended: it is still there to look at, and takes no room."""
    try:
        pod = msgspec.convert(entry.original(), _Pod)
    except msgspec.ValidationError:
        return Requests()
    if pod.status is not None and pod.status.phase in ("Succeeded", "Failed"):
        return None
    spec = pod.spec or _Spec()
    return Requests(_requested(spec, "cpu"), _requested(spec, "memory"))


def total(found: Iterable[Requests]) -> Requests:
    listed = list(found)
    return Requests(
        sum((one.cpu for one in listed), _NONE), sum((one.memory for one in listed), _NONE)
    )


def _requested(spec: _Spec, name: str) -> Decimal:
    running = sum((_of(container, name) for container in spec.containers or ()), _NONE)
    sidecars = most = _NONE
    for container in spec.initContainers or ():
        amount = _of(container, name)
        if container.restartPolicy == "Always":
            sidecars += amount
            amount = sidecars
        else:
            amount += sidecars
        most = max(most, amount)
    wanted = max(running + sidecars, most)
    if spec.resources is not None and name in (spec.resources.requests or {}):
        wanted = _amount(spec.resources.requests, name)
    return wanted + _amount(spec.overhead, name)


def _of(container: _Container, name: str) -> Decimal:
    return _amount(container.resources.requests if container.resources else None, name)


def _amount(amounts: Mapping[str, str | int | float] | None, name: str) -> Decimal:
    return parse_quantity(str((amounts or {}).get(name, "0"))) or _NONE
