"""The ports of a pod or a service, each with the line of kubectl that leads to it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.kube.gvr import PODS, SERVICES
from console.ui.kubectl import kubectl, quoted
from console.ui.manifests import mapping, text
from console.ui.panels import NOTHING, Panel
from console.ui.portlist import FORWARD, TCP, Port, ports_of
from console.ui.subject import Subject

#: Lower ones are the administrator's own on many machines.
_FIRST_FREE, _MOVED_BY = 1024, 8000


@dataclass(frozen=True, slots=True)
class Line:
    """A port as it is shown. `command` is "" where kubectl does not forward it, and `why` says why."""

    number: int
    name: str
    protocol: str
    command: str = ""
    why: str | Promise = ""


@dataclass(frozen=True, kw_only=True)
class PortsPanel(Panel):
    """For pods and services. Ends with its object: a pod that has ended has none."""

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
        context = {
            "lines": list(_lines(subject, manifest, ports, may=may)),
            "may_forward": may,
            "waits": gvr == PODS and phase != "Running",
        }
        return render_to_string("ui/panels/ports.html", context)


def _lines(
    subject: Subject, manifest: Mapping[str, Any], ports: tuple[Port, ...], *, may: bool
) -> Iterator[Line]:
    unselected = subject.kind.gvr == SERVICES and not mapping(manifest, "spec", "selector")
    for port in ports:
        why: str | Promise = ""
        if port.protocol != TCP:
            why = _("kubectl forwards TCP alone.")
        elif unselected:
            why = _("kubectl forwards to services with a selector alone.")
        command = forward_command(subject, port.number) if may and not why else ""
        yield Line(port.number, port.name, port.protocol, command, why if may else "")


def forward_command(subject: Subject, number: int) -> str:
    """The line that makes a port of the object one of this machine, by a number that anybody may use."""
    local = number if number >= _FIRST_FREE else number + _MOVED_BY
    ports = str(number) if local == number else f"{local}:{number}"
    target = quoted(f"{subject.kind.api_kind.lower()}/{subject.key.name}")
    return kubectl(f"port-forward {target} {ports}", subject.key)
