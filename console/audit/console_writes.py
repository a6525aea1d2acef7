"""Records the writes that the console makes in its own name, such as those of its controllers."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import unquote

from console.audit.trail import CONTROLLER, AuditAction, AuditUnavailable, record
from console.kube.errors import Unavailable
from console.kube.gvr import EVENTS, GVR, LEASES, LOGIN_RECORDS

#: Actor of these records.
CONSOLE = "quarterdeck"
#: Types without records, as in Kubernetes' example of an audit policy. A LoginRecord belongs to a
#: sign-in, which has its own record.
UNRECORDED = frozenset(
    {*((one.group, one.resource) for one in (EVENTS, LEASES, LOGIN_RECORDS)),
     ("events.k8s.io", "events")}
)  # fmt: skip
#: Types whose objects are requests for an answer, and are not stored.
REVIEWS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
#: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
_PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/.))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<subresource>.+))?"
)


def is_recorded(group: str, resource: str) -> bool:
    return (group, resource) not in UNRECORDED and group not in REVIEWS


def action_of(method: str, path: str, body: Any) -> AuditAction | None:
    """Return the action of a request of the console, or None if it isn't recorded. `body` names a new
    object.
    """
    found = _PATH.fullmatch(path)
    parts = {name: unquote(one or "") for name, one in found.groupdict().items()} if found else {}
    if not parts or not is_recorded(parts["group"], parts["resource"]):
        return None
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not parts["name"] and isinstance(metadata, dict):
        parts["name"] = str(metadata.get("name") or "")
    gvr = GVR(parts.pop("group"), parts.pop("version"), parts.pop("resource"))
    return AuditAction(CONSOLE, CONSOLE, VERBS[method], gvr, origin=CONTROLLER, **parts)


@asynccontextmanager
async def record_console_write(method: str, path: str, body: Any) -> AsyncIterator[str]:
    """Record a write to the host cluster, and yield its audit ID. Raise `Unavailable` if the write
    can't be recorded.
    """
    action = action_of(method, path, body)
    if action is None:
        yield ""
        return
    async with AsyncExitStack() as stack:
        try:
            entry = await stack.enter_async_context(record(action))
        except AuditUnavailable as error:
            # Controllers retry after an `ApiError`.
            raise Unavailable("the audit trail can't be written") from error
        yield entry.audit_id
