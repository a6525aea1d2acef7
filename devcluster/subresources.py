"""Handlers of the subresources: scale, eviction, binding, token, finalize, approval and log."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from devcluster.authn import TokenFile, service_account
from devcluster.crud import Objects
from devcluster.ephemeral import SUBRESOURCE as EPHEMERAL
from devcluster.errors import bad_request, conflict, method_not_allowed, page_not_found
from devcluster.evictions import Evictions
from devcluster.handlers import Handlers
from devcluster.logs.options import read_log_options
from devcluster.logs.runs import container_of
from devcluster.logs.streaming import LogStream
from devcluster.objects import Obj, dig, meta, timestamp
from devcluster.patching import Patches
from devcluster.requests import (
    Request,
    Response,
    StreamingResponse,
    json_response,
    success_response,
)
from devcluster.scales import Scales
from devcluster.write_options import Write

Answering = Callable[[Request], Response | StreamingResponse]
_TOKEN_SECONDS = 3600


class Subresources:
    """Dispatch requests to the handler of the subresource."""

    def __init__(self, handlers: Handlers, patches: Patches, tokens: TokenFile) -> None:
        self._handlers, self._objects = handlers, handlers.objects
        self._patches, self._tokens = patches, tokens
        self._by_name: Mapping[str, Answering] = {
            "status": self._part,
            "approval": self._part,
            EPHEMERAL: self._part,
            "scale": Scales(handlers).answer,
            "eviction": Evictions(handlers).answer,
            "binding": self._bind,
            "token": self._token,
            "finalize": self._finalize,
            "log": self._log,
        }

    def answer(self, call: Request) -> Response | StreamingResponse:
        """Raise a 404 error for an unknown subresource and 405 for an unsupported verb."""
        found = call.declared.subresource(call.info.subresource)
        custom = self._objects.customs.find(call.declared, call.version)
        if found is None or (custom and found.name == "status" and not custom.has_status):
            raise page_not_found()
        if call.info.verb not in found.verbs:
            raise method_not_allowed()
        return self._by_name[found.name](call)

    def _part(self, call: Request) -> Response:
        """Read the object, or update the part of the object that the subresource covers."""
        part = call.info.subresource if call.info.subresource == EPHEMERAL else "status"
        if call.info.verb == "get":
            return self._handlers.get(call)
        if call.info.verb == "update":
            return self._handlers.update(call, part)
        return self._patches.patch(call, part)

    # Pods ---------------------------------------------------------------------------------------

    def _bind(self, call: Request) -> Response:
        binding = call.object()
        if meta(binding).get("name", call.info.name) != call.info.name:
            raise bad_request("name in URL does not match name in Binding object")
        node = dig(binding, "target.name")
        if not node:
            raise bad_request("target.name is required")

        def mutate(pod: Obj) -> Obj:
            if dig(pod, "spec.nodeName"):
                why = (
                    f'pod {call.info.name} is already assigned to node "{pod["spec"]["nodeName"]}"'
                )
                raise conflict("", "pods/binding", call.info.name, why)
            bind_pod(pod, node)
            return pod

        info = call.info
        bind(self._objects, info.namespace, info.name, mutate)
        return success_response(201)

    def _log(self, call: Request) -> Response | StreamingResponse:
        info = call.info
        options = read_log_options(info.name, call.query)
        pod = self._objects.get(call.declared, info.namespace, info.name).load()
        container = container_of(pod, options.container)
        if not dig(pod, "spec.nodeName"):
            # A pod that is not scheduled has no log. kube-apiserver does not report this as an
            # error.
            return Response(b"", 204)
        pods = self._objects.store.collection(call.declared.storage)
        reading = LogStream(pods, pod, container, options)
        return StreamingResponse(reading.chunks(), "text/plain", reading.close)

    # Others -------------------------------------------------------------------------------------

    def _token(self, call: Request) -> Response:
        request = call.object()
        info = call.info
        record = self._objects.get(call.declared, info.namespace, info.name)
        seconds = int(dig(request, "spec.expirationSeconds") or _TOKEN_SECONDS)
        user = service_account(info.namespace, info.name, record.uid)
        ends = datetime.now(UTC) + timedelta(seconds=seconds)
        request["kind"], request["apiVersion"] = "TokenRequest", "authentication.k8s.io/v1"
        request["metadata"] = {"name": info.name, "namespace": info.namespace}
        request["metadata"]["creationTimestamp"] = timestamp()
        request.setdefault("spec", {})["expirationSeconds"] = seconds
        token = self._tokens.issue(user, seconds)
        request["status"] = {"token": token, "expirationTimestamp": timestamp(ends)}
        return json_response(request, 201)

    def _finalize(self, call: Request) -> Response:
        finalizers = dig(call.object(), "spec.finalizers") or []

        def mutate(namespace: Obj) -> Obj:
            namespace.setdefault("spec", {})["finalizers"] = finalizers
            return namespace

        write = self._handlers.write(call, "finalize")
        changed = self._objects.update(
            call.declared, call.version, "", call.info.name, mutate, write
        )
        return self._handlers.object_response(call, changed)


def bind_pod(pod: Obj, node: str) -> None:
    """Assign the pod to the node and set the PodScheduled condition."""
    pod["spec"]["nodeName"] = node
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    conditions[:] = [c for c in conditions if c.get("type") != "PodScheduled"]
    conditions.append({"type": "PodScheduled", "status": "True", "lastTransitionTime": timestamp()})


def bind(objects: Objects, namespace: str, name: str, mutate: Callable[[Obj], Obj]) -> None:
    pods = objects.registry.get("pods")
    objects.update(pods, "v1", namespace, name, mutate, Write(subresource="binding"))
