"""Services, EndpointSlices, Ingresses, IngressClasses and NetworkPolicies.

Columns and texts follow kubectl (printService, printEndpointSlice, printIngress,
printIngressClass, printNetworkPolicy in Kubernetes' printers).
"""

from sys import intern

import msgspec

from console.kube.group_kind import group_kind
from console.kube.gvr import ENDPOINT_SLICES, INGRESS_CLASSES, INGRESSES, NETWORK_POLICIES, SERVICES
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    Reference,
    Selector,
    annotation,
    basics,
    decoder,
    join_reason,
    pairs_text,
    selector_text,
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


class _LoadBalancerIngress(msgspec.Struct, gc=False):
    ip: str = ""
    hostname: str = ""
    ports: tuple[_PortStatus, ...] | None = None


class _LoadBalancer(msgspec.Struct, gc=False):
    """The load balancer status of a Service or Ingress."""

    ingress: tuple[_LoadBalancerIngress, ...] | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the sorted IP addresses or hostnames, like loadBalancerStatusStringer."""
        found = {item.ip or item.hostname for item in self.ingress or ()}
        return tuple(sorted(found - {""}))


class _BalancerStatus(msgspec.Struct, gc=False):
    loadBalancer: _LoadBalancer | None = None


class _Service(Object):
    spec: _ServiceSpec | None = None
    status: _BalancerStatus | None = None


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
    balancer = (item.status and item.status.loadBalancer) or _LoadBalancer()
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


def _external(spec: _ServiceSpec, balancer: _LoadBalancer) -> tuple[str, ...]:
    """Return the external addresses like getServiceExternalIP, without placeholders such as
    `<none>`.
    """
    if spec.type == "ExternalName":
        return (spec.externalName,) if spec.externalName else ()
    assigned = balancer.addresses if spec.type == "LoadBalancer" else ()
    return (*assigned, *(spec.externalIPs or ()))


def _service_status(spec: _ServiceSpec, balancer: _LoadBalancer) -> Status:
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
        ports=tuple(str(p.name or "*" if p.port is None else p.port) for p in item.ports or ()),
        addresses=tuple(a for endpoint in item.endpoints or () for a in endpoint.addresses or ()),
        ready=ready,
        endpoints=len(staying),
    )


def _slice_status(ready: int, endpoints: int) -> Status:
    if not endpoints:
        return _NO_ENDPOINTS
    if ready == endpoints:
        return _ALL_READY
    text = ready_text(ready, endpoints)
    if ready:
        return Status(Severity.WARN, "Partially ready", text)
    return Status(Severity.ERROR, "Not ready", text)


#: The predecessor of `spec.ingressClassName`, still supported by controllers.
CLASS_ANNOTATION = "kubernetes.io/ingress.class"
DEFAULT_CLASS_ANNOTATION = "ingressclass.kubernetes.io/is-default-class"


class Ingress(Projection, frozen=True):
    """An Ingress.

    `hosts` are the distinct hosts of the rules, `*` for a rule without a host. `backends` are
    service names. `tls_secrets` are Secret names.
    """

    status: Status
    class_name: str
    hosts: tuple[str, ...]
    addresses: tuple[str, ...]
    backends: tuple[str, ...]
    tls: bool
    tls_secrets: tuple[str, ...]


class IngressClass(Projection, frozen=True):
    """An IngressClass. `parameters` is `Kind.group/name`, or ""."""

    default: bool
    controller: str
    parameters: str


class NetworkPolicy(Projection, frozen=True):
    """A NetworkPolicy.

    `selector` is "" if it selects all pods. `ingress` and `egress` are numbers of rules: None if
    the policy does not affect the direction, 0 if it denies all traffic.
    """

    selector: str
    ingress: int | None
    egress: int | None


class _Backend(msgspec.Struct, gc=False):
    service: Reference | None = None


class _Path(msgspec.Struct, gc=False):
    backend: _Backend | None = None


class _Http(msgspec.Struct, gc=False):
    paths: tuple[_Path, ...] | None = None


class _Rule(msgspec.Struct, gc=False):
    host: str = ""
    http: _Http | None = None


class _Tls(msgspec.Struct, gc=False):
    secretName: str = ""


class _IngressSpec(msgspec.Struct, gc=False):
    ingressClassName: str | None = None
    defaultBackend: _Backend | None = None
    rules: tuple[_Rule, ...] | None = None
    tls: tuple[_Tls, ...] | None = None


class _Ingress(Object):
    spec: _IngressSpec | None = None
    status: _BalancerStatus | None = None


class _Parameters(msgspec.Struct, gc=False):
    apiGroup: str | None = None
    kind: str = ""
    name: str = ""


class _ClassSpec(msgspec.Struct, gc=False):
    controller: str = ""
    parameters: _Parameters | None = None


class _IngressClass(Object):
    spec: _ClassSpec | None = None


class _PolicySpec(msgspec.Struct, gc=False):
    podSelector: Selector | None = None
    policyTypes: tuple[str, ...] | None = None
    ingress: tuple[msgspec.Raw, ...] | None = None
    egress: tuple[msgspec.Raw, ...] | None = None


class _NetworkPolicy(Object):
    spec: _PolicySpec | None = None


_ADDRESSED = Status(Severity.OK, "Active")
_WAITING = Status(Severity.PROGRESS, "Waiting for an address")


def _ingress(item: _Ingress) -> Ingress:
    spec = item.spec or _IngressSpec()
    balancer = (item.status and item.status.loadBalancer) or _LoadBalancer()
    addresses = balancer.addresses
    return Ingress(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _ADDRESSED if addresses else _WAITING),
        class_name=intern(spec.ingressClassName or annotation(item.metadata, CLASS_ANNOTATION)),
        hosts=tuple(dict.fromkeys(rule.host or "*" for rule in spec.rules or ())) or ("*",),
        addresses=addresses,
        backends=_backends(spec),
        tls=bool(spec.tls),
        tls_secrets=tuple(dict.fromkeys(t.secretName for t in spec.tls or () if t.secretName)),
    )


def _backends(spec: _IngressSpec) -> tuple[str, ...]:
    paths = [path for rule in spec.rules or () if rule.http for path in rule.http.paths or ()]
    found = [spec.defaultBackend, *(path.backend for path in paths)]
    services = [backend.service for backend in found if backend is not None]
    return tuple(dict.fromkeys(s.name for s in services if s is not None and s.name))


def _ingress_class(item: _IngressClass) -> IngressClass:
    spec = item.spec or _ClassSpec()
    return IngressClass(
        **basics(item.metadata),
        default=annotation(item.metadata, DEFAULT_CLASS_ANNOTATION) == "true",
        controller=spec.controller,
        parameters=_parameters(spec.parameters) if spec.parameters else "",
    )


def _parameters(found: _Parameters) -> str:
    return f"{group_kind(found.kind, found.apiGroup or '')}/{found.name}"


def _network_policy(item: _NetworkPolicy) -> NetworkPolicy:
    spec = item.spec or _PolicySpec()
    types = spec.policyTypes
    if not types:
        # API default: every policy affects ingress, and egress only if it has egress rules.
        types = ("Ingress", "Egress") if spec.egress else ("Ingress",)
    return NetworkPolicy(
        **basics(item.metadata),
        selector=selector_text(spec.podSelector),
        ingress=len(spec.ingress or ()) if "Ingress" in types else None,
        egress=len(spec.egress or ()) if "Egress" in types else None,
    )


DECODERS: Decoders = {
    SERVICES: decoder(_Service, _service),
    ENDPOINT_SLICES: decoder(_EndpointSlice, _endpoint_slice),
    INGRESSES: decoder(_Ingress, _ingress),
    INGRESS_CLASSES: decoder(_IngressClass, _ingress_class),
    NETWORK_POLICIES: decoder(_NetworkPolicy, _network_policy),
}
