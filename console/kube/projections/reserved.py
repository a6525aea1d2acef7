"""What a pod holds of its node's CPU and memory while it is there, whether or not it uses it.

As the scheduler counts (PodRequests and PodLimits in k8s.io/component-helpers/resource): the containers
run side by side and init containers one after the other, but for sidecars, which stay; what is declared
for the whole pod goes before its containers' sum.
https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
"""

from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

import msgspec

from console.kube.quantity import parse_quantity

#: Of one quantity: more than any machine has. What claims more counts as this much.
_MOST = Decimal(10**18)
#: Quantities whose numbers are kept: a cluster has few.
_KEPT = 10_000


class Reserved(NamedTuple):
    """Thousandths of a core, and bytes. A limit of 0: there is none."""

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
        """The larger of each."""
        return Reserved(*(max(mine, theirs) for mine, theirs in zip(self, other, strict=True)))


NOTHING = Reserved()
Quantity = str | int | float | None


class Amounts(msgspec.Struct, gc=False):
    cpu: Quantity = None
    memory: Quantity = None


class Resources(msgspec.Struct, gc=False):
    requests: Amounts | None = None
    limits: Amounts | None = None


_NO_AMOUNTS = Amounts()


class ReservedContainer(msgspec.Struct, gc=False):
    """What of a container counts here."""

    restartPolicy: str | None = ""
    resources: Resources | None = None


def reserved_of(
    containers: Iterable[ReservedContainer],
    init_containers: Iterable[ReservedContainer],
    whole: Resources | None,
    overhead: Amounts | None,
) -> Reserved:
    """`whole`: what the pod declares for itself; `overhead`: what its runtime class adds."""
    running = NOTHING
    for container in containers:
        own = _of(container.resources)
        running = running.plus(own) if running is not NOTHING else own
    sidecars, starting = NOTHING, NOTHING
    for container in init_containers:
        own = _of(container.resources)
        if container.restartPolicy == "Always":
            sidecars = own = sidecars.plus(own)
        else:
            own = own.plus(sidecars)
        starting = starting.or_more(own)
    if starting is not NOTHING:
        running = running.plus(sidecars).or_more(starting)
    found = _declared(whole, running)
    return _with_overhead(found, overhead) if overhead is not None else found


def _of(resources: Resources | None) -> Reserved:
    if resources is None:
        return NOTHING
    requests, limits = resources.requests or _NO_AMOUNTS, resources.limits or _NO_AMOUNTS
    return _container(requests.cpu, requests.memory, limits.cpu, limits.memory)


# Runs for every container that a watch brings, and a cluster has few combinations.
@lru_cache(_KEPT)
def _container(
    cpu: Quantity, memory: Quantity, cpu_limit: Quantity, memory_limit: Quantity
) -> Reserved:
    requests, limits = Amounts(cpu, memory), Amounts(cpu_limit, memory_limit)
    return _declared(Resources(requests, limits), NOTHING)


def _declared(resources: Resources | None, otherwise: Reserved) -> Reserved:
    """What is declared, and of what is not, `otherwise`. A request that is left out is the limit."""
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
    """Limits grow only where there are any."""
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
    """Rounded up, as Kubernetes does; 0 for what is no amount."""
    amount = parse_quantity(str(quantity))
    if amount is None or amount <= 0:
        return 0
    scaled = min(amount, _MOST) * scale
    whole = int(scaled)
    return whole + (scaled > whole)
