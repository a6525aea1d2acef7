"""What kube-apiserver publishes of its types as OpenAPI v3: one document for each group and version.

https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3
"""

import re
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import msgspec

from console.kube.errors import ServerError
from console.kube.sentences import Sentence

T = TypeVar("T")

#: Where a schema refers to another one. Inside of a text the quotes would be escaped.
_REFERENCE = re.compile(rb'"\$ref"\s*:\s*"#/components/schemas/([^"\\]+)"')
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
    """The name of a document in the index: `api/v1`, `apis/apps/v1`."""
    return f"apis/{group}/{version}" if group else f"api/{version}"


def document_hash(index: bytes, path: str) -> str | None:
    """The hash of a document, which changes with its content; "" if it has none, None if there is no
    such document. Raises `ServerError`."""
    place = _decode(index, _Index).paths.get(path)
    if place is None:
        return None
    found = parse_qs(urlsplit(place.url).query).get("hash", [""])[0]
    return found if _HASH.fullmatch(found) else ""


def kind_schema(document: bytes, group: str, version: str, kind: str) -> bytes | None:
    """The schema of one kind with all that it refers to, as JSON: a reference to the kind's own, and the
    document's components as far as they are needed. None if there is no such kind. Raises `ServerError`.

    References stay references: some kinds contain themselves.
    """
    schemas = _decode(document, _Document).components.schemas
    wanted = _GroupVersionKind(group, version, kind)
    root = next((name for name, raw in schemas.items() if wanted in _types(bytes(raw))), None)
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


def _types(raw: bytes) -> list[_GroupVersionKind]:
    return _decode(raw, _Schema).types if b'"x-kubernetes-group-version-kind"' in raw else []


def _decode(body: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        why = Sentence("The answer of the Kubernetes API is no OpenAPI document")
        raise ServerError(502, why) from error
