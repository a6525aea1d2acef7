"""Decode kube-apiserver's discovery API, which lists the resource types that it serves, and the
schemas of its OpenAPI v3 documents. There is one OpenAPI document per group version.

https://kubernetes.io/docs/reference/using-api/api-concepts/#discovery-api
https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import msgspec

from console.kube.errors import InvalidResponse
from console.kube.gvr import GVR
from console.kube.messages import Message
from console.kube.store import UNREADABLE

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServedType:
    """A type that kube-apiserver serves, in one version. `singular` may be ""."""

    gvr: GVR
    kind: str
    singular: str
    short_names: tuple[str, ...]
    namespaced: bool
    verbs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Discovered:
    """`types` contains all types of the group versions, the preferred version of each group first.
    `unavailable` contains the group versions whose API server did not respond.
    """

    types: list[ServedType]
    unavailable: frozenset[tuple[str, str]] = frozenset()


#: Media types of the aggregated format. https://kubernetes.io/docs/reference/using-api/api-concepts/#aggregated-discovery
AGGREGATED = ",".join(
    (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        "application/json",
    )
)
#: Names of groups, versions and types. Others can't be part of a path.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
#: Maximum characters of a kind.
_LONGEST_KIND = 253


class _Discovery(msgspec.Struct):
    kind: str = ""
    items: list[msgspec.Raw] | None = None
    groups: list[msgspec.Raw] | None = None
    versions: list[str] | None = None
    resources: list[msgspec.Raw] | None = None


class _GroupMeta(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _GroupMeta = msgspec.field(default_factory=_GroupMeta)
    versions: list[msgspec.Raw] | None = None


class _ListedGroup(msgspec.Struct):
    name: str
    versions: list[msgspec.Raw] | None = None


class _GroupVersion(msgspec.Struct):
    version: str
    freshness: str = ""
    resources: list[msgspec.Raw] | None = None


class _ResponseKind(msgspec.Struct):
    kind: str = ""


class _AggregatedType(msgspec.Struct):
    resource: str
    scope: str
    responseKind: _ResponseKind
    singularResource: str = ""
    verbs: tuple[str, ...] | None = None
    shortNames: tuple[str, ...] | None = None


class _ListedType(msgspec.Struct):
    name: str
    kind: str
    namespaced: bool
    singularName: str = ""
    verbs: tuple[str, ...] | None = None
    shortNames: tuple[str, ...] | None = None


def aggregated_types(body: bytes) -> Discovered | None:
    """Return the types of an aggregated discovery document, or None if the document has another
    format.

    Malformed groups and types are left out: they may come from any aggregated API server. Raise
    `ServerError` if the document is no JSON object.
    """
    document = _decoded(body)
    if document.kind != "APIGroupDiscoveryList":
        return None
    found: list[ServedType] = []
    unavailable = set()
    for group in _readable(document.items, _Group):
        for version in _readable(group.versions, _GroupVersion):
            if not _is_path(group.metadata.name, version.version):
                continue
            if version.freshness == "Stale" and not version.resources:
                unavailable.add((group.metadata.name, version.version))
            for one in _readable(version.resources, _AggregatedType):
                if _is_type(one.resource, one.responseKind.kind):
                    found.append(
                        ServedType(
                            GVR(group.metadata.name, version.version, one.resource),
                            one.responseKind.kind,
                            one.singularResource,
                            one.shortNames or (),
                            one.scope == "Namespaced",
                            frozenset(one.verbs or ()),
                        )
                    )
    return Discovered(found, frozenset(unavailable))


def group_versions(body: bytes) -> list[tuple[str, str]]:
    """Return the groups and versions of an `APIVersions` or `APIGroupList`, the preferred version of
    each group first. Raise `ServerError`.
    """
    document = _decoded(body)
    found = [("", version) for version in document.versions or ()]
    for group in _readable(document.groups, _ListedGroup):
        found += [(group.name, one.version) for one in _readable(group.versions, _GroupVersion)]
    return [(group, version) for group, version in found if _is_path(group, version)]


def listed_types(body: bytes, group: str, version: str) -> list[ServedType]:
    """Return the types of an `APIResourceList`. Raise `ServerError`."""
    return [
        ServedType(
            GVR(group, version, one.name),
            one.kind,
            one.singularName,
            one.shortNames or (),
            one.namespaced,
            frozenset(one.verbs or ()),
        )
        for one in _readable(_decoded(body).resources, _ListedType)
        # A name with a slash is a subresource.
        if _is_type(one.name, one.kind)
    ]


def _decoded(body: bytes) -> _Discovery:
    try:
        return msgspec.json.decode(body, type=_Discovery)
    except UNREADABLE as error:
        raise InvalidResponse(
            Message("The response from the Kubernetes API is not a list of resource types")
        ) from error


def _readable(raws: list[msgspec.Raw] | None, shape: type[T]) -> Iterator[T]:
    for raw in raws or ():
        with suppress(*UNREADABLE):
            yield msgspec.json.decode(raw, type=shape)


def _is_path(group: str, version: str) -> bool:
    return (not group or bool(_NAME.fullmatch(group))) and bool(_NAME.fullmatch(version))


def _is_type(resource: str, kind: str) -> bool:
    return bool(_NAME.fullmatch(resource)) and 0 < len(kind) <= _LONGEST_KIND


@dataclass(frozen=True, slots=True)
class CreatableType:
    """A type whose objects can be created."""

    gvr: GVR
    namespaced: bool


def creatable_types(body: bytes, group: str, version: str) -> Mapping[str, CreatableType]:
    """Return the creatable types of an `APIResourceList` by kind. Raise `ServerError`."""
    return {
        one.kind: CreatableType(one.gvr, one.namespaced)
        for one in listed_types(body, group, version)
        if "create" in one.verbs
    }


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
