"""Deleting several objects: a page that says what goes, then each deletion as the viewer.

What was shown is what is deleted: every object goes by its uid, and kube-apiserver refuses another one
of the same name. The answer is written while the deletions are made, one line for each as it is done;
whoever leaves the page ends what has not begun.
"""

import secrets
from typing import Any
from urllib.parse import quote, unquote

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from console.kube.gvr import (
    CUSTOM_RESOURCE_DEFINITIONS,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUMES,
    WORKSPACES,
    Key,
)
from console.kube.informer import Informer
from console.kube.runtime import UnknownKind
from console.kube.store import Entry
from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.decisions import Denied, Readable, readable
from console.ui.http import ConsoleRequest
from console.ui.kind import ResourceKind
from console.ui.places import find_kind, find_list
from console.ui.reading import TooManyProjects, listed
from console.ui.selection import prepare, select
from console.ui.text import visible
from console.ui.viewspec import ViewSpec
from console.views.bulkrun import Target, written
from console.views.delete import ACTION
from console.views.denial import denied_page
from console.views.errors import error_page
from console.views.guard import access_of, refuse_anonymous
from console.views.lists import FIRST_LIST_WAIT

#: Objects at a time, and names that are shown before.
MOST, SHOWN = 2000, 20
#: More than these must be confirmed by typing their number.
UNTYPED = 10
#: What cannot be undone by creating it again: always confirmed by typing.
PRECIOUS = frozenset(
    {NAMESPACES, CUSTOM_RESOURCE_DEFINITIONS, PERSISTENT_VOLUMES, NODES, WORKSPACES}
)
#: Where the results go in the page around them. No name in it can be this.
_GAP = f"results-{secrets.token_hex(16)}"


@require_POST
async def bulk_delete(request: ConsoleRequest, cluster: Cluster, resource: str) -> HttpResponseBase:
    """POST `key`… or `keys` (one per line), or `all` with the list's address in `list`, asks; POST
    `targets` (lines of uid and key) with `typed` where it was asked for deletes.

    Keys in lines are quoted as in addresses: kube-apiserver takes a role whose name has lines, and the
    second must not be another target.
    """
    refusal = refuse_anonymous(request)
    if refusal is not None:
        return refusal
    kind = find_kind(cluster, resource)
    if kind is None or ACTION not in kind.shown_actions:
        raise Http404
    access = access_of(request)
    spec = _list_of(request, kind, cluster)
    if spec is None:
        return error_page(request, 400, _("There is no list at this address."))
    try:
        allowed = readable(kind, access)
        if "targets" in request.POST:
            return _go(request, spec, access)
        entries = await _asked(request, spec, access, allowed)
    except UnknownKind as error:
        raise Http404 from error
    except TooManyProjects as error:
        return error_page(request, 400, str(error))
    except Denied as denied:
        return denied_page(request, denied, kind)
    return _ask(request, spec, access, entries)


def _list_of(request: ConsoleRequest, kind: ResourceKind, cluster: Cluster) -> ViewSpec | None:
    """The list that the objects are of, and that is returned to."""
    given = request.POST.get("list", "")
    if not given:
        return ViewSpec(kind, cluster.name)
    place = find_list(given)
    if place is None or place.cluster is not cluster or place.kind is not kind or place.spec.errors:
        return None
    return place.spec


async def _asked(
    request: ConsoleRequest, spec: ViewSpec, access: Access, allowed: Readable
) -> list[Entry[Any]]:
    """The objects that were chosen and that the viewer may see; what is not there is left out."""
    if spec.kind.private:
        raise Http404
    reading = listed(spec.kind, access, spec.namespaces, seconds=FIRST_LIST_WAIT)
    async with reading as informer:
        return await _chosen(request, spec, access, allowed, informer)


