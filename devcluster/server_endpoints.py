"""Endpoints of the server itself: health, version, discovery and OpenAPI."""

from aiohttp import web

from devcluster import discovery, openapi
from devcluster.cluster import Cluster
from devcluster.errors import method_not_allowed, page_not_found
from devcluster.objects import Obj, encode
from devcluster.requests import Response, json_response

_HEALTH = frozenset({"healthz", "livez", "readyz"})
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_OPENAPI_V2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


class ServerEndpoints:
    """Handler of non-resource paths. `answer` raises a 404 error for unknown paths."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def answer(self, request: web.Request) -> Response:
        parts = [part for part in request.path.split("/") if part]
        known = parts[:1] and parts[0] in ("api", "apis", "version", "openapi", "metrics", *_HEALTH)
        if known and request.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        match parts:
            case [] | ["api" | "apis"] | ["api", "v1"] | ["apis", _] | ["apis", _, _]:
                return self._discovery(request, parts)
            case ["version"]:
                return json_response(self._cluster.release.version)
            case [health, *_] if health in _HEALTH:
                return Response(b"ok", content_type="text/plain")
            case ["openapi", *rest]:
                return self._openapi(rest)
        raise page_not_found()

    def _discovery(self, request: web.Request, parts: list[str]) -> Response:
        registry = self._cluster.registry
        accept = request.headers.get("Accept", "")
        aggregates = self._cluster.release.has_aggregated_discovery
        found: Obj | None
        match parts:
            case []:
                return json_response({"paths": ["/api", "/api/v1", "/apis", "/version"]})
            case ["api" | "apis" as root] if aggregates and discovery.wants_aggregated(accept):
                return self._aggregated(request, core=root == "api")
            case ["api"]:
                found = discovery.core_versions(request.host)
            case ["apis"]:
                found = discovery.group_list(registry)
            case ["api", version]:
                found = discovery.resource_list(registry, "", version)
            case ["apis", group]:
                found = discovery.group(registry, group)
            case _:
                found = discovery.resource_list(registry, parts[1], parts[2])
        if found is None:
            raise page_not_found()
        return json_response(found)

    def _aggregated(self, request: web.Request, *, core: bool) -> Response:
        body = discovery.aggregated(self._cluster.registry, core=core)
        tag = discovery.etag(body)
        headers = {"ETag": tag, "Vary": "Accept"}
        if request.headers.get("If-None-Match") == tag:
            return Response(b"", 304, _AGGREGATED, headers)
        return Response(encode(body), content_type=_AGGREGATED, headers=headers)

    def _openapi(self, rest: list[str]) -> Response:
        registry, customs = self._cluster.registry, self._cluster.custom_types
        if rest[:1] == ["v3"] and not self._cluster.release.has_openapi_v3:
            raise page_not_found()
        match rest:
            case ["v2"]:
                # kubectl requests this document to validate a List. Without schemas it leaves the
                # validation to the server. An empty body is a document without schemas.
                return Response(b"", content_type=_OPENAPI_V2)
            case ["v3"]:
                return json_response(openapi.group_versions(registry, customs))
            case ["v3", "api", version]:
                return json_response(openapi.document_v3(registry, customs, "", version))
            case ["v3", "apis", group, version]:
                return json_response(openapi.document_v3(registry, customs, group, version))
        raise page_not_found()
