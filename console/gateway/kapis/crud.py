"""Objects of groups without routes.

The handler serves every custom resource that the cluster has, in the form
`{group}/{version}/[namespaces/{namespace}/]{plural}[/{name}]`. Writes are sent as the user.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.gateway.errors import Refusal
from console.gateway.kapis.call import SUCCESS, Call
from console.gateway.kapis.decorations import decorated
from console.gateway.kapis.objects import check_namespace, get_object, list_objects, not_found
from console.gateway.kapis.patches import read_patch
from console.gateway.kapis.query import read_list
from console.gateway.kapis.routes import Route
from console.gateway.kapis.unavailable import no_api
from console.kube.apply import Manifest
from console.kube.gvr import BUILT_IN_GROUPS, GVR, Key
from console.ui.core.custom_kinds import TableKind
from console.ui.core.kind import ResourceKind, Scope
from console.ui.core.permissions import may_know_kind
from console.views.perform import perform

#: Methods of the generic handler, with and without a name.
_METHODS = {True: ("DELETE", "GET", "PATCH", "PUT"), False: ("GET", "POST")}


def find_route(method: str, segments: Sequence[str]) -> tuple[Route, dict[str, str]] | None:
    """Return a route for a path in the form of Kubernetes, or None for other paths."""
    if len(segments) < 3 or "." not in segments[0]:
        return None
    group, version, *rest = segments
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    if len(rest) not in (1, 2):
        return None
    method = "GET" if method == "HEAD" else method
    values = {
        "group": group,
        "version": version,
        "namespace": namespace,
        "resource": rest[0],
        "name": rest[1] if len(rest) > 1 else "",
    }
    made = Route(method, f"{group}/{version}", "", _answer, "", "", writes=method != "GET")
    return made, values


async def _answer(
    call: Call, *, group: str, version: str, namespace: str, resource: str, name: str
) -> Any:
    kind = _kind(call, GVR(group, version, resource))
    if namespace:
        check_namespace(kind, namespace)
    elif name and kind.scope is Scope.NAMESPACED:
        raise not_found(f"{resource}.{group}")
    allowed = _METHODS[bool(name)]
    method = "GET" if call.method == "HEAD" else call.method
    if method not in allowed:
        raise Refusal(
            405, _("This method is not supported for this address."), allow=", ".join(allowed)
        )
    if method == "GET" and not name:
        return await list_objects(call, kind, read_list(call), (namespace,) if namespace else ())
    key = Key(namespace, name)
    if method == "GET":
        return await get_object(call, kind, key)
    return await _write(call, kind, key, method)


def _kind(call: Call, gvr: GVR) -> ResourceKind:
    """Return the kind of a type. Raise `Refusal` 404 if the cluster or the user has none."""
    kinds = call.cluster.kinds
    found = kinds.find(gvr.qualified) if gvr.group not in BUILT_IN_GROUPS else None
    declared = kinds.declared.by_type(gvr)
    kind = declared or found
    # Types of aggregated API servers are not custom resources.
    if kind is None or kind.gvr != gvr or isinstance(kind, TableKind):
        raise no_api(gvr.group)
    if kinds.served.serves(gvr) is False or not may_know_kind(call.access, kind):
        raise no_api(gvr.group)
    return kind


async def _write(
    call: Call, kind: ResourceKind, key: Key, method: str
) -> Manifest | Mapping[str, str]:
    request, gvr = call.request, kind.gvr
    if method == "DELETE":
        await perform(request, "delete", gvr, key)
        return SUCCESS
    if method == "PATCH":
        patch, content_type = read_patch(call)
        made = await perform(request, "patch", gvr, key, patch, content_type=content_type)
        return decorated(call, kind, made)
    body = call.object()
    if method == "POST":
        key = Key(key.namespace, str(body["metadata"].get("name", "")))
    made = await perform(request, "create" if method == "POST" else "update", gvr, key, body)
    return decorated(call, kind, made)
