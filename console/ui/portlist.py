"""The declared ports of a pod or a service.

Container ports are informational: a process may listen on other ports as well.
https://kubernetes.io/docs/concepts/services-networking/service/
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import GVR, PODS, SERVICES, Key
from console.ui.kind import ResourceKind
from console.ui.kubectl import kubectl, quoted
from console.ui.manifests import mapping, mappings_at, number, text
from console.ui.network.ports import HIGHEST
from console.ui.podspecs import MOST

#: Permission that `kubectl port-forward` requires, also for services.
FORWARD = frozenset({("create", PODS, "portforward")})
TCP = "TCP"
HTTP, HTTPS = "http", "https"
#: Lower ports require administrator rights on many machines.
_FIRST_FREE, _MOVED_BY = 1024, 8000
_GROUPS = ("initContainers", "containers", "ephemeralContainers")


@dataclass(frozen=True, slots=True)
class Port:
    number: int
    name: str
    protocol: str


def ports_of(gvr: GVR, manifest: Mapping[str, Any]) -> tuple[Port, ...]:
    """Return the ports, each number and protocol once. Empty for an ExternalName service, which has
    no ports.
    """
    found: dict[tuple[int, str], Port] = {}
    for declared, field in _declared(gvr, mapping(manifest, "spec")):
        value = number(declared.get(field))
        if value is not None and 0 < value <= HIGHEST:
            protocol = text(declared.get("protocol")) or TCP
            port = Port(value, text(declared.get("name")), protocol)
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
