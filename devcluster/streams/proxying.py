"""The proxy subresource of pods and services, which serves the pages of simulated containers.

https://kubernetes.io/docs/tasks/access-application-cluster/access-cluster-services/
"""

import re
from collections.abc import Iterator

from aiohttp import web

from devcluster.controllers.pods import is_ready
from devcluster.crud import Objects
from devcluster.errors import StatusError, bad_request, method_not_allowed
from devcluster.logs.runs import declared_containers
from devcluster.objects import Obj, dicts, dig
from devcluster.requestinfo import RequestInfo
from devcluster.requests import Request
from devcluster.store import Record
from devcluster.streams.pages import listening_container, page_response
from devcluster.streams.targets import pod_on_node, port_number

SUBRESOURCE = "proxy"
#: Optional scheme, name and optional port.
_NAME = re.compile(r"(?:(?P<scheme>https?):)?(?P<name>[^:]+)(?::(?P<port>[^:]*))?")


def is_proxied(info: RequestInfo) -> bool:
    resource = info.resource in ("pods", "services")
    return resource and info.subresource == SUBRESOURCE and not info.group


class ProxyHandler:
    """Handler of proxy requests. Requests are already authorized for the name in the path including
    its port.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def answer(self, request: web.Request, call: Request) -> web.Response:
        """Handle a request. Raise `StatusError` for errors of kube-apiserver."""
        declared = call.declared.subresource(SUBRESOURCE)
        if declared is None or call.info.verb not in declared.verbs:
            raise method_not_allowed()
        parts = _NAME.fullmatch(call.info.name)
        if parts is None:
            raise bad_request(f'invalid {call.declared.singular_name} request "{call.info.name}"')
        record = self._objects.get(call.declared, call.info.namespace, parts["name"])
        if call.info.resource == "pods":
            pod = pod_on_node(record)
            first = next((str(one["containerPort"]) for one in _container_ports(pod)), "80")
            port = port_number(parts["port"] or first)
            if not port:
                raise bad_request(f'invalid port "{parts["port"]}"')
        else:
            pod, port = self._ready_pod(record, parts["port"] or "")
        target = listening_container(pod, port)
        if target is None:
            address = f"{dig(pod, 'status.podIP')}:{port}"
            why = f"dial tcp {address}: connect: connection refused"
            raise _unavailable(f"error trying to reach service: {why}")
        prefix = f"/{SUBRESOURCE}/"
        path = request.path_qs.partition(prefix)[2]
        return page_response(target, request.method, f"/{path}")

    def _ready_pod(self, record: Record, wanted: str) -> tuple[Obj, int]:
        """Return a ready pod of the service and its target port."""
        service = record.load()
        ports = list(dicts(dig(service, "spec.ports")))
        found = next((one for one in ports if _is_port(one, wanted)), None)
        if not wanted and len(ports) == 1:
            found = ports[0]
        if found is None:
            raise _unavailable(f'no service port "{wanted}" found for service "{record.name}"')
        for pod in self._pods(record.namespace, dig(service, "spec.selector") or {}):
            number = _target_port(pod, found)
            if number:
                return pod, number
        raise _unavailable(f'no endpoints available for service "{record.name}"')

    def _pods(self, namespace: str, selector: Obj) -> Iterator[Obj]:
        for record in self._objects.store.collection("pods").records_in(namespace):
            selected = selector.items() <= record.labels.items()
            if selector and selected and is_ready(pod := record.load()):
                yield pod


def _is_port(port: Obj, wanted: str) -> bool:
    return bool(wanted) and wanted in (str(port.get("port")), port.get("name"))


def _target_port(pod: Obj, port: Obj) -> int:
    """Return the target port, or 0 if no container has a port with that name."""
    wanted = port.get("targetPort") or port.get("port")
    if isinstance(wanted, int):
        return wanted
    ports = _container_ports(pod)
    return next((int(one["containerPort"]) for one in ports if one.get("name") == wanted), 0)


def _container_ports(pod: Obj) -> Iterator[Obj]:
    for declared in declared_containers(pod):
        yield from dicts(declared.get("ports"))


def _unavailable(message: str) -> StatusError:
    return StatusError(503, "ServiceUnavailable", message)
