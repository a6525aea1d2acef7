"""Gateway API: GatewayClasses, Gateways, HTTPRoutes and GRPCRoutes.

Conditions are described in https://gateway-api.sigs.k8s.io/reference/spec/ and
https://gateway-api.sigs.k8s.io/geps/gep-1364/. Columns are the printer columns of the
definitions.
"""

from collections.abc import Sequence
from sys import intern

import msgspec

from console.kube.group_kind import group_kind
from console.kube.gvr import GATEWAY_CLASSES, GATEWAYS, GRPC_ROUTES, HTTP_ROUTES
from console.kube.projections.common import (
    Condition,
    Conditions,
    ConditionsOnly,
    Decoders,
    Object,
    Projection,
    Reference,
    basics,
    decoder,
    find_condition,
    terminating_or,
)
from console.kube.status import Severity, Status


class GatewayClass(Projection, frozen=True):
    status: Status
    controller: str
    description: str


class Gateway(Projection, frozen=True):
    """A Gateway.

    `listeners` are `protocol/port`. `routes` is the number of attached routes. `uses` are the
    certificates' Secrets, in the format of `Route.uses`.
    """

    status: Status
    class_name: str
    addresses: tuple[str, ...]
    listeners: tuple[str, ...]
    routes: int
    uses: tuple[str, ...]


class Route(Projection, frozen=True):
    """An HTTPRoute or GRPCRoute.

    `parents` and `backends` are names, prefixed with the namespace if it differs. Without
    `hostnames` those of the listeners apply. `uses` are parents and backends as `Kind.group/name`,
    or `Kind.group/namespace/name` in another namespace.
    """

    status: Status
    hostnames: tuple[str, ...]
    parents: tuple[str, ...]
    backends: tuple[str, ...]
    uses: tuple[str, ...]


#: Kind and group of references that leave them out.
_GATEWAY = ("Gateway", GATEWAYS.group)
_SECRET, _SERVICE = ("Secret", ""), ("Service", "")


class _ClassSpec(msgspec.Struct, gc=False):
    controllerName: str | None = None
    description: str | None = None


class _GatewayClass(Object):
    spec: _ClassSpec | None = None
    status: ConditionsOnly | None = None


class _Tls(msgspec.Struct, gc=False):
    certificateRefs: tuple[Reference, ...] | None = None


class _Listener(msgspec.Struct, gc=False):
    protocol: str | None = None
    port: int | None = None
    tls: _Tls | None = None


class _GatewaySpec(msgspec.Struct, gc=False):
    gatewayClassName: str | None = None
    listeners: tuple[_Listener, ...] | None = None


class _Address(msgspec.Struct, gc=False):
    value: str | None = None


class _ListenerStatus(msgspec.Struct, gc=False):
    attachedRoutes: int | None = None


class _GatewayStatus(msgspec.Struct, gc=False):
    addresses: tuple[_Address, ...] | None = None
    conditions: Conditions | None = None
    listeners: tuple[_ListenerStatus, ...] | None = None


class _Gateway(Object):
    spec: _GatewaySpec | None = None
    status: _GatewayStatus | None = None


class _RouteRule(msgspec.Struct, gc=False):
    backendRefs: tuple[Reference, ...] | None = None


class _RouteSpec(msgspec.Struct, gc=False):
    hostnames: tuple[str, ...] | None = None
    parentRefs: tuple[Reference, ...] | None = None
    rules: tuple[_RouteRule, ...] | None = None


class _RouteStatus(msgspec.Struct, gc=False):
    parents: tuple[ConditionsOnly, ...] | None = None


class _Route(Object):
    spec: _RouteSpec | None = None
    status: _RouteStatus | None = None


_ACCEPTED = Status(Severity.OK, "Accepted")
_READY = Status(Severity.OK, "Ready")
_UNSEEN = Status(Severity.PROGRESS, "Waiting")


def _gateway_class(item: _GatewayClass) -> GatewayClass:
    spec = item.spec or _ClassSpec()
    accepted = find_condition(item.status.conditions if item.status else None, "Accepted")
    return GatewayClass(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _refused(accepted) or _ACCEPTED),
        controller=spec.controllerName or "",
        description=spec.description or "",
    )


