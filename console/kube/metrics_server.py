"""Read the resource usage of nodes and pods from metrics-server.

- No exceptions: failures are returned as a `UsageProblem`.
- The response is not trusted: values that are malformed or implausibly large are skipped, and
  the response size is limited.

https://github.com/kubernetes/metrics/blob/master/pkg/apis/metrics/v1beta1/types.go
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from sys import intern
from typing import NamedTuple, Protocol

import msgspec

from console.kube.errors import ApiError, Forbidden, NotFound
from console.kube.gvr import GVR, NODE_METRICS, POD_METRICS, Key
from console.kube.liststream import ListStream
from console.kube.quantity import parse_quantity
from console.kube.throttledreader import Chunks

#: Seconds for the list of one type, and between two chunks of it.
TIMEOUT, READ_TIMEOUT = 20.0, 10.0
#: Maximum number of bytes and objects of a response.
MOST_BYTES, MOST_OBJECTS = 256 * 1024 * 1024, 500_000
#: Largest plausible measurements in cores and bytes.
_CORES, _BYTES = 1e6, 1e18


class UsageProblem(StrEnum):
    """Why there is no data. `WAITING` means no request has been sent yet."""

    WAITING = "waiting"
    ABSENT = "absent"
    FORBIDDEN = "forbidden"
    UNAVAILABLE = "unavailable"
    UNREADABLE = "unreadable"


class ResourceUsage(NamedTuple):
    """Usage in cores and bytes."""

    cpu: float = 0.0
    memory: float = 0.0

    def plus(self, other: "ResourceUsage") -> "ResourceUsage":
        return ResourceUsage(self.cpu + other.cpu, self.memory + other.memory)


class ContainerKey(NamedTuple):
    """A container of a pod."""

    pod: Key
    name: str


@dataclass(slots=True)
class PodsUsage:
    """Usage of pods, and of each of their containers."""

    pods: dict[Key, ResourceUsage] = field(default_factory=dict)
    containers: dict[ContainerKey, ResourceUsage] = field(default_factory=dict)


Add = Callable[[msgspec.Raw], None]


class Lister(Protocol):
    """The part of `console.kube.clients.ReaderClient` that is used here."""

    def stream(
        self, gvr: GVR, namespace: str, params: Sequence[tuple[str, str]], *, read_timeout: float
    ) -> AbstractAsyncContextManager[Chunks]: ...


class _Amounts(msgspec.Struct, gc=False):
    cpu: str | int | float = "0"
    memory: str | int | float = "0"


class _Meta(msgspec.Struct, gc=False):
    name: str
    namespace: str = ""


class _Container(msgspec.Struct, gc=False):
    usage: _Amounts
    name: str = ""


class _NodeMetrics(msgspec.Struct, gc=False):
    metadata: _Meta
    usage: _Amounts


class _PodMetrics(msgspec.Struct, gc=False):
    metadata: _Meta
    containers: tuple[_Container, ...] | None = None


_node = msgspec.json.Decoder(_NodeMetrics)
_pod = msgspec.json.Decoder(_PodMetrics)


async def node_usage(lister: Lister) -> tuple[dict[str, ResourceUsage], UsageProblem | None]:
    """Return the usage of each node by name."""
    found: dict[str, ResourceUsage] = {}

    def add(raw: msgspec.Raw) -> None:
        item = _node.decode(raw)
        used = _used(item.usage)
        if used is not None:
            found[item.metadata.name] = used

    problem = await _listed(lister, NODE_METRICS, "", add)
    return found, problem


async def pod_usage(
    lister: Lister, namespaces: Sequence[str]
) -> tuple[PodsUsage, UsageProblem | None]:
    """Return the usage of the pods in `namespaces` ("" for all).

    The result is empty if any of the namespaces could not be read.
    """
    found = PodsUsage()

    def add(raw: msgspec.Raw) -> None:
        item = _pod.decode(raw)
        key, total = Key(item.metadata.namespace, item.metadata.name), ResourceUsage()
        for container in item.containers or ():
            used = _used(container.usage)
            if used is not None:
                total = total.plus(used)
                found.containers[ContainerKey(key, intern(container.name))] = used
        found.pods[key] = total

    for namespace in namespaces:
        problem = await _listed(lister, POD_METRICS, namespace, add)
        if problem is not None:
            return PodsUsage(), problem
    return found, None


async def _listed(lister: Lister, gvr: GVR, namespace: str, add: Add) -> UsageProblem | None:
    """Pass each object of a list to `add`. Return None on success; malformed objects are skipped."""
    seen = good = 0
    try:
        async with (
            asyncio.timeout(TIMEOUT),
            lister.stream(gvr, namespace, [], read_timeout=READ_TIMEOUT) as content,
        ):
            async for raws in ListStream(_bounded(content)):
                for raw in raws:
                    seen += 1
                    if seen > MOST_OBJECTS:
                        return UsageProblem.UNREADABLE
                    good += _added(add, raw)
                # Yield to the event loop: a batch has thousands of objects.
                await asyncio.sleep(0)
    except NotFound:
        return UsageProblem.ABSENT
    except Forbidden:
        return UsageProblem.FORBIDDEN
    except (ApiError, TimeoutError):
        return UsageProblem.UNAVAILABLE
    except (msgspec.DecodeError, UnicodeError, RecursionError, _TooMuch):
        return UsageProblem.UNREADABLE
    return UsageProblem.UNREADABLE if seen and not good else None


class _TooMuch(Exception):
    """The response exceeds the size limit."""


async def _bounded(content: Chunks) -> AsyncIterator[bytes]:
    total = 0
    async for chunk in content.iter_any():
        total += len(chunk)
        if total > MOST_BYTES:
            raise _TooMuch
        yield chunk


def _added(add: Add, raw: msgspec.Raw) -> bool:
    try:
        add(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def _used(amounts: _Amounts) -> ResourceUsage | None:
    cpu, memory = parse_quantity(str(amounts.cpu)), parse_quantity(str(amounts.memory))
    if cpu is None or memory is None:
        return None
    if not (0 <= cpu <= _CORES and 0 <= memory <= _BYTES):
        return None
    return ResourceUsage(float(cpu), float(memory))
