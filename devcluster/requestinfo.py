"""Request attributes parsed from method, path and query.

Rules:
https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update"}
_VERBS |= {"PATCH": "patch", "DELETE": "delete"}
# Path segments after a namespace that are subresources of the namespace, not resources in it.
_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """Attributes of a request. `resource` is empty for a non-resource request (discovery, health)."""

    verb: str
    path: str
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()

    @property
    def is_resource(self) -> bool:
        return bool(self.resource)


def parse_request(method: str, path: str, query: Mapping[str, str]) -> RequestInfo:
    """Parse a request. Unknown paths result in a non-resource request, never in an error."""
    parts = [unquote(part) for part in path.strip("/").split("/") if part]
    other = RequestInfo(method.lower(), path)
    if parts[:1] == ["api"] and len(parts) >= 3:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) >= 4:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return other
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    resource, name, subresource, *more = [*rest, "", ""][: max(3, len(rest))]
    verb = _verb(method, name, query)
    if verb in ("list", "watch", "deletecollection") and not name:
        name = _selected_name(query.get("fieldSelector", ""))
    return RequestInfo(
        verb, path, group, version, namespace, resource, name, subresource, tuple(more)
    )


def _verb(method: str, name: str, query: Mapping[str, str]) -> str:
    verb = _VERBS.get(method, method.lower())
    if verb == "get" and query.get("watch", "") in ("1", "true", "True", "t", "T"):
        return "watch"
    if verb == "get" and not name:
        return "list"
    return "deletecollection" if verb == "delete" and not name else verb


def _selected_name(selector: str) -> str:
    """Return the name selected by `metadata.name`. Such a list is authorized like a request for
    that name.
    """
    for term in selector.split(","):
        path, _, value = term.partition("=")
        if path.strip() == "metadata.name":
            return value.lstrip("=").strip()
    return ""
