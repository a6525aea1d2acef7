"""Ingresses, IngressClasses and NetworkPolicies.

Texts follow kubectl (printIngress, printIngressClass, printNetworkPolicy in Kubernetes'
printers).
"""

from sys import intern

import msgspec

from console.kube.gvr import INGRESS_CLASSES, INGRESSES, NETWORK_POLICIES
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    Selector,
    annotation,
    basics,
    decoder,
    selector_text,
    terminating_or,
)
from console.kube.projections.services import LoadBalancer
from console.kube.status import Severity, Status

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


class _ServiceBackend(msgspec.Struct, gc=False):
    name: str = ""


class _Backend(msgspec.Struct, gc=False):
    service: _ServiceBackend | None = None


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


class _IngressStatus(msgspec.Struct, gc=False):
    loadBalancer: LoadBalancer | None = None


class _Ingress(Object):
    spec: _IngressSpec | None = None
    status: _IngressStatus | None = None


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


_ACTIVE = Status(Severity.OK, "Active")
_WAITING = Status(Severity.PROGRESS, "Waiting for an address")


def _ingress(item: _Ingress) -> Ingress:
    spec = item.spec or _IngressSpec()
    balancer = (item.status and item.status.loadBalancer) or LoadBalancer()
    addresses = balancer.addresses
    return Ingress(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _ACTIVE if addresses else _WAITING),
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
    group = f".{found.apiGroup}" if found.apiGroup else ""
    return f"{found.kind}{group}/{found.name}"


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
    INGRESSES: decoder(_Ingress, _ingress),
    INGRESS_CLASSES: decoder(_IngressClass, _ingress_class),
    NETWORK_POLICIES: decoder(_NetworkPolicy, _network_policy),
}
