"""CPU and memory that a pod reserves on its node, regardless of its usage.

Computed like in the scheduler (PodRequests and PodLimits in k8s.io/component-helpers/resource):
containers run in parallel, init containers run sequentially except for sidecars, which keep
running. Pod-level resources take precedence over the sum of the containers.
https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
"""

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

import msgspec

from console.kube.quantity import parse_quantity

#: Maximum of a quantity, more than any machine has. Larger values are capped.
_MOST = Decimal(10**18)
#: Number of cached quantities. A cluster has few different ones.
_KEPT = 10_000


class Reserved(NamedTuple):
    """Millicores and bytes. A limit of 0 means no limit."""

    cpu: int = 0
    memory: int = 0
    cpu_limit: int = 0
    memory_limit: int = 0

    def plus(self, other: "Reserved") -> "Reserved":
        return Reserved(
            self.cpu + other.cpu,
            self.memory + other.memory,
            self.cpu_limit + other.cpu_limit,
            self.memory_limit + other.memory_limit,
        )

    def or_more(self, other: "Reserved") -> "Reserved":
        """Return the maximum of each value."""
        return Reserved(*(max(mine, theirs) for mine, theirs in zip(self, other, strict=True)))


NO_RESOURCES = Reserved()
Quantity = str | int | float | None


class Amounts(msgspec.Struct, gc=False):
    cpu: Quantity = None
    memory: Quantity = None


class Resources(msgspec.Struct, gc=False):
    requests: Amounts | None = None
    limits: Amounts | None = None


_NO_AMOUNTS = Amounts()


class ReservedContainer(msgspec.Struct, gc=False):
    """The fields of a container that affect reservations."""

    restartPolicy: str | None = ""
    resources: Resources | None = None


def reserved_of(
    containers: Iterable[ReservedContainer],
    init_containers: Iterable[ReservedContainer],
    whole: Resources | None,
    overhead: Amounts | None,
) -> Reserved:
    """Return a pod's reservations.

    `whole` are the pod-level resources, `overhead` is the overhead of the runtime class.
    """
    running = NO_RESOURCES
    for container in containers:
        own = _of(container.resources)
        running = running.plus(own) if running is not NO_RESOURCES else own
    sidecars, starting = NO_RESOURCES, NO_RESOURCES
    for container in init_containers:
        own = _of(container.resources)
        if container.restartPolicy == "Always":
            sidecars = own = sidecars.plus(own)
        else:
            own = own.plus(sidecars)
        starting = starting.or_more(own)
    if starting is not NO_RESOURCES:
        running = running.plus(sidecars).or_more(starting)
    found = _declared(whole, running)
    return _with_overhead(found, overhead) if overhead is not None else found


def _of(resources: Resources | None) -> Reserved:
    if resources is None:
        return NO_RESOURCES
    requests, limits = resources.requests or _NO_AMOUNTS, resources.limits or _NO_AMOUNTS
    return _container(requests.cpu, requests.memory, limits.cpu, limits.memory)


# Runs for every container in a watch. A cluster has few different combinations.
@lru_cache(_KEPT)
def _container(
    cpu: Quantity, memory: Quantity, cpu_limit: Quantity, memory_limit: Quantity
) -> Reserved:
    requests, limits = Amounts(cpu, memory), Amounts(cpu_limit, memory_limit)
    return _declared(Resources(requests, limits), NO_RESOURCES)


def _declared(resources: Resources | None, otherwise: Reserved) -> Reserved:
    """Return the declared resources, with defaults from `otherwise`. A missing request equals the
    limit.
    """
    if resources is None:
        return otherwise
    requests, limits = resources.requests or Amounts(), resources.limits or Amounts()
    cpu_limit, memory_limit = _milli(limits.cpu), _units(limits.memory)
    return Reserved(
        _milli(requests.cpu) or cpu_limit or otherwise.cpu,
        _units(requests.memory) or memory_limit or otherwise.memory,
        cpu_limit or otherwise.cpu_limit,
        memory_limit or otherwise.memory_limit,
    )


def _with_overhead(found: Reserved, overhead: Amounts) -> Reserved:
    """Add the overhead to the requests, and to the limits that are set."""
    cpu, memory = _milli(overhead.cpu), _units(overhead.memory)
    return Reserved(
        found.cpu + cpu,
        found.memory + memory,
        found.cpu_limit and found.cpu_limit + cpu,
        found.memory_limit and found.memory_limit + memory,
    )


def _milli(quantity: str | int | float | None) -> int:
    return _number(quantity, 1000) if quantity else 0


def _units(quantity: str | int | float | None) -> int:
    return _number(quantity, 1) if quantity else 0


@lru_cache(_KEPT)
def _number(quantity: str | int | float, scale: int) -> int:
    """Return the scaled quantity, rounded up like in Kubernetes, or 0 if it is malformed."""
    amount = parse_quantity(str(quantity))
    if amount is None or amount <= 0:
        return 0
    scaled = min(amount, _MOST) * scale
    whole = int(scaled)
    return whole + (scaled > whole)
