"""Undo the last change of a role. Offered for some minutes to the user who made the change.

Undoing is a normal change: it requires the current permissions, and works only if the object has
not changed since.
"""

from typing import Any

import msgspec
from django.http import HttpResponse
from django.utils.translation import gettext as _

from access.roles.lookup import ScopedRole, informer_of, list_url, role_url
from access.roles.writing import Escalation, Manifest, require_bindable, require_held, write
from accounts.time import now
from console.kube.clients import ObjectClient
from console.kube.gvr import GVR, Key
from console.ui.core.requests import ConsoleRequest
from console.views.errors import error_page
from console.views.page import page, success_redirect
from rbac.levels import TYPES, Level, RoleScope
from rbac.rules import parse_rules

UNDO = "undo_role"
SECONDS = 600
#: Maximum size in bytes of a manifest in the session.
MAX_BODY = 64 * 1024
#: References to other objects. They are removed when the object is recreated, because the other
#: objects may no longer exist.
_TIES = ("ownerReferences", "finalizers")


async def store_undo(
    request: ConsoleRequest,
    text: str,
    role: tuple[RoleScope, str],
    gvr: GVR,
    *,
    before: Manifest | None,
    after: Manifest | None,
) -> None:
    """Store a change in the session so that it can be undone. `before` and `after` are the object
    or None if it did not exist. The offer is displayed on the page of `role`.
    """
    body = before or after or {}
    if len(msgspec.json.encode(body)) > MAX_BODY:
        await request.session.apop(UNDO, None)
        return
    await request.session.aset(
        UNDO,
        {
            "text": text,
            "place": [*role[0]],
            "role": role[1],
            "gvr": [gvr.group, gvr.version, gvr.resource],
            "before": before,
            "uid": after["metadata"]["uid"] if after else "",
            "version": after["metadata"]["resourceVersion"] if after else "",
            "name": body["metadata"]["name"],
            "namespace": body["metadata"].get("namespace", ""),
            "at": now().timestamp(),
        },
    )


async def undo_description(request: ConsoleRequest, place: RoleScope, role: str) -> str:
    """Return the description of the change that can be undone, or "". On a role list (`role` is
    ""), changes of every role in this scope are included.
    """
    kept = await _stored_change(request)
    if kept is None or kept["place"] != [*place]:
        return ""
    return str(kept["text"]) if role == kept["role"] or not role else ""


async def _stored_change(request: ConsoleRequest) -> dict[str, Any] | None:
    kept: dict[str, Any] | None = await request.session.aget(UNDO)
    return kept if kept and now().timestamp() - kept["at"] < SECONDS else None


@page("POST")
async def undo(request: ConsoleRequest) -> HttpResponse:
    kept = await _stored_change(request)
    if kept is None:
        return error_page(
            request,
            403,
            _("There is nothing to undo. The change is too old or was already undone."),
        )
    level, workspace, namespace = kept["place"]
    place = RoleScope(Level(level), workspace, namespace)
    try:
        await _undo(request, kept, place)
    except Escalation:
        return error_page(
            request, 403, _("Undoing this change would grant permissions that you don't have.")
        )
    await request.session.apop(UNDO, None)
    there = informer_of(TYPES[place.level].roles).store.get(Key(namespace, kept["role"]))
    url = role_url(place, kept["role"]) if there else list_url(place)
    return success_redirect(request, _("Undone: %(text)s") % {"text": kept["text"]}, url)


async def _undo(request: ConsoleRequest, kept: dict[str, Any], place: RoleScope) -> None:
    """Undo the stored change. Raise `Escalation`, `Denied`, `ApiError`."""
    gvr = GVR(*kept["gvr"])
    before, uid, version = kept["before"], kept["uid"], kept["version"]
    where = place
    if kept["namespace"] and place.level is not Level.PROJECT:
        # The binding of a cluster role in one project.
        where = RoleScope(Level.PROJECT, "", kept["namespace"])
    if before is not None:
        await _compare(request, kept, place, gvr)
    verb = "delete" if before is None else "update" if uid else "create"

    async def do(client: ObjectClient, audit_id: str) -> Manifest | None:
        there = {"namespace": kept["namespace"], "audit_id": audit_id}
        if before is None:
            name = kept["name"]
            await client.delete(gvr, name=name, uid=uid, resource_version=version, **there)
            return None
        meta = before["metadata"]
        if not uid:
            fresh = {name: value for name, value in meta.items() if name not in _TIES}
            return await client.create(gvr, {**before, "metadata": fresh}, **there)
        meta = {**meta, "uid": uid, "resourceVersion": version}
        return await client.replace(gvr, {**before, "metadata": meta}, name=kept["name"], **there)

    await write(request, verb, gvr, where, kept["name"], do)


async def _compare(
    request: ConsoleRequest, kept: dict[str, Any], place: RoleScope, gvr: GVR
) -> None:
    """Check that the user holds the permissions that are restored. Raise `Escalation`."""
    if gvr == TYPES[place.level].roles:
        rules = parse_rules(kept["before"].get("rules"))
        require_held(request, place, kept["role"], rules)
        return
    entry = informer_of(TYPES[place.level].roles).store.get(Key(place.namespace, kept["role"]))
    rules = ScopedRole(place, entry).rules if entry is not None else ()
    require_bindable(request, place, kept["role"], rules)


def without_server_fields(manifest: Manifest) -> Manifest:
    """Return the manifest without the metadata that the server adds."""
    kept = ("name", "namespace", "labels", "annotations", *_TIES)
    meta = {field: value for field, value in manifest["metadata"].items() if field in kept}
    return {**manifest, "metadata": meta}