async def _chosen(
    request: ConsoleRequest,
    spec: ViewSpec,
    access: Access,
    allowed: Readable,
    informer: Informer[Any],
) -> list[Entry[Any]]:
    if request.POST.get("all") == "1":
        await prepare(spec, access, informer)
        return list(select(spec, access, informer, slice(0, MOST + 1)).entries)
    chosen = map(unquote, request.POST.get("keys", "").splitlines())
    lines = [*request.POST.getlist("key"), *chosen]
    keys = dict.fromkeys(_key(spec.kind, line) for line in lines[: 2 * MOST] if line.strip())
    found = (informer.store.get(key) for key in keys if allowed.sees(key))
    return [entry for entry in found if entry is not None]


def _key(kind: ResourceKind, text: str) -> Key:
    namespace, slash, name = text.partition("/")
    return Key(namespace, name) if kind.view.namespaced and slash else Key("", text)


def _ask(
    request: ConsoleRequest,
    spec: ViewSpec,
    access: Access,
    entries: list[Entry[Any]],
    *,
    error: str = "",
) -> HttpResponse:
    kind = spec.kind
    delete = kind.shown_actions[ACTION]
    goes = [entry for entry in entries if delete.may(access, kind.gvr, entry.key)]
    if len(goes) > MOST:
        text = _("At most %(most)s objects can be deleted at a time.") % {"most": f"{MOST:,}"}
        return error_page(request, 400, text)
    if not goes:
        return error_page(request, 400, _("Nothing was chosen that you may delete."))
    targets = [Target(entry.key, entry.projection.uid) for entry in goes]
    return _asking(request, spec, targets, stays=len(entries) - len(goes), error=error)


def _asking(
    request: ConsoleRequest,
    spec: ViewSpec,
    targets: list[Target],
    *,
    stays: int = 0,
    error: str = "",
) -> HttpResponse:
    context = {
        "title": _title(spec.kind, targets),
        "names": [visible(str(target.key)) for target in targets[:SHOWN]],
        "more": max(0, len(targets) - SHOWN),
        "stays": stays,
        "typed": _typed(spec.kind, targets),
        "targets": "\n".join(f"{target.uid} {quote(str(target.key))}" for target in targets),
        "list": spec.url,
        "action_url": request.path,
        "error": error,
    }
    return render(request, "console/bulk_delete.html", context, status=400 if error else 200)


def _title(kind: ResourceKind, targets: list[Target]) -> str:
    if len(targets) == 1:
        words = {"kind": kind.singular, "name": visible(targets[0].key.name)}
        return _("Delete %(kind)s %(name)s") % words
    return _("Delete %(total)s %(nouns)s") % {"total": f"{len(targets):,}", "nouns": kind.nouns}


def _typed(kind: ResourceKind, targets: list[Target]) -> str:
    """What must be typed before they are deleted; "" for nothing."""
    if len(targets) <= UNTYPED and kind.gvr not in PRECIOUS:
        return ""
    return targets[0].key.name if len(targets) == 1 else str(len(targets))


def _go(request: ConsoleRequest, spec: ViewSpec, access: Access) -> HttpResponseBase:
    targets = _targets(spec.kind, request.POST["targets"])
    if not targets or len(targets) > MOST:
        return error_page(request, 400, _("The form is not complete. Load the page again."))
    wanted = _typed(spec.kind, targets)
    if wanted and request.POST.get("typed", "").strip() != wanted:
        return _asking(request, spec, targets, error=_("This is not what was to be typed."))
    context = {"title": _title(spec.kind, targets), "list": spec.url, "gap": _GAP}
    page = render_to_string("console/bulk_done.html", context, request)
    response = StreamingHttpResponse(written(request, spec.kind, access, targets, page, _GAP))
    # What is between here and the browser must not wait for the end.
    response["X-Accel-Buffering"] = "no"
    return response


def _targets(kind: ResourceKind, text: str) -> list[Target]:
    """None at all if one of them cannot be read: then it is not our form."""
    found = []
    for line in text.splitlines():
        uid, _space, key = line.partition(" ")
        if not uid or not key or not line.isprintable():
            return []
        found.append(Target(_key(kind, unquote(key)), uid))
    return list({target.key: target for target in found}.values())
