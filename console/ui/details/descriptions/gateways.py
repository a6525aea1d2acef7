"""Descriptions of Gateways and routes of the Gateway API.

https://gateway-api.sigs.k8s.io/reference/spec/
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.ui.core.manifests import mapping, mappings_at, text, texts
from console.ui.details.descriptions.network import reference_text
from console.ui.details.descriptions.selectors import selector_of
from console.ui.details.panels.description import DescriptionTable, Facts, Section, flattened


def gateway(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    listeners = mappings_at(spec, "listeners")
    attached = {
        text(one.get("name")): text(one.get("attachedRoutes"))
        for one in mappings_at(manifest, "status", "listeners")
    }
    columns = (
        _("Name"),
        _("Host"),
        _("Port"),
        _("Protocol"),
        _("TLS"),
        _("Accepts routes from"),
        _("Kinds of routes"),
        _("Routes"),
    )
    rows = (
        (
            text(one.get("name")),
            text(one.get("hostname")) or _("all hosts"),
            text(one.get("port")),
            text(one.get("protocol")),
            _listener_tls(mapping(one, "tls")),
            _allowed(mapping(one, "allowedRoutes", "namespaces")),
            [text(kind.get("kind")) for kind in mappings_at(one, "allowedRoutes", "kinds")],
            attached.get(text(one.get("name")), ""),
        )
        for one in listeners
    )
    yield DescriptionTable(columns, rows, len(listeners), _("Listeners"))
    requested = mappings_at(spec, "addresses")
    yield Facts(
        (_("Requested addresses"), [text(one.get("value")) for one in requested]),
        (
            _("Parameters"),
            reference_text(mapping(spec, "infrastructure", "parametersRef"))
            if mapping(spec, "infrastructure", "parametersRef")
            else "",
        ),
    )


def _listener_tls(tls: Mapping[str, Any]) -> list[str]:
    if not tls:
        return []
    certificates = mappings_at(tls, "certificateRefs")
    mode = text(tls.get("mode")) or "Terminate"
    modes = {"Terminate": _("decrypted by the gateway"), "Passthrough": _("passed on encrypted")}
    return [
        modes.get(mode, mode),
        *(reference_text(one, "Secret") for one in certificates),
    ]


def _allowed(namespaces: Mapping[str, Any]) -> str:
    match namespaces.get("from"):
        case "All":
            return _("all projects")
        case "Selector":
            projects = selector_of(namespaces.get("selector") or {})
            return _("projects with %(projects)s") % {"projects": projects}
        case "None":
            return _("no project")
        case _:
            return _("this project")


def route(manifest: Mapping[str, Any]) -> Iterator[Section]:
    spec = mapping(manifest, "spec")
    yield Facts(
        (_("Hosts"), texts(spec.get("hostnames")) or _("the hosts of its gateways")),
        (_("Attached to"), [_parent(one) for one in mappings_at(spec, "parentRefs")]),
    )
    rules = mappings_at(spec, "rules")
    rows = (
        (
            [_match(one) for one in mappings_at(rule, "matches")] or _("all requests"),
            [_filter(one) for one in mappings_at(rule, "filters")],
            [_backend(one) for one in mappings_at(rule, "backendRefs")] or _("none"),
            [f"{text(k)}: {text(v)}" for k, v in mapping(rule, "timeouts").items()],
        )
        for rule in rules
    )
    columns = (_("Matches"), _("Filters"), _("Backends"), _("Timeouts"))
    yield DescriptionTable(columns, rows, len(rules), _("Rules"))


def _parent(parent: Mapping[str, Any]) -> str:
    name, listener = reference_text(parent, "Gateway"), text(parent.get("sectionName"))
    if listener:
        name = _("%(gateway)s, listener %(listener)s") % {"gateway": name, "listener": listener}
    port = text(parent.get("port"))
    return _("%(gateway)s, port %(port)s") % {"gateway": name, "port": port} if port else name


def _match(match: Mapping[str, Any]) -> str:
    """Return the conditions of a match, which must all be true."""
    path, method = mapping(match, "path"), match.get("method")
    found = [text(method)]
    if path:
        found.append(f"{text(path.get('type')) or 'PathPrefix'} {text(path.get('value')) or '/'}")
    if isinstance(method, dict):
        # GRPCRoute: https://gateway-api.sigs.k8s.io/api-types/grpcroute/
        found.append(f"{text(method.get('service')) or '*'}/{text(method.get('method')) or '*'}")
    words = {"headers": _("header %(name)s"), "queryParams": _("query parameter %(name)s")}
    for field, word in words.items():
        for one in mappings_at(match, field):
            sign = "~" if one.get("type") == "RegularExpression" else "="
            name = word % {"name": text(one.get("name"))}
            found.append(f"{name} {sign} {text(one.get('value'))}")
    return ", ".join(part for part in found if part)


def _filter(one: Mapping[str, Any]) -> str:
    """Return the type of a filter with its settings."""
    settings = [
        f"{path}: {', '.join(lines)}"
        for name, value in one.items()
        if name != "type"
        for path, lines in flattened(value if isinstance(value, dict) else {name: value})
    ]
    kind = text(one.get("type"))
    return f"{kind} ({', '.join(settings)})" if settings else kind


def _backend(ref: Mapping[str, Any]) -> str:
    name, port, weight = reference_text(ref, "Service"), text(ref.get("port")), ref.get("weight")
    target = f"{name}:{port}" if port else name
    if weight is None:
        return target
    return _("%(backend)s (weight %(weight)s)") % {"backend": target, "weight": text(weight)}


def gateway_class(manifest: Mapping[str, Any]) -> Iterator[Section]:
    parameters = mapping(manifest, "spec", "parametersRef")
    if parameters:
        yield Facts((_("Parameters"), reference_text(parameters)))
