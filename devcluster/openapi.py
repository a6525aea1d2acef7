"""OpenAPI documents with the schemas of all types. They also announce field validation and dry run
support to clients.

The schemas of built-in types are those of kube-apiserver (`scripts/builtin_schemas.py`). Custom
types have the schema of their definition.
"""

import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from devcluster.custom_types import CustomTypes
from devcluster.objects import Obj, encode
from devcluster.resources import Registry, ResourceType

_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation")
_SCHEMAS = "#/components/schemas/"
_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_REFERENCE = re.compile(rf'"{_SCHEMAS}([^"]+)"')
#: Properties of every object, independent of its definition.
_COMMON: Obj = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"allOf": [{"$ref": f"{_SCHEMAS}{_OBJECT_META}"}]},
}
#: Hashes of documents of built-in types, by group and version.
_digests: dict[tuple[str, str], str] = {}


@cache
def _builtin_schemas() -> Mapping[str, Obj]:
    packed = (Path(__file__).parent / "schemas.json.xz").read_bytes()
    found: Mapping[str, Obj] = json.loads(lzma.decompress(packed))
    return found


@cache
def _names_by_kind() -> Mapping[tuple[str, str, str], str]:
    """Return the names of the schemas of built-in types, by group, version and kind."""
    return {
        (one["group"], one["version"], one["kind"]): name
        for name, schema in _builtin_schemas().items()
        for one in schema.get("x-kubernetes-group-version-kind", ())
    }


@cache
def _references(name: str) -> frozenset[str]:
    """Return the names of the schemas that a built-in type's schema refers to."""
    return frozenset(_REFERENCE.findall(json.dumps(_builtin_schemas()[name])))


def _with_references(schemas: Mapping[str, Obj]) -> Obj:
    """Add the schemas of built-in types that the given schemas refer to."""
    found: Obj = dict(schemas)
    ahead: Iterable[str] = set(_REFERENCE.findall(json.dumps(schemas)))
    while ahead := [name for name in ahead if name not in found and name in _builtin_schemas()]:
        found |= {name: _builtin_schemas()[name] for name in ahead}
        ahead = frozenset().union(*map(_references, ahead))
    return found


def _action(declared: ResourceType, version: str) -> Obj:
    return {"group": declared.group, "version": version, "kind": declared.kind}


def _path(declared: ResourceType, version: str) -> str:
    prefix = "/apis" if declared.group else "/api"
    place = "/namespaces/{namespace}" if declared.namespaced else ""
    return f"{prefix}/{declared.group_version(version)}{place}/{declared.plural}/{{name}}"


def definition_name(declared: ResourceType, version: str) -> str:
    """Return the name of a schema, such as `io.k8s.api.core.v1.Pod` or `io.example.v1.Thing`."""
    builtin = _names_by_kind().get((declared.group, version, declared.kind))
    if builtin is not None and not declared.custom:
        return builtin
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
    name = _names_by_kind().get((declared.group, version, declared.kind))
    if name is not None and not declared.custom:
        return _builtin_schemas()[name]
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
            digest = (
                _digests.get((group, version))
                or hashlib.sha256(
                    encode(document_v3(registry, customs, group, version))
                ).hexdigest()
            )
            digest = digest[:32].upper()
            if not any(one.custom for one in registry if one.group == group):
                _digests[group, version] = digest
            paths[place] = {"serverRelativeURL": f"/openapi/v3/{place}?hash={digest}"}
    return {"paths": paths}


def document_v3(registry: Registry, customs: CustomTypes, group: str, version: str) -> Obj:
    types = [t for t in registry if t.group == group and t.version(version) and not t.virtual]
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1.36.2"},
        "paths": {_path(t, version): _operations(t, version) for t in types},
        "components": {
            "schemas": _with_references(
                {definition_name(t, version): _definition(t, version, customs) for t in types}
            )
        },
    }
