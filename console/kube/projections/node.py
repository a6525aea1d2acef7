"""Nodes and RuntimeClasses.

Roles and addresses follow kubectl (printNode in Kubernetes' printers). Conditions:
https://kubernetes.io/docs/reference/node/node-status/#condition
"""

from collections.abc import Mapping
from sys import intern

import msgspec

from console.kube.gvr import GVR, NODES
from console.kube.messages import Message
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    Projection,
    basics,
    decoder,
    find_condition,
    join_reason,
    terminating_or,
)
from console.kube.projections.workload import interned
from console.kube.status import Severity, Status

_ROLE, _OLD_ROLE = "node-role.kubernetes.io/", "kubernetes.io/role"


class Node(Projection, frozen=True, gc=False):
    """A node. `cpu`, `memory` and `pods` are the allocatable quantities. `devices` are the names of
    other allocatable resources that the node has, such as `nvidia.com/gpu`.
    """

    status: Status
    roles: tuple[str, ...]
    cordoned: bool
    taints: tuple[str, ...]
    version: str
    internal_ip: str
    external_ip: str
    os: str
    architecture: str
    kernel: str
    runtime: str
    cpu: str
    memory: str
    pods: str
    devices: tuple[str, ...]


class _Taint(msgspec.Struct, gc=False):
    key: str = ""
    value: str | None = None
    effect: str = ""

    @property
    def text(self) -> str:
        return (
            f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
        )


class _Spec(msgspec.Struct, gc=False):
    unschedulable: bool | None = None
    taints: tuple[_Taint, ...] | None = None


class _Address(msgspec.Struct, gc=False):
    type: str = ""
    address: str = ""


class _Info(msgspec.Struct, gc=False):
    kubeletVersion: str = ""
    osImage: str = ""
    kernelVersion: str = ""
    containerRuntimeVersion: str = ""
    architecture: str = ""


class _Status(msgspec.Struct, gc=False):
    conditions: Conditions | None = None
    addresses: tuple[_Address, ...] | None = None
    nodeInfo: _Info | None = None
    allocatable: dict[str, str] | None = None
    capacity: dict[str, str] | None = None


class _Node(Object, gc=False):
    spec: _Spec | None = None
    status: _Status | None = None


def _project(value: _Node) -> Node:
    spec, status = value.spec or _Spec(), value.status or _Status()
    info, amounts = status.nodeInfo or _Info(), status.allocatable or status.capacity or {}
    return Node(
        **basics(value.metadata),
        status=interned.intern(terminating_or(value.metadata, _status(spec, status))),
        roles=interned.intern(_roles(value.metadata.labels or {})),
        cordoned=bool(spec.unschedulable),
        taints=interned.intern(tuple(taint.text for taint in spec.taints or ())),
        version=intern(info.kubeletVersion),
        internal_ip=_address(status, "InternalIP"),
        external_ip=_address(status, "ExternalIP"),
        os=intern(info.osImage),
        architecture=intern(info.architecture),
        kernel=intern(info.kernelVersion),
        runtime=intern(info.containerRuntimeVersion),
        cpu=intern(amounts.get("cpu", "")),
        memory=intern(amounts.get("memory", "")),
        pods=intern(amounts.get("pods", "")),
        devices=interned.intern(
            tuple(sorted(name for name, amount in amounts.items() if "/" in name and amount != "0"))
        ),
    )


def _roles(labels: Mapping[str, str]) -> tuple[str, ...]:
    found = {key.removeprefix(_ROLE) for key in labels if key.startswith(_ROLE)}
    found.add(labels.get(_OLD_ROLE, ""))
    return tuple(sorted(found - {""}))


def _address(status: _Status, kind: str) -> str:
    return next((a.address for a in status.addresses or () if a.type == kind), "")


#: Conditions that indicate a problem when true, worst first.
_TROUBLES = {
    "NetworkUnavailable": "No network",
    "MemoryPressure": "Low memory",
    "DiskPressure": "Low disk space",
    "PIDPressure": "Too many processes",
}


def _status(spec: _Spec, status: _Status) -> Status:
    found = _condition_status(status)
    if not spec.unschedulable:
        return found
    if found.severity is Severity.OK:
        return Status(Severity.PAUSED, "Cordoned", "SchedulingDisabled")
    told = found.reason
    reason = Message("Cordoned. %(reason)s", reason=told) if told else Message("Cordoned")
    return Status(found.severity, found.word, reason)


def _condition_status(status: _Status) -> Status:
    ready = find_condition(status.conditions, "Ready")
    if ready is None:
        return Status(Severity.UNKNOWN, "Unknown")
    if ready.status != "True":
        reason = join_reason(ready.reason, ready.message)
        return Status(Severity.ERROR, "Not ready", reason)
    for condition, word in _TROUBLES.items():
        found = find_condition(status.conditions, condition)
        if found is not None and found.status == "True":
            return Status(Severity.WARN, word, found.text)
    return Status(Severity.OK, "Ready")


RUNTIME_CLASSES = GVR("node.k8s.io", "v1", "runtimeclasses")


class RuntimeClass(Projection, frozen=True):
    """A RuntimeClass. `overhead` is the overhead per pod, as a text like `cpu 250m` for each
    resource.
    """

    handler: str
    overhead: tuple[str, ...]


class _Overhead(msgspec.Struct, gc=False):
    podFixed: dict[str, str] | None = None


class _RuntimeClass(Object):
    handler: str = ""
    overhead: _Overhead | None = None


def _runtime_class(item: _RuntimeClass) -> RuntimeClass:
    fixed = (item.overhead and item.overhead.podFixed) or {}
    return RuntimeClass(
        **basics(item.metadata),
        handler=item.handler,
        overhead=tuple(f"{name} {amount}" for name, amount in sorted(fixed.items())),
    )


DECODERS: Decoders = {
    NODES: decoder(_Node, _project),
    RUNTIME_CLASSES: decoder(_RuntimeClass, _runtime_class),
}