def _refused(accepted: Condition | None) -> Status | None:
    """Return the status unless the condition `Accepted` is true. A missing condition means waiting."""
    if accepted is None or accepted.status not in ("True", "False"):
        return Status(Severity.PROGRESS, "Waiting", accepted.text if accepted else "")
    if accepted.status == "False":
        return Status(Severity.ERROR, "Not accepted", accepted.text)
    return None


def _gateway(item: _Gateway) -> Gateway:
    spec, status = item.spec or _GatewaySpec(), item.status or _GatewayStatus()
    return Gateway(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _gateway_status(status)),
        class_name=intern(spec.gatewayClassName or ""),
        addresses=tuple(a.value for a in status.addresses or () if a.value),
        listeners=tuple(f"{found.protocol}/{found.port}" for found in spec.listeners or ()),
        routes=sum(found.attachedRoutes or 0 for found in status.listeners or ()),
        uses=_uses(
            [
                ref
                for listener in spec.listeners or ()
                for ref in (listener.tls and listener.tls.certificateRefs) or ()
            ],
            _SECRET,
            item.metadata.namespace,
        ),
    )


def _gateway_status(status: _GatewayStatus) -> Status:
    refused = _refused(find_condition(status.conditions, "Accepted"))
    if refused is not None:
        return refused
    programmed = find_condition(status.conditions, "Programmed")
    if programmed is None or programmed.status not in ("True", "False"):
        return Status(Severity.PROGRESS, "Waiting", programmed.text if programmed else "")
    if programmed.status == "True":
        return _READY
    if programmed.reason == "AddressNotAssigned":
        return Status(Severity.PROGRESS, "Waiting for an address", programmed.text)
    if programmed.reason == "Pending":
        return Status(Severity.PROGRESS, "Waiting", programmed.text)
    return Status(Severity.ERROR, "Not ready", programmed.text)


def _route(item: _Route) -> Route:
    spec = item.spec or _RouteSpec()
    references = [ref for rule in spec.rules or () for ref in rule.backendRefs or ()]
    return Route(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _route_status(item.status or _RouteStatus())),
        hostnames=spec.hostnames or (),
        parents=_names(spec.parentRefs, item.metadata.namespace),
        backends=_names(references, item.metadata.namespace),
        uses=(
            *_uses(spec.parentRefs, _GATEWAY, item.metadata.namespace),
            *_uses(references, _SERVICE, item.metadata.namespace),
        ),
    )


def _uses(
    references: Sequence[Reference] | None, default: tuple[str, str], home: str
) -> tuple[str, ...]:
    """Return references as `Kind.group/name`. `default` are kind and group that the API sets if a
    reference has none.
    """
    kind, group = default
    found = [
        f"{group_kind(ref.kind or kind, group if ref.group is None else ref.group)}/{name}"
        for ref in references or ()
        for name in _names([ref], home)
    ]
    return tuple(dict.fromkeys(found))


def _names(references: Sequence[Reference] | None, home: str) -> tuple[str, ...]:
    found = [
        ref.path if ref.namespace and ref.namespace != home else ref.name
        for ref in references or ()
        if ref.name
    ]
    return tuple(dict.fromkeys(found))


def _route_status(status: _RouteStatus) -> Status:
    """Return the worst status of all parents."""
    found = [_parent_status(parent) for parent in status.parents or ()]
    return min(found, key=lambda status: status.severity.rank, default=_UNSEEN)


def _parent_status(parent: ConditionsOnly) -> Status:
    refused = _refused(find_condition(parent.conditions, "Accepted"))
    if refused is not None:
        return refused
    resolved = find_condition(parent.conditions, "ResolvedRefs")
    if resolved is not None and resolved.status == "False":
        return Status(Severity.ERROR, "Broken reference", resolved.text)
    return _ACCEPTED


_decode_route = decoder(_Route, _route)

DECODERS: Decoders = {
    GATEWAY_CLASSES: decoder(_GatewayClass, _gateway_class),
    GATEWAYS: decoder(_Gateway, _gateway),
    HTTP_ROUTES: _decode_route,
    GRPC_ROUTES: _decode_route,
}
