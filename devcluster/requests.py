"""Parsed requests and responses of the API server."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml

from devcluster.authn import UserInfo
from devcluster.errors import StatusError, bad_request, unsupported_media_type
from devcluster.objects import Obj, encode
from devcluster.protobuf import MEDIA_TYPE, decode_protobuf
from devcluster.requestinfo import RequestInfo
from devcluster.resources import ResourceType

JSON = "application/json"
_YAML = ("application/yaml", "application/x-yaml", "text/yaml")
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An authenticated request about a resource."""

    info: RequestInfo
    declared: ResourceType
    user: UserInfo
    query: Mapping[str, str]
    content_type: str
    accept: str
    user_agent: str
    body: bytes

    @property
    def version(self) -> str:
        return self.info.version

    @property
    def namespace(self) -> str:
        """The namespace of the request, or empty for a cluster-scoped type even if the path
        contains one.
        """
        return self.info.namespace if self.declared.namespaced else ""

    def decoded(self) -> Any:
        """Return the decoded JSON, YAML or protobuf body, or None if the body is empty.

        Raise a 400 error if the body is malformed and a 415 error if the content type is not
        supported.
        """
        if not self.body.strip():
            return None
        kind = self.content_type.partition(";")[0].strip() or JSON
        if kind == MEDIA_TYPE:
            return decode_protobuf(self.body)
        if kind in _YAML or kind == APPLY_PATCH:
            return read_yaml(self.body)
        if kind not in (JSON, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, "*/*"):
            raise unsupported_media_type((JSON, "application/yaml", MEDIA_TYPE))
        try:
            return msgspec.json.decode(self.body)
        except msgspec.DecodeError as error:
            raise bad_request(f"the object provided is unrecognized: {error}") from error

    def object(self) -> Obj:
        """Return the body as an object with metadata.

        Raise a 400 error if the body is not an object. With `fieldValidation=Strict`, duplicate
        fields are also an error.
        """
        found = self.decoded()
        if self.query.get("fieldValidation") == "Strict" and self.body.lstrip().startswith(b"{"):
            json.loads(self.body, object_pairs_hook=_refuse_duplicates)
        if not isinstance(found, dict) or not isinstance(found.get("metadata", {}), dict | None):
            raise bad_request("the body must be an object with metadata")
        if found.get("metadata") is None:
            found["metadata"] = {}
        return found


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> Obj:
    found: Obj = {}
    for name, value in pairs:
        if name in found:
            raise bad_request(f'strict decoding error: duplicate field "{name}"')
        found[name] = value
    return found


def read_yaml(data: bytes) -> Any:
    """Decode YAML. JSON is a subset of YAML and is tried first, because its decoder is much faster."""
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(data)
    try:
        return yaml.load(data, Loader=PlainLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise bad_request(f"error decoding YAML: {error}") from error


class PlainLoader(yaml.SafeLoader):
    """YAML loader that returns timestamps as text, as in JSON."""


PlainLoader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


@dataclass(frozen=True, slots=True)
class Response:
    body: bytes
    code: int = 200
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamingResponse:
    """A streaming response. `close` stops the stream."""

    chunks: AsyncGenerator[bytes, None]
    content_type: str
    close: Callable[[], None]


def json_response(obj: Any, code: int = 200, **headers: str) -> Response:
    return Response(encode(obj), code, headers=headers)


def success_response(code: int) -> Response:
    """Return a response with a Status object that reports success."""
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code}
    return json_response(body, code)


def error_response(error: StatusError) -> Response:
    return Response(encode(error.body()), error.code, headers=error.headers)
