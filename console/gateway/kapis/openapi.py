"""`/kapis/openapi`: the OpenAPI 3 document of the declared routes and of the cluster's kinds.

https://spec.openapis.org/oas/v3.0.3
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings

from console.gateway.kapis.call import Call
from console.gateway.kapis.configuration import RELEASE
from console.gateway.kapis.routes import ARRAY, LIST, MESSAGE, Route, route, routes
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind, Scope

_JSON = "application/json"
_OBJECT = {"type": "object"}
_TEXT = {"type": "string"}
_ITEMS = {"type": "array", "items": {"$ref": "#/components/schemas/Object"}}
_SCHEMAS: Mapping[str, Any] = {
    "Object": {
        "type": "object",
        "description": "An object of the Kubernetes API.",
        "properties": {"apiVersion": _TEXT, "kind": _TEXT, "metadata": _OBJECT},
    },
    LIST: {
        "type": "object",
        "required": ["items", "totalItems"],
        "properties": {"items": _ITEMS, "totalItems": {"type": "integer"}},
    },
    f"Old{LIST}": {
        "type": "object",
        "required": ["items", "total_count"],
        "properties": {"items": _ITEMS, "total_count": {"type": "integer"}},
    },
    MESSAGE: {"type": "object", "properties": {"message": _TEXT}},
    "Status": {
        "type": "object",
        "description": "A Status of the Kubernetes API.",
        "properties": {
            "apiVersion": _TEXT,
            "kind": _TEXT,
            "status": _TEXT,
            "message": _TEXT,
            "reason": _TEXT,
            "code": {"type": "integer"},
        },
    },
}


@route("GET", "", "/openapi", summary="Get this document")
async def openapi(call: Call) -> dict[str, Any]:
    return document(call.cluster)


def document(cluster: Cluster) -> dict[str, Any]:
    """Return the document for a cluster."""
    paths: dict[str, dict[str, Any]] = {}
    for one in sorted(routes, key=lambda found: (found.full_path, found.method)):
        operations = paths.setdefault(f"/kapis{one.full_path}", {})
        operations[one.method.lower()] = _operation(one, cluster)
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "KubeSphere API of Quarterdeck",
            "version": RELEASE,
            "description": "All addresses also exist below /kapis/clusters/{cluster}.",
        },
        "servers": [{"url": settings.BASE_URL}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": _SCHEMAS,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "responses": {
                "Error": {
                    "description": "The request failed.",
                    "content": {_JSON: {"schema": {"$ref": "#/components/schemas/Status"}}},
                }
            },
        },
    }


def _operation(one: Route, cluster: Cluster) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": one.summary,
        "operationId": _operation_id(one),
        "tags": [one.group_version or "kapis"],
        "parameters": [*_path_parameters(one, cluster), *_query_parameters(one)],
        "responses": {
            "200": {"description": "OK", "content": {_JSON: {"schema": _schema(one)}}},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if one.method in ("POST", "PUT", "PATCH"):
        found["requestBody"] = {"content": {_JSON: {"schema": {}}}}
    if one.public:
        found["security"] = []
    return found


def _operation_id(one: Route) -> str:
    words = (part.strip("{}") for part in one.segments)
    return "_".join((one.method.lower(), *(word.replace(".", "_") for word in words)))


def _schema(one: Route) -> Mapping[str, Any]:
    if one.returns == ARRAY:
        return _ITEMS
    if one.returns == LIST and one.group_version == "resources.kubesphere.io/v1alpha2":
        return {"$ref": f"#/components/schemas/Old{LIST}"}
    return {"$ref": f"#/components/schemas/{one.returns}"}


def _path_parameters(one: Route, cluster: Cluster) -> Iterable[Mapping[str, Any]]:
    for name in one.placeholders:
        schema: dict[str, Any] = {"type": "string"}
        if name == "resources":
            schema["enum"] = resources_of(cluster, namespaced="{namespace}" in one.path)
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(one: Route) -> Iterable[Mapping[str, Any]]:
    for found in one.query:
        about = {"name": found.name, "in": "query", "description": found.description}
        yield {**about, "schema": {"type": found.type}}


def resources_of(cluster: Cluster, *, namespaced: bool) -> list[str]:
    """Return the plurals of the built-in kinds that the cluster offers. Custom resources are not
    named, because not all users may know them.
    """

    def fits(kind: ResourceKind) -> bool:
        return not namespaced or kind.scope is Scope.NAMESPACED

    return sorted({one.gvr.resource for one in cluster.kinds.offered if fits(one)})
