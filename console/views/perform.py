"""One write request to kube-apiserver for the user of a request, with its audit record.

    await perform(request, "delete", PODS, Key("shop", "web-1"), uid=uid)

The request is sent with the user's identity, so kube-apiserver authorizes it, or with the
console's identity if the caller has established a permission that Kubernetes RBAC can't express.
"""

from dataclasses import replace
from typing import Any

from console.audit.trail import record, request_action
from console.kube.apply import Manifest
from console.kube.cachewait import wait_for_cache
from console.kube.clients import ObjectClient
from console.kube.gvr import GVR, Key
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.requests import ConsoleRequest
from console.views.guard import access_of
from console.views.history import describe_change

#: Methods of `ObjectClient` by audit verb.
_METHODS = {"create": "create", "update": "replace", "patch": "patch", "delete": "delete"}


def client_for(access: Access, *, by_console: bool = False) -> ObjectClient:
    """Return the client that sends requests as the user, or as the console if `by_console`."""
    runtime = access.cluster.runtime
    return runtime.console if by_console else runtime.as_user(access.identity)


def cached_object(cluster: Cluster, gvr: GVR, key: Key) -> Manifest | None:
    """Return the cached object for the audit record, or None if it is not cached."""
    informer = cluster.runtime.informers().get(gvr)
    entry = informer.store.get(key) if informer is not None else None
    try:
        return entry.original() if entry is not None else None
    except RecursionError:
        return None


async def perform(
    request: ConsoleRequest,
    verb: str,
    gvr: GVR,
    key: Key,
    body: Any = None,
    *,
    access: Access | None = None,
    by_console: bool = False,
    as_user: str | None = None,
    method: str = "",
    wait: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Record the action, send one request, record the outcome, and return the response.

    The caller checks the permission if `by_console` is True. Raise `ApiError`, or
    `AuditUnavailable` if no request was sent.

    - `verb`: `create`, `update`, `patch` or `delete`, in the audit trail. `method` is the client's
      method if it differs from the verb's.
    - `key`: the object. Its name is not sent with `create`.
    - `body`: the manifest or patch. `delete` has none.
    - `access`: the user's access in the cluster to change, by default that of `request`.
    - `by_console`: True to send the request with the console's identity.
    - `as_user`: the username that the audit trail shows for kube-apiserver, by default the user's
      identity.
    - `wait`: True to return when the cache contains the write, or after a timeout.
    - `options`: further arguments of the client's method, such as `uid` or `resource_version`.
    """
    access, method = access or access_of(request), method or _METHODS[verb]
    action = request_action(request, verb, gvr, namespace=key.namespace, name=key.name)
    if as_user is not None:
        action = replace(action, as_user=as_user)
    place = {"namespace": key.namespace, **({} if method == "create" else {"name": key.name})}
    arguments = (gvr,) if method == "delete" else (gvr, body)
    call = getattr(client_for(access, by_console=by_console), method)
    kind = access.cluster.kinds.of(gvr)
    before = cached_object(access.cluster, gvr, key) if verb != "create" else None
    async with record(action) as entry:
        found: dict[str, Any] = await call(*arguments, **place, **options, audit_id=entry.audit_id)
        if kind is not None:
            state = before or found
            uid = str((state.get("metadata") or {}).get("uid", ""))
            await describe_change(entry, kind, uid, before, None if verb == "delete" else found)
    if wait:
        version = "" if method == "delete" else found["metadata"]["resourceVersion"]
        await wait_for_cache(access.cluster.runtime.informer(gvr), key, version)
    return found
