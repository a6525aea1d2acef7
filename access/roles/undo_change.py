"""Undo the last change of a role. Offered for some minutes to the user who made the change.

Undoing is a normal change that the user reviews first: it requires the current permissions, and
works only if the object has not changed since.
"""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from access.roles.lookup import ScopedRole, informer_of, list_url, role_url
from access.roles.writing import (
    TIES,
    UNDO,
    Escalation,
    require_bindable,
    require_held,
    write,
)
from accounts.time import now
from console.kube.apply import writable_content
from console.kube.gvr import GVR, Key
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.editing.diff import difference, order_like
from console.ui.editing.yaml_text import yaml_text
from console.views.errors import error_page
from console.views.history import undo_title
from console.views.page import page, success_redirect
from rbac.levels import TYPES, Level, RoleScope
from rbac.rules import parse_rules

SECONDS = 600


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


@page("GET", "POST")
async def undo(request: ConsoleRequest) -> HttpResponse:
    """GET shows a review of the change that reverses the last change of a role. POST makes this
    change. The parameter `seen` identifies the reviewed change.
    """
    kept = await _stored_change(request)
    if kept is None or (request.method == "POST" and request.POST.get("seen") != str(kept["at"])):
        return error_page(
            request,
            403,
            _("There is nothing to undo. The change is too old or was already undone."),
        )
    level, workspace, namespace = kept["place"]
    place = RoleScope(Level(level), workspace, namespace)
    there = informer_of(TYPES[place.level].roles).store.get(Key(namespace, kept["role"]))
    url = role_url(place, kept["role"]) if there else list_url(place)
    if request.method != "POST":
        return await _review(request, kept, url)
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


async def _review(request: ConsoleRequest, kept: dict[str, Any], url: str) -> HttpResponse:
    gvr, key = GVR(*kept["gvr"]), Key(kept["namespace"], kept["name"])
    kind, entry = kinds.by_type(gvr), informer_of(gvr).store.get(key)
    if kind is None:
        raise Http404
    states = entry.original() if kept["uid"] and entry else None, kept["before"]
    live, wanted = (writable_content(one) if one else {} for one in states)
    texts = live, order_like(wanted, live)
    context = {
        "title": undo_title(kind, key),
        "text": kept["text"],
        "difference": difference(*(yaml_text(kind, one) if one else "" for one in texts)),
        "fields": {"seen": kept["at"]},
        "undo_url": request.path,
        "cancel_url": url,
    }
    return render(request, "console/undo.html", context)


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
    seen = {"uid": uid, "resourceVersion": version}
    current = {"metadata": {"name": kept["name"], **seen}} if uid else None
    if before is not None:
        meta = before["metadata"]
        fresh = {name: value for name, value in meta.items() if name not in TIES}
        before = {**before, "metadata": {**meta, **seen} if uid else fresh}
    await write(request, gvr, where, current, before)


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
