"""OpenAPI documents that announce field validation and dry run support to clients.

Built-in types have no schemas, because kubectl knows their fields. Custom types have their
schema.
"""

import hashlib

from devcluster.custom_types import CustomTypes
from devcluster.objects import Obj, encode
from devcluster.resources import Registry, ResourceType

_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation")
#: Properties of every object, independent of its definition.
_COMMON: Obj = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
}


def _action(declared: ResourceType, version: str) -> Obj:
    return {"group": declared.group, "version": version, "kind": declared.kind}


def _path(declared: ResourceType, version: str) -> str:
    prefix = "/apis" if declared.group else "/api"
    place = "/namespaces/{namespace}" if declared.namespaced else ""
    return f"{prefix}/{declared.group_version(version)}{place}/{declared.plural}/{{name}}"


def definition_name(declared: ResourceType, version: str) -> str:
    """Return the name of a schema, such as `io.k8s.api.core.v1.Pod` or `io.example.v1.Thing`."""
    if declared.custom:
        reverse = ".".join(reversed(declared.group.split(".")))
        return f"{reverse}.{version}.{declared.kind}"
    group = (declared.group or "core").split(".")[0]
    return f"io.k8s.api.{group}.{version}.{declared.kind}"


def _operations(declared: ResourceType, version: str) -> Obj:
    kind = _action(declared, version)
    text = {"schema": {"type": "string"}}
    parameters = [{"name": name, "in": "query", **text} for name in _PARAMETERS]
    base: Obj = {
        "x-kubernetes-group-version-kind": kind,
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
    }
    return {
        "patch": {**base, "x-kubernetes-action": "patch"},
        "put": {**base, "x-kubernetes-action": "put"},
    }


def _definition(declared: ResourceType, version: str, customs: CustomTypes) -> Obj:
    custom = customs.find(declared, version)
    schema: Obj = dict(custom.schema) if custom else {"type": "object"}
    if "properties" in schema:
        schema["properties"] = {**schema["properties"], **_COMMON}
    schema["x-kubernetes-group-version-kind"] = [_action(declared, version)]
    return schema


def group_versions(registry: Registry, customs: CustomTypes) -> Obj:
    """Return the response of /openapi/v3: one document per group version."""
    paths: Obj = {}
    for group, versions in registry.group_versions().items():
        for version in versions:
            place = f"apis/{group}/{version}" if group else f"api/{version}"
            document = encode(document_v3(registry, customs, group, version))
            digest = hashlib.sha256(document).hexdigest()[:32].upper()
            paths[place] = {"serverRelativeURL": f"/openapi/v3/{place}?hash={digest}"}
    return {"paths": paths}


def document_v3(registry: Registry, customs: CustomTypes, group: str, version: str) -> Obj:
    types = [t for t in registry if t.group == group and t.version(version) and not t.virtual]
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": {_path(t, version): _operations(t, version) for t in types},
        "components": {
            "schemas": {
                definition_name(t, version): _definition(t, version, customs) for t in types
            }
        },
    }
