"""Views that run an action on several objects: a confirmation page, then one request per object
with the viewer's permissions.

Objects are identified by their UID, so kube-apiserver rejects requests for a new object with the
same name. The response is streamed with one line per completed object. If the user leaves the
page, the remaining objects are skipped.
"""

import secrets
from typing import Any
from urllib.parse import quote, unquote

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.actions import BULK, Action
from console.ui.clusters import Cluster
from console.ui.decisions import Denied, Exempt
from console.ui.http import ConsoleRequest
from console.ui.kind import ResourceKind
from console.ui.places import find_kind, find_list
from console.ui.reading import TooManyProjects, listed
from console.ui.selection import ListQuery, selected
from console.ui.text import visible
from console.ui.viewspec import ViewSpec
from console.views.bulkrun import Target, written
from console.views.deciding import InDoubt, check_may
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.lists import FIRST_LIST_WAIT
from console.views.page import page

#: Maximum number of objects, and number of names shown on the confirmation page.
MOST, SHOWN = 2000, 20
#: Placeholder for the results in the rendered page. Random, so that no name can contain it.
_GAP = f"results-{secrets.token_hex(16)}"


@page("POST")
async def bulk_page(
    request: ConsoleRequest, cluster: Cluster, resource: str, action: str
) -> HttpResponseBase:
    """POST `key`… or `keys` (one per line), or `all` with the list's URL in `list`, shows the
    confirmation page. POST `targets` (lines of UID and key), with `typed` if required, runs the
    action.

    Keys in lines are URL-quoted: RBAC role names may contain line breaks, which must not create
    another target.
    """
    kind = find_kind(cluster, resource)
    found = kind.actions_by_name.get(action) if kind is not None else None
    if kind is None or found is None or BULK not in found.places or kind.private:
        raise Http404
    access = access_of(request)
    spec = _list_of(request, kind, cluster)
    if spec is None:
        return error_page(request, 400, _("No list found at this address."))
    try:
        query = ListQuery.of(spec, access)
        if "targets" in request.POST:
            return _go(request, spec, found, access)
        entries = await _asked(request, query)
    except TooManyProjects as error:
        return error_page(request, 400, str(error))
    return _ask(request, spec, found, access, entries)


def _list_of(request: ConsoleRequest, kind: ResourceKind, cluster: Cluster) -> ViewSpec | None:
    """Return the list that the objects belong to, which is also the page to return to."""
    given = request.POST.get("list", "")
    if not given:
        return ViewSpec(kind, cluster.name)
    place = find_list(given)
    if place is None or place.cluster is not cluster or place.kind is not kind or place.spec.errors:
        return None
    return place.spec


async def _asked(request: ConsoleRequest, query: ListQuery) -> list[Entry[Any]]:
    """Return the selected objects that exist and are visible to the viewer."""
    kind, namespaces = query.spec.kind, query.spec.namespaces
    reading = listed(
        kind, query.access, namespaces, allowed=query.readable, seconds=FIRST_LIST_WAIT
    )
    async with reading as informer:
        return await _chosen(request, query, informer)


async def _chosen(
    request: ConsoleRequest, query: ListQuery, informer: Informer[Any]
) -> list[Entry[Any]]:
    if request.POST.get("all") == "1":
        everything = await selected(query, informer, slice(0, MOST + 1), seconds=0.0)
        return list(everything.entries)
    chosen = map(unquote, request.POST.get("keys", "").splitlines())
    lines = [*request.POST.getlist("key"), *chosen]
    keys = dict.fromkeys(_key(query.spec.kind, line) for line in lines[: 2 * MOST] if line.strip())
    found = (informer.store.get(key) for key in keys if query.readable.includes(key))
    return [entry for entry in found if entry is not None]


def _key(kind: ResourceKind, text: str) -> Key:
    namespace, slash, name = text.partition("/")
    return Key(namespace, name) if kind.view.namespaced and slash else Key("", text)


def _ask(
    request: ConsoleRequest,
    spec: ViewSpec,
    action: Action,
    access: Access,
    entries: list[Entry[Any]],
    *,
    error: str = "",
) -> HttpResponse:
    goes, doubted = [], False
    for entry in entries:
        try:
            check_may(spec.kind, action, access, entry.key)
        except InDoubt:
            doubted = True
        except (Denied, Exempt):
            continue
        else:
            if action.applicable(entry):
                goes.append(entry)
    if len(goes) > MOST:
        text = _("You can select at most %(most)s objects at a time.") % {"most": f"{MOST:,}"}
        return error_page(request, 400, text)
    if not goes and doubted:
        raise InDoubt
    if not goes:
        return error_page(
            request, 400, _("You don't have permission to do this for any of the selected items.")
        )
    targets = [Target(entry.key, entry.projection.uid) for entry in goes]
    return _asking(request, spec, action, targets, stays=len(entries) - len(goes), error=error)


def _asking(
    request: ConsoleRequest,
    spec: ViewSpec,
    action: Action,
    targets: list[Target],
    *,
    stays: int = 0,
    error: str = "",
) -> HttpResponse:
    context = {
        "title": _title(action, spec.kind, targets),
        "action": action,
        "effect": action.effect(spec.kind),
        "names": [visible(str(target.key)) for target in targets[:SHOWN]],
        "more": max(0, len(targets) - SHOWN),
        "stays": stays,
        "typed": _typed(action, spec.kind, targets),
        "targets": "\n".join(f"{target.uid} {quote(str(target.key))}" for target in targets),
        "list": spec.url,
        "action_url": request.path,
        "error": error,
    }
    return render(request, "console/bulk.html", context, status=400 if error else 200)


def _title(action: Action, kind: ResourceKind, targets: list[Target]) -> str:
    if len(targets) == 1:
        return action.title(kind, visible(targets[0].key.name))
    return action.titles(kind, f"{len(targets):,}")


def _typed(action: Action, kind: ResourceKind, targets: list[Target]) -> str:
    return action.confirmation_text(kind, [target.key for target in targets])


def _go(
    request: ConsoleRequest, spec: ViewSpec, action: Action, access: Access
) -> HttpResponseBase:
    targets = _targets(spec.kind, request.POST["targets"])
    if not targets or len(targets) > MOST:
        return error_page(request, 400, _("The form is incomplete. Reload the page."))
    wanted = _typed(action, spec.kind, targets)
    if wanted and request.POST.get("typed", "").strip() != wanted:
        text = _("The text that you typed does not match. Type the text exactly as shown.")
        return _asking(request, spec, action, targets, error=text)
    context = {"title": _title(action, spec.kind, targets), "list": spec.url, "gap": _GAP}
    page = render_to_string("console/bulk_done.html", context, request)
    results = written(request, spec.kind, action, access, targets, page, _GAP)
    response = StreamingHttpResponse(results)
    # Disables buffering in the proxy, which would delay the results until the end.
    response["X-Accel-Buffering"] = "no"
    return response


def _targets(kind: ResourceKind, text: str) -> list[Target]:
    """Parse the targets. Return [] if a line is invalid, because the form then wasn't created by
    the console.
    """
    found = []
    for line in text.splitlines():
        uid, _space, key = line.partition(" ")
        target = Target(_key(kind, unquote(key)), uid)
        # An empty name would address all objects of a project, and an empty namespace none.
        named = bool(target.key.name) and kind.view.namespaced is bool(target.key.namespace)
        if not uid or not named or not line.isprintable():
            return []
        found.append(target)
    return list({target.key: target for target in found}.values())
