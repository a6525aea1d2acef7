"""Doing something to several objects: a page that says to which, then each deed as the viewer.

It is done to what was shown: every object goes by its uid, and kube-apiserver refuses another one
of the same name. The answer is written while it is done, one line for each as it is done;
whoever leaves the page ends what has not begun.
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

#: Objects at a time, and names that are shown before.
MOST, SHOWN = 2000, 20
#: Where the results go in the page around them. No name in it can be this.
_GAP = f"results-{secrets.token_hex(16)}"


@page("POST")
async def bulk_page(
    request: ConsoleRequest, cluster: Cluster, resource: str, action: str
) -> HttpResponseBase:
    """POST `key`… or `keys` (one per line), or `all` with the list's address in `list`, asks; POST
    `targets` (lines of uid and key) with `typed` where it was asked for does it.

    Keys in lines are quoted as in addresses: kube-apiserver takes a role whose name has lines, and the
    second must not be another target.
    """
    kind = find_kind(cluster, resource)
    found = kind.shown_actions.get(action) if kind is not None else None
    if kind is None or found is None or BULK not in found.places or kind.private:
        raise Http404
    access = access_of(request)
    spec = _list_of(request, kind, cluster)
    if spec is None:
        return error_page(request, 400, _("There is no list at this address."))
    try:
        query = ListQuery.of(spec, access)
        if "targets" in request.POST:
            return _go(request, spec, found, access)
        entries = await _asked(request, query)
    except TooManyProjects as error:
        return error_page(request, 400, str(error))
    return _ask(request, spec, found, access, entries)


def _list_of(request: ConsoleRequest, kind: ResourceKind, cluster: Cluster) -> ViewSpec | None:
    """The list that the objects are of, and that is returned to."""
    given = request.POST.get("list", "")
    if not given:
        return ViewSpec(kind, cluster.name)
    place = find_list(given)
    if place is None or place.cluster is not cluster or place.kind is not kind or place.spec.errors:
        return None
    return place.spec


async def _asked(request: ConsoleRequest, query: ListQuery) -> list[Entry[Any]]:
    """The objects that were chosen and that the viewer may see; what is not there is left out."""
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
    found = (informer.store.get(key) for key in keys if query.readable.sees(key))
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
        text = _("At most %(most)s objects can be chosen at a time.") % {"most": f"{MOST:,}"}
        return error_page(request, 400, text)
    if not goes and doubted:
        raise InDoubt
    if not goes:
        return error_page(request, 400, _("Nothing was chosen that you may do this to."))
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
    return action.typed(kind, [target.key for target in targets])


def _go(
    request: ConsoleRequest, spec: ViewSpec, action: Action, access: Access
) -> HttpResponseBase:
    targets = _targets(spec.kind, request.POST["targets"])
    if not targets or len(targets) > MOST:
        return error_page(request, 400, _("The form is not complete. Load the page again."))
    wanted = _typed(action, spec.kind, targets)
    if wanted and request.POST.get("typed", "").strip() != wanted:
        text = _("This is not what was to be typed.")
        return _asking(request, spec, action, targets, error=text)
    context = {"title": _title(action, spec.kind, targets), "list": spec.url, "gap": _GAP}
    page = render_to_string("console/bulk_done.html", context, request)
    results = written(request, spec.kind, action, access, targets, page, _GAP)
    response = StreamingHttpResponse(results)
    # What is between here and the browser must not wait for the end.
    response["X-Accel-Buffering"] = "no"
    return response


def _targets(kind: ResourceKind, text: str) -> list[Target]:
    """None at all if one of them cannot be read: then it is not our form."""
    found = []
    for line in text.splitlines():
        uid, _space, key = line.partition(" ")
        target = Target(_key(kind, unquote(key)), uid)
        # Without a name it would be done to all of a project, without a project to none.
        named = bool(target.key.name) and kind.view.namespaced is bool(target.key.namespace)
        if not uid or not named or not line.isprintable():
            return []
        found.append(target)
    return list({target.key: target for target in found}.values())
