"""Attributes of a request for the API of Kubernetes, determined like in kube-apiserver.

The paths are those of kube-apiserver, alone (the host cluster), after `/clusters/{cluster}`, or with
`clusters/{cluster}` after the first segment as in KubeSphere. kube-apiserver decodes a path before
it splits it, so a path whose decoded form can be split differently is refused.
https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

from django.utils.translation import gettext as _

from console.gateway.errors import Refusal
from console.kube.gvr import GVR
from console.proxying.paths import BadPath, read_path, read_query
from console.ui.core.clusters import HOST

_VERBS: Mapping[str, str] = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
READING = frozenset({"get", "list", "watch"})
#: Subresources that pass a connection on to a program.
CONNECTIONS = frozenset({"attach", "exec", "portforward", "proxy"})
_NAMESPACE_SUBRESOURCES = frozenset({"finalize", "status"})
#: Maximum bytes of a path, and fields of a query.
_MAX_PATH, MAX_FIELDS = 2048, 100


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """`path` is the encoded path at kube-apiserver, `query` the encoded query. `place` is where the
    console's address has the additional segments `clusters/{cluster}`: 0 for none, else 1 or 2, the
    number of the first segment.

    `resource` is empty for other paths than those of objects, such as discovery.
    """

    method: str
    cluster: str
    path: str
    query: str
    verb: str
    place: int = 0
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""
    is_long: bool = False
    is_dry_run: bool = False

    @property
    def gvr(self) -> GVR:
        return GVR(self.group, self.version, self.resource)

    @property
    def target(self) -> str:
        """The path with the query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def connects(self) -> bool:
        return self.subresource in CONNECTIONS

    @property
    def changes(self) -> bool:
        """True if the request can change something, also through a program in a container."""
        return self.verb not in READING or self.connects

    @property
    def segments(self) -> list[str]:
        """The decoded segments of the path."""
        return [unquote(one) for one in self.path[1:].split("/")]

    def console_path(self, path: str) -> str:
        """Return the console's path for a path at kube-apiserver."""
        if not self.place or not path.startswith("/") or path.startswith("//"):
            return path
        inserted = f"clusters/{self.cluster}"
        if self.place == 1:
            return f"/{inserted}{path}"
        first, _slash, rest = path[1:].partition("/")
        return f"/{first}/{inserted}/{rest}"


def read_request(method: str, raw_path: bytes, raw_query: bytes) -> RequestInfo:
    """Return the request's attributes. Raise `Refusal`."""
    if method not in _VERBS:
        raise Refusal(405, _("This HTTP method is not supported."), allow=", ".join(_VERBS))
    if len(raw_path) > _MAX_PATH:
        raise Refusal(414, _("The address is too long."))
    try:
        path, query = read_path(raw_path), read_query(raw_query)
    except BadPath as error:
        raise _ambiguous() from error
    segments = path[1:].split("/")
    cluster, place = HOST, 0
    for number in (1, 2):
        if segments[number - 1 : number] == ["clusters"] and len(segments) > number:
            cluster, place = unquote(segments[number]), number
            del segments[number - 1 : number + 1]
            break
    try:
        found = parse_qs(query, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise Refusal(400, _("The address has too many parameters.")) from error
    if "access_token" in found:
        raise Refusal(400, _("Send the access token in the Authorization header."))
    return _attributes(method, cluster, place, segments, query, found)


def _attributes(
    method: str,
    cluster: str,
    place: int,
    segments: list[str],
    query: str,
    params: Mapping[str, list[str]],
) -> RequestInfo:
    parts = [unquote(one) for one in segments]
    path = "/" + "/".join(segments)
    verb = _VERBS[method]
    start = {"api": 2, "apis": 3}.get(parts[0], len(parts))
    rest = parts[start:]
    # Deprecated, but used by KubeSphere's console.
    legacy = rest[:1] == ["watch"]
    if legacy:
        rest = rest[1:]
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 1 and rest[1]:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in ("", *_NAMESPACE_SUBRESOURCES):
            rest = rest[2:]
    resource, name, subresource = [*rest[:3], "", "", ""][:3]
    _check_segments(segments, len(segments) - len(rest[3:]) if subresource == "proxy" else None)
    dry = params.get("dryRun") == ["All"]
    if not resource:
        return RequestInfo(method, cluster, path, query, verb, place)
    if legacy or (verb == "get" and not subresource and _is_set(params, "watch")):
        verb = "watch"
    elif not name:
        verb = {"get": "list", "delete": "deletecollection"}.get(verb, verb)
    group = parts[1] if parts[0] == "apis" else ""
    connects = subresource in CONNECTIONS
    follows = subresource == "log" and _is_set(params, "follow")
    return RequestInfo(
        *(method, cluster, path, query, verb, place),
        *(group, parts[start - 1], namespace, resource, name, subresource),
        is_long=verb == "watch" or connects or follows,
        is_dry_run=dry,
    )


def _check_segments(segments: list[str], end: int | None) -> None:
    """Raise `Refusal` for empty segments, and for encoded slashes and percent signs. Segments after
    `end` belong to a program behind a `proxy` subresource.
    """
    checked = segments[:end]
    if "" in checked[:-1] or any(mark in unquote(one) for one in checked for mark in "/%"):
        raise _ambiguous()


def _is_set(params: Mapping[str, list[str]], name: str) -> bool:
    """Return a boolean parameter like kube-apiserver, for which only `false` and `0` are false."""
    found = params.get(name)
    return found is not None and found[0].lower() not in ("false", "0")


def _ambiguous() -> Refusal:
    return Refusal(400, _("The address is ambiguous and was rejected."))
