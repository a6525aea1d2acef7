"""The declared ports of a pod or a service, and their panel.

Container ports are informational: a process may listen on other ports as well.
https://kubernetes.io/docs/concepts/services-networking/service/
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import GVR, PODS, SERVICES, Key
from console.ui.core.action_texts import kubectl, quoted
from console.ui.core.kind import ResourceKind
from console.ui.core.manifests import mapping, mappings_at, number, text
from console.ui.core.podspecs import MOST
from console.ui.core.subject import Subject
from console.ui.details.panels import NOTHING, Panel
from console.ui.forms.fields import HIGHEST

#: Permission that `kubectl port-forward` requires, also for services.
FORWARD = frozenset({("create", PODS, "portforward")})
TCP = "TCP"
HTTP, HTTPS = "http", "https"
#: Lower ports require administrator rights on many machines.
_FIRST_FREE, _MOVED_BY = 1024, 8000
_GROUPS = ("initContainers", "containers", "ephemeralContainers")


@dataclass(frozen=True, slots=True)
class Port:
    """A port. `target` is the number or name of the container port, `node_port` the port on each
    node, and `app_protocol` the application protocol of a service's port. They are "" if not set.
    """

    number: int
    name: str
    protocol: str
    target: str = ""
    node_port: str = ""
    app_protocol: str = ""


def ports_of(gvr: GVR, manifest: Mapping[str, Any]) -> tuple[Port, ...]:
    """Return the ports, each number and protocol once. Empty for an ExternalName service, which has
    no ports.
    """
    found: dict[tuple[int, str], Port] = {}
    for declared, field in _declared(gvr, mapping(manifest, "spec")):
        value = number(declared.get(field))
        if value is not None and 0 < value <= HIGHEST:
            protocol = text(declared.get("protocol")) or TCP
            port = Port(
                value,
                text(declared.get("name")),
                protocol,
                text(declared.get("targetPort")),
                text(declared.get("nodePort") or ""),
                text(declared.get("appProtocol")),
            )
            found.setdefault((value, protocol), port)
    return tuple(found.values())[:MOST]


def _declared(gvr: GVR, spec: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each port declaration with the name of its number field."""
    if gvr == PODS:
        for group in _GROUPS:
            for container in mappings_at(spec, group)[:MOST]:
                yield from ((port, "containerPort") for port in mappings_at(container, "ports"))
    elif gvr == SERVICES and spec.get("type") != "ExternalName":
        yield from ((port, "port") for port in mappings_at(spec, "ports"))


def scheme_of(number: object, name: str = "") -> str:
    """Return the likely URL scheme of a port, by its number and name."""
    secure = str(number) in ("443", "8443") or name.startswith(HTTPS)
    return HTTPS if secure else HTTP


def forward_command(kind: ResourceKind, key: Key, number: int) -> str:
    """Return the `kubectl port-forward` command, with a local port that requires no administrator
    rights.
    """
    local = number if number >= _FIRST_FREE else number + _MOVED_BY
    ports = str(number) if local == number else f"{local}:{number}"
    target = quoted(f"{kind.api_kind.lower()}/{key.name}")
    return kubectl(f"port-forward {target} {ports}", key)


#: Name of the action that opens a port (`console.proxying.actions`).
_OPEN = "open-port"


@dataclass(frozen=True, slots=True)
class PortLine:
    """A displayed port.

    `command` is the kubectl command, or "" if kubectl can't forward the port, with the reason in
    `why`. `open_url` opens the port in the browser. It is "" if that is not possible.
    """

    port: Port
    command: str = ""
    why: str | Promise = ""
    open_url: str = ""


@dataclass(frozen=True, kw_only=True)
class PortsPanel(Panel):
    """Ports of pods and services. Hidden for terminated pods."""

    id: str = "ports"
    title: str | Promise = gettext_lazy("Ports")

    def html(self, subject: Subject) -> SafeString:
        manifest, gvr = subject.manifest, subject.kind.gvr
        phase = text(mapping(manifest, "status").get("phase"))
        if gvr == PODS and phase in ("Succeeded", "Failed"):
            return NOTHING
        ports = ports_of(gvr, manifest)
        if not ports:
            return NOTHING
        may = all(
            subject.access.can(verb, of, namespace=subject.key.namespace, subresource=sub)
            for verb, of, sub in FORWARD
        )
        url = _open_url(subject)
        context = {
            "lines": list(_lines(subject, manifest, ports, url, may=may)),
            "with_node_ports": any(port.node_port for port in ports),
            "with_app_protocols": any(port.app_protocol for port in ports),
            "may_forward": may,
            "uid": subject.entry.projection.uid,
            "open_url": url,
            "of_service": gvr == SERVICES,
            "any_port": gvr == PODS,
            "waits": gvr == PODS and phase != "Running",
        }
        return render_to_string("ui/panels/ports.html", context)


def _open_url(subject: Subject) -> str:
    """Return the URL that opens a port of the object, or "" if the proxy is not configured or the
    viewer lacks permission.
    """
    action = subject.kind.actions_by_name.get(_OPEN)
    if settings.PROXY_BASE is None or action is None:
        return ""
    if not action.is_allowed(subject.access, subject.kind.gvr, subject.key):
        return ""
    return action.url(subject.cluster, subject.kind.segment, subject.key)


def _lines(
    subject: Subject,
    manifest: Mapping[str, Any],
    ports: tuple[Port, ...],
    open_url: str,
    *,
    may: bool,
) -> Iterator[PortLine]:
    unselected = subject.kind.gvr == SERVICES and not mapping(manifest, "spec", "selector")
    for port in ports:
        why: str | Promise = ""
        if port.protocol != TCP:
            why = _("kubectl port-forward supports only TCP.")
        elif unselected:
            why = _("kubectl port-forward supports only services with a selector.")
        command = ""
        if may and not why:
            command = forward_command(subject.kind, subject.key, port.number)
        query = {"port": port.number, "scheme": scheme_of(port.number, port.name)}
        opens = f"{open_url}?{urlencode(query)}" if open_url and port.protocol == TCP else ""
        yield PortLine(port, command, why, opens)
