"""Read the resource types of a group version from kube-apiserver's discovery API, and the schemas of
its OpenAPI v3 documents. There is one document per group version.

https://kubernetes.io/docs/reference/using-api/api-concepts/#discovery-api
https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import msgspec

from console.kube.errors import InvalidResponse
from console.kube.gvr import GVR
from console.kube.messages import Message
from console.kube.store import UNREADABLE


class _Resource(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...] = ()


class _ResourceList(msgspec.Struct):
    resources: tuple[_Resource, ...] = ()


@dataclass(frozen=True, slots=True)
class CreatableType:
    """A type whose objects can be created."""

    gvr: GVR
    namespaced: bool


def creatable_types(body: bytes, group: str, version: str) -> Mapping[str, CreatableType]:
    """Return the creatable types by kind. Raise `ServerError`."""
    try:
        found = msgspec.json.decode(body, type=_ResourceList)
    except UNREADABLE as error:
        raise InvalidResponse(
            Message("The response from the Kubernetes API is not a list of resource types")
        ) from error
    return {
        one.kind: CreatableType(GVR(group, version, one.name), one.namespaced)
        for one in found.resources
        # A name with a slash is a subresource.
        if "/" not in one.name and "create" in one.verbs
    }


T = TypeVar("T")

#: A reference to another schema. Inside a JSON string the quotes would be escaped.
_REFERENCE = re.compile(rb'"\$ref"\s*:\s*"#/components/schemas/([^"\\]+)"')
_KIND = b'"x-kubernetes-group-version-kind"'
_HASH = re.compile(r"[0-9A-Za-z]{1,128}")


class _Place(msgspec.Struct):
    url: str = msgspec.field(name="serverRelativeURL", default="")


class _Index(msgspec.Struct):
    paths: dict[str, _Place] = {}


class _GroupVersionKind(msgspec.Struct, frozen=True):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Schema(msgspec.Struct):
    types: list[_GroupVersionKind] = msgspec.field(
        name="x-kubernetes-group-version-kind", default_factory=list
    )


class _Components(msgspec.Struct):
    schemas: dict[str, msgspec.Raw] = {}


class _Document(msgspec.Struct):
    components: _Components = msgspec.field(default_factory=_Components)


def document_path(group: str, version: str) -> str:
    """Return the name of a document in the index, such as `api/v1` or `apis/apps/v1`."""
    return f"apis/{group}/{version}" if group else f"api/{version}"


def document_hash(index: bytes, path: str) -> str | None:
    """Return the hash of a document, "" if it has none, or None if there is no such document.

    The hash changes with the content. Raise `ServerError`.
    """
    place = _decode(index, _Index).paths.get(path)
    if place is None:
        return None
    found = parse_qs(urlsplit(place.url).query).get("hash", [""])[0]
    return found if _HASH.fullmatch(found) else ""


def kind_schema(document: bytes, group: str, version: str, kind: str) -> bytes | None:
    """Return the schema of one kind and all schemas it references as JSON, or None if the kind is
    unknown.

    The result has a reference to the kind's schema and the required components. References are
    not resolved because some kinds contain themselves. Raise `ServerError`.
    """
    schemas = _decode(document, _Document).components.schemas
    wanted = _GroupVersionKind(group, version, kind)
    # Decoding only the schemas that contain the field is faster.
    kinds = {name: raw for name, raw in schemas.items() if _KIND in bytes(raw)}
    root = next((n for n, raw in kinds.items() if wanted in _decode(raw, _Schema).types), None)
    if root is None:
        return None
    needed: dict[str, msgspec.Raw] = {}
    ahead = [root]
    while ahead:
        name = ahead.pop()
        if name in schemas and name not in needed:
            needed[name] = schemas[name]
            ahead += [
                ref.decode(errors="replace") for ref in _REFERENCE.findall(bytes(schemas[name]))
            ]
    return msgspec.json.encode(
        {"$ref": f"#/components/schemas/{root}", "components": {"schemas": needed}}
    )


def _decode(body: bytes | msgspec.Raw, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise InvalidResponse(
            Message("The response from the Kubernetes API is not an OpenAPI document")
        ) from error
