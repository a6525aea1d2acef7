"""Descriptions of Services, EndpointSlices, Ingresses and IngressClasses."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.ui.core.amounts import seconds_text
from console.ui.core.manifests import mapping, mappings_at, number, text, texts
from console.ui.details.panels.description import DescriptionTable, Facts, Section, Sentences

_EXTERNAL_POLICIES: dict[str, str | Promise] = {
    "Cluster": gettext_lazy(
        "Cluster: traffic may go to pods on any node; the pods may not see the client's address"
    ),
    "Local": gettext_lazy(
        "Local: traffic goes only to pods on the node that received it, and keeps the client's address"
    ),
}
_INTERNAL_POLICIES: dict[str, str | Promise] = {
    "Cluster": gettext_lazy("Cluster: traffic may go to pods on any node"),
    "Local": gettext_lazy("Local: traffic goes only to pods on the client's node"),
}
#: https://kubernetes.io/docs/reference/networking/virtual-ips/#session-stickiness-timeout
_STICKY_SECONDS = 10800


def service(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    name = text(spec.get("externalName"))
    if spec.get("type") == "ExternalName":
        words = _(
            "DNS answers with the external name %(name)s. This service has no endpoints and no "
            "cluster IP."
        )
        yield Sentences([words % {"name": name or "—"}])
    elif spec.get("clusterIP") == "None":
        words = _(
            "Headless: DNS answers with the addresses of the endpoints, because this service has no "
            "cluster IP."
        )
        yield Sentences([words])
    cluster_ips = texts(spec.get("clusterIPs"))
    balancer = mappings_at(manifest, "status", "loadBalancer", "ingress")
    yield Facts(
        (_("Cluster IPs"), cluster_ips if len(cluster_ips) > 1 else ""),
        (_("IP families"), _families(spec)),
        (_("External IPs"), texts(spec.get("externalIPs"))),
        (_("Load balancer"), [_balancer_address(one) for one in balancer]),
        (_("Requested load balancer IP"), text(spec.get("loadBalancerIP"))),
        (_("Load balancer class"), text(spec.get("loadBalancerClass"))),
        (_("Allowed sources"), texts(spec.get("loadBalancerSourceRanges"))),
        (_("External traffic"), _policy(spec, "externalTrafficPolicy", _EXTERNAL_POLICIES)),
        (_("Internal traffic"), _policy(spec, "internalTrafficPolicy", _INTERNAL_POLICIES)),
        (_("Traffic distribution"), text(spec.get("trafficDistribution"))),
        (_("Health check port of nodes"), text(spec.get("healthCheckNodePort") or "")),
        (_("Session affinity"), _affinity(spec)),
        (
            _("Node ports"),
            _("not allocated for the load balancer")
            if spec.get("allocateLoadBalancerNodePorts") is False
            else "",
        ),
        (
            _("Pods that are not ready"),
            _("receive traffic") if spec.get("publishNotReadyAddresses") is True else "",
        ),
    )


def _families(spec: Mapping[str, Any]) -> str:
    families, policy = ", ".join(texts(spec.get("ipFamilies"))), text(spec.get("ipFamilyPolicy"))
    return f"{families} ({policy})" if families and policy else families or policy


def _policy(spec: Mapping[str, Any], name: str, words: Mapping[str, str | Promise]) -> str:
    value = text(spec.get(name))
    return str(words.get(value, value))


def _affinity(spec: Mapping[str, Any]) -> str:
    value = text(spec.get("sessionAffinity"))
    if value != "ClientIP":
        return "" if value == "None" else value
    seconds = number(mapping(spec, "sessionAffinityConfig", "clientIP").get("timeoutSeconds"))
    words = _("connections from the same client IP go to the same pod (timeout: %(time)s)")
    return words % {"time": seconds_text(_STICKY_SECONDS if seconds is None else seconds)}


def _balancer_address(ingress: Mapping[str, Any]) -> str:
    address = text(ingress.get("ip")) or text(ingress.get("hostname"))
    mode = text(ingress.get("ipMode"))
    ports = [
        f"{text(port.get('port'))}/{text(port.get('protocol'))} {text(port.get('error'))}".strip()
        for port in mappings_at(ingress, "ports")
    ]
    about = ", ".join(part for part in (mode, *ports) if part)
    return f"{address} ({about})" if about else address


def endpoint_slice(manifest: Mapping[str, Any]) -> Iterator[Section]:
    ports, endpoints = mappings_at(manifest, "ports"), mappings_at(manifest, "endpoints")
    yield DescriptionTable(
        (_("Name"), _("Port"), _("Protocol"), _("App protocol")),
        (
            (
                text(port.get("name")) or _("unnamed"),
                text(port.get("port")) or _("all ports"),
                text(port.get("protocol")) or "TCP",
                text(port.get("appProtocol")),
            )
            for port in ports
        ),
        len(ports),
        _("Ports"),
    )
    columns = (
        _("Addresses"),
        _("Conditions"),
        _("Target"),
        _("Node"),
        _("Zone"),
        _("Host name"),
        _("Used in zones"),
    )
    yield DescriptionTable(columns, map(_endpoint, endpoints), len(endpoints), _("Endpoints"))


def _endpoint(endpoint: Mapping[str, Any]) -> tuple[str | list[str], ...]:
    target = mapping(endpoint, "targetRef")
    zones = [text(zone.get("name")) for zone in mappings_at(endpoint, "hints", "forZones")]
    return (
        texts(endpoint.get("addresses")),
        _endpoint_conditions(mapping(endpoint, "conditions")),
        "/".join(part for part in (text(target.get("kind")), text(target.get("name"))) if part),
        text(endpoint.get("nodeName")),
        text(endpoint.get("zone")),
        text(endpoint.get("hostname")),
        ", ".join(zones),
    )


def _endpoint_conditions(conditions: Mapping[str, Any]) -> str:
    ready = conditions.get("ready") is not False
    serving = conditions.get("serving", ready) is not False
    found = [_("ready") if ready else _("not ready")]
    if serving != ready:
        found.append(_("serving") if serving else _("not serving"))
    if conditions.get("terminating") is True:
        found.append(_("terminating"))
    return ", ".join(found)


def ingress(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    rules = mappings_at(spec, "rules")
    paths = [(rule, path) for rule in rules for path in mappings_at(rule, "http", "paths") or [{}]]
    columns = (_("Host"), _("Path"), _("Path type"), _("Backend"))
    rows = (
        (
            text(rule.get("host")) or _("all hosts"),
            # A rule without paths, and a path without a value, match all paths.
            text(path.get("path")) or _("all paths"),
            text(path.get("pathType")),
            backend(mapping(path, "backend")) or _("the default backend"),
        )
        for rule, path in paths
    )
    yield DescriptionTable(columns, rows, len(paths), _("Rules"))
    default = backend(mapping(spec, "defaultBackend"))
    yield Facts((_("Default backend"), default or _default(rules)))
    secrets = mappings_at(spec, "tls")
    yield DescriptionTable(
        (_("Hosts"), _("Secret")),
        (
            (
                texts(tls.get("hosts")) or _("all hosts"),
                text(tls.get("secretName")) or _("none: the controller chooses the certificate"),
            )
            for tls in secrets
        ),
        len(secrets),
        _("TLS"),
    )


def _default(rules: list[Mapping[str, Any]]) -> str:
    return _("chosen by the ingress controller") if rules else ""


def backend(value: Mapping[str, Any]) -> str:
    """Return the backend of an Ingress as `service:port` or `Kind.group/name`, or ""."""
    resource, found = mapping(value, "resource"), mapping(value, "service")
    if resource:
        return reference_text(resource)
    port = mapping(found, "port")
    name, number_or_name = text(found.get("name")), text(port.get("number") or port.get("name"))
    return f"{name}:{number_or_name}" if number_or_name else name


def reference_text(reference: Mapping[str, Any], kind: str = "") -> str:
    """Return a reference as `Kind.group/name`, with the namespace before the name if given.

    The kind and its group are left out if the kind is `kind`.
    """
    group = text(reference.get("apiGroup")) or text(reference.get("group"))
    own = text(reference.get("kind")) or kind
    path = "/".join(
        part for part in (text(reference.get("namespace")), text(reference.get("name"))) if part
    )
    if own == kind:
        return path
    return f"{own}.{group}/{path}" if group else f"{own}/{path}"


def ingress_class(manifest: Mapping[str, Any]) -> Iterator[Section]:
    parameters = mapping(manifest, "spec", "parameters")
    if parameters:
        yield Facts(
            (_("Parameters"), reference_text(parameters)),
            (_("Scope of the parameters"), text(parameters.get("scope"))),
        )
