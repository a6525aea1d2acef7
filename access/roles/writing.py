"""Write roles and bindings with the user's identity or, where Kubernetes RBAC cannot decide, with
the console's identity.

Guarantees:
- Permissions are checked before each write.
- Users cannot grant permissions that they don't have.
- The audit record is written before the request is sent.
- The next page shows the result.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from access.roles.lookup import is_allowed_by_role, is_allowed_natively
from accounts.time import now
from console.kube.apply import Manifest
from console.kube.gvr import GVR, Key
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.views.guard import access_of
from console.views.perform import perform
from rbac.authorizer import PLATFORM_ADMIN
from rbac.escalation_check import uncovered
from rbac.levels import NATIVE, TYPES, Level, RoleScope
from rbac.process_clusters import get_role_levels
from rbac.rules import Rule, Rules

UNDO = "undo_role"
#: Maximum size in bytes of a manifest in the session.
MAX_BODY = 64 * 1024
#: References to other objects. They are removed when the object is recreated, because the other
#: objects may no longer exist.
TIES = ("ownerReferences", "finalizers")


class UndoOffer(NamedTuple):
    """The offer to undo a change, described by `text`, on the page of a role."""

    text: str
    place: RoleScope
    role: str


class Escalation(Exception):
    """Privilege escalation: the user would grant permissions (`beyond`) that the user does not
    have.
    """

    def __init__(self, beyond: Rules) -> None:
        self.beyond = beyond
        super().__init__(f"{len(beyond)} permissions exceed those of the user who grants them")


def require_held(
    request: ConsoleRequest, place: RoleScope, name: str, rules: Iterable[Rule]
) -> None:
    """Raise `Escalation` if the rules exceed the user's permissions.

    kube-apiserver performs the same check for native roles, except for users who may `escalate`.
    The check here reports the error before the write.
    """
    access, gvr = access_of(request), TYPES[place.level].roles
    if place.level in NATIVE and is_allowed_natively(access, "escalate", gvr, place, name):
        return
    beyond = uncovered(get_role_levels().held_rules(access.identity, place), rules)
    if beyond:
        raise Escalation(beyond)


def require_bindable(request: ConsoleRequest, place: RoleScope, role: str, rules: Rules) -> None:
    """Raise `Escalation` if the user may not grant the role to a subject."""
    access, gvr = access_of(request), TYPES[place.level].roles
    if place.level in NATIVE and is_allowed_natively(access, "bind", gvr, place, role):
        return
    require_held(request, place, role, rules)
    if place.level is Level.GLOBAL and role == PLATFORM_ADMIN:
        # Holding the rules of `platform-admin` does not include its permissions (ADR 8).
        bindings = TYPES[place.level].bindings
        if not is_allowed_natively(access, "create", bindings, place):
            raise Denied("create", bindings)


async def write(
    request: ConsoleRequest,
    gvr: GVR,
    place: RoleScope,
    before: Manifest | None,
    after: Manifest | None,
    *,
    undo: UndoOffer | None = None,
    decided: bool = False,
) -> None:
    """Create `after` if `before` is None, delete `before` if `after` is None, or replace the
    object. A delete applies only to the uid and version in `before`, and a replace to those in
    `after`.

    `place` is the scope in which the permission is required. Set `decided` if the permission was
    established through another type. With `undo`, offer to undo the change. Raise `Denied`,
    `ApiError`, `AuditUnavailable`.
    """
    verb = "create" if before is None else "delete" if after is None else "update"
    meta = (after or before or {})["metadata"]
    key = Key(place.namespace, meta["name"])
    access, named = access_of(request), "" if before is None else key.name
    by_console = not is_allowed_natively(access, verb, gvr, place, named)
    if by_console and not decided and not is_allowed_by_role(access, verb, gvr, place, named):
        raise Denied(verb, gvr, place.namespace)
    seen = {} if after else {"uid": meta["uid"], "resource_version": meta["resourceVersion"]}
    written = await perform(
        request, verb, gvr, key, after, by_console=by_console, wait=True, **seen
    )
    if undo is not None:
        await store_undo(request, undo, gvr, before, written if after else None)


async def store_undo(
    request: ConsoleRequest,
    offer: UndoOffer,
    gvr: GVR,
    before: Manifest | None,
    after: Manifest | None,
) -> None:
    """Store a change in the session so that it can be undone. `before` and `after` are the object
    or None if it did not exist. API clients have no session.
    """
    if not hasattr(request, "session"):
        return
    before = _without_server_fields(before) if before else None
    body = before or after or {}
    if len(msgspec.json.encode(body)) > MAX_BODY:
        await request.session.apop(UNDO, None)
        return
    await request.session.aset(
        UNDO,
        {
            "text": offer.text,
            "place": [*offer.place],
            "role": offer.role,
            "gvr": [gvr.group, gvr.version, gvr.resource],
            "before": before,
            "uid": after["metadata"]["uid"] if after else "",
            "version": after["metadata"]["resourceVersion"] if after else "",
            "name": body["metadata"]["name"],
            "namespace": body["metadata"].get("namespace", ""),
            "at": now().timestamp(),
        },
    )


def _without_server_fields(manifest: Manifest) -> Manifest:
    """Return the manifest without the metadata that the server adds."""
    kept = ("name", "namespace", "labels", "annotations", *TIES)
    meta = {field: value for field, value in manifest["metadata"].items() if field in kept}
    return {**manifest, "metadata": meta}
