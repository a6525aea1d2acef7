"""Services and EndpointSlices.

Columns and texts follow kubectl (printService, printEndpointSlice in Kubernetes' printers).
"""

from sys import intern

import msgspec

from console.kube.gvr import ENDPOINT_SLICES, SERVICES
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    basics,
    decoder,
    join_reason,
    pairs_text,
    terminating_or,
)
from console.kube.projections.workload import ready_text
from console.kube.status import Severity, Status

#: https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetesioservice-name
SERVICE_NAME_LABEL = "kubernetes.io/service-name"


class Service(Projection, frozen=True):
    """A Service.

    `ports` are `port[:nodePort]/protocol`. `external` are external addresses or the
    ExternalName. `selector` is "" if the endpoints are managed manually. The readiness of
    endpoints is only in the EndpointSlices.
    """

    status: Status
    type: str
    cluster_ip: str
    external: tuple[str, ...]
    ports: tuple[str, ...]
    selector: str


class EndpointSlice(Projection, frozen=True):
    """An EndpointSlice.

    `ready` and `endpoints` count endpoints that are not terminating. `ports` are numbers, or the
    name or `*` if there is no number.
    """

    status: Status
    service: str
    address_type: str
    ports: tuple[str, ...]
    addresses: tuple[str, ...]
    ready: int
    endpoints: int


class _ServicePort(msgspec.Struct, gc=False):
    port: int = 0
    nodePort: int = 0
    protocol: str = "TCP"


class _ServiceSpec(msgspec.Struct, gc=False):
    type: str = "ClusterIP"
    clusterIP: str = ""
    clusterIPs: tuple[str, ...] | None = None
    externalIPs: tuple[str, ...] | None = None
    externalName: str = ""
    ports: tuple[_ServicePort, ...] | None = None
    selector: dict[str, str] | None = None


class _PortStatus(msgspec.Struct, gc=False):
    port: int = 0
    error: str | None = None


class LoadBalancerIngress(msgspec.Struct, gc=False):
    ip: str = ""
    hostname: str = ""
    ports: tuple[_PortStatus, ...] | None = None


class LoadBalancer(msgspec.Struct, gc=False):
    """The load balancer status of a Service or Ingress."""

    ingress: tuple[LoadBalancerIngress, ...] | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the sorted IP addresses or hostnames, like loadBalancerStatusStringer."""
        found = {item.ip or item.hostname for item in self.ingress or ()}
        return tuple(sorted(found - {""}))


class _ServiceStatus(msgspec.Struct, gc=False):
    loadBalancer: LoadBalancer | None = None


class _Service(Object):
    spec: _ServiceSpec | None = None
    status: _ServiceStatus | None = None


class _EndpointConditions(msgspec.Struct, gc=False):
    ready: bool | None = None
    terminating: bool | None = None


class _Endpoint(msgspec.Struct, gc=False):
    addresses: tuple[str, ...] | None = None
    conditions: _EndpointConditions | None = None


class _EndpointPort(msgspec.Struct, gc=False):
    name: str | None = None
    port: int | None = None


class _EndpointSlice(Object):
    addressType: str = ""
    endpoints: tuple[_Endpoint, ...] | None = None
    ports: tuple[_EndpointPort, ...] | None = None


#: Not OK: the readiness of the endpoints is unknown here.
_ACTIVE = Status(Severity.DONE, "Active")
_NO_ENDPOINTS = Status(Severity.PAUSED, "No endpoints")
_ALL_READY = Status(Severity.OK, "Ready")


def _service(item: _Service) -> Service:
    spec = item.spec or _ServiceSpec()
    balancer = (item.status and item.status.loadBalancer) or LoadBalancer()
    return Service(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _service_status(spec, balancer)),
        type=intern(spec.type),
        cluster_ip=next(iter(spec.clusterIPs or ()), spec.clusterIP),
        external=_external(spec, balancer),
        ports=tuple(_port(port) for port in spec.ports or ()),
        selector=pairs_text(spec.selector),
    )


def _port(port: _ServicePort) -> str:
    outside = f":{port.nodePort}" if port.nodePort else ""
    return f"{port.port}{outside}/{port.protocol}"


def _external(spec: _ServiceSpec, balancer: LoadBalancer) -> tuple[str, ...]:
    """Return the external addresses like getServiceExternalIP, without placeholders such as
    `<none>`.
    """
    if spec.type == "ExternalName":
        return (spec.externalName,) if spec.externalName else ()
    assigned = balancer.addresses if spec.type == "LoadBalancer" else ()
    return (*assigned, *(spec.externalIPs or ()))


def _service_status(spec: _ServiceSpec, balancer: LoadBalancer) -> Status:
    if spec.type != "LoadBalancer":
        return _ACTIVE
    for ingress in balancer.ingress or ():
        for port in ingress.ports or ():
            if port.error:
                return Status(
                    Severity.ERROR, "Port failed", join_reason(str(port.port), port.error)
                )
    if not balancer.addresses:
        return Status(Severity.PROGRESS, "Waiting for an address")
    return _ACTIVE


def _endpoint_slice(item: _EndpointSlice) -> EndpointSlice:
    conditions = [endpoint.conditions for endpoint in item.endpoints or ()]
    staying = [found for found in conditions if found is None or not found.terminating]
    # API documentation: "Consumers should interpret an unset ready condition as true."
    ready = sum(found is None or found.ready is not False for found in staying)
    return EndpointSlice(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _slice_status(ready, len(staying))),
        service=(item.metadata.labels or {}).get(SERVICE_NAME_LABEL, ""),
        address_type=intern(item.addressType),
        ports=tuple(_endpoint_port(port) for port in item.ports or ()),
        addresses=tuple(a for endpoint in item.endpoints or () for a in endpoint.addresses or ()),
        ready=ready,
        endpoints=len(staying),
    )


def _endpoint_port(port: _EndpointPort) -> str:
    return str(port.port) if port.port is not None else port.name or "*"


def _slice_status(ready: int, endpoints: int) -> Status:
    if not endpoints:
        return _NO_ENDPOINTS
    if ready == endpoints:
        return _ALL_READY
    severity = Severity.WARN if ready else Severity.ERROR
    return Status(severity, "Not ready", ready_text(ready, endpoints))


DECODERS: Decoders = {
    SERVICES: decoder(_Service, _service),
    ENDPOINT_SLICES: decoder(_EndpointSlice, _endpoint_slice),
}
