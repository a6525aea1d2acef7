"""Views that run an action on several objects: a confirmation page, then one request per object
with the viewer's permissions.

Objects are identified by their UID, so kube-apiserver rejects requests for a new object with the
same name. The response is streamed with one line per completed object. If the user leaves the
page, the remaining objects are skipped.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote, unquote

from django.db import DatabaseError
from django.http import (
    Http404,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from console.kube.errors import NotFound
from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.core.access import Access
from console.ui.core.actions import BULK, Action, ActionStarted
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind
from console.ui.core.links import object_url
from console.ui.core.object_source import TooManyProjects, cached_entry, open_loaded_source
from console.ui.core.page_data import FIRST_LIST_WAIT
from console.ui.core.permissions import Denied, Protected
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.forms.forms import ConsoleForm
from console.ui.lists.selection import ListQuery, select_async
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.page_routes import find_kind, resolve_list
from console.views.actions import FAILURES, failure_text, not_applicable, not_confirmed, run_as_user
from console.views.authorization import PermissionsUnconfirmed, check_action
from console.views.back_link import list_crumbs
from console.views.errors import error_page, incomplete_form
from console.views.guard import access_of
from console.views.page import page

#: Number of objects processed concurrently.
MAX_CONCURRENT = 4


@dataclass(frozen=True, slots=True)
class BulkTarget:
    """Object displayed on the confirmation page, with its UID."""

    key: Key
    uid: str


@dataclass(frozen=True, slots=True)
class BulkResult:
    """Result of one object.

    `outcome` is "done", "gone" (already deleted) or "refused", with the reason in `text`. `url`
    is the page with the progress of a long-running operation.
    """

    name: str
    outcome: str
    text: str = ""
    url: str = ""


async def stream_results(
    action: Action,
    run: Callable[[BulkTarget], Awaitable[BulkResult]],
    targets: list[BulkTarget],
    page: str,
    gap: str,
) -> AsyncIterator[bytes]:
    """Yield the page, with the result of `run` for each target inserted at the placeholder `gap`."""
    before, _gap, after = page.partition(gap)
    yield before.encode()
    counts = {"done": 0, "gone": 0, "refused": 0}
    # The active language is reset when the view returns, before the response is streamed.
    lang = get_language()
    async for result in _results(run, targets):
        counts[result.outcome] += 1
        with override(lang):
            yield render_to_string(
                "ui/_bulk_result.html", {"result": result, "action": action}
            ).encode()
    with override(lang):
        yield render_to_string("ui/_bulk_summary.html", counts).encode()
    yield after.encode()


async def _results(
    run: Callable[[BulkTarget], Awaitable[BulkResult]], targets: Iterable[BulkTarget]
) -> AsyncIterator[BulkResult]:
    """Yield each result when it is available."""
    places = asyncio.Semaphore(MAX_CONCURRENT)

    async def one(target: BulkTarget) -> BulkResult:
        async with places:
            return await run(target)

    tasks = [asyncio.create_task(one(target)) for target in targets]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for waiting in tasks:
            waiting.cancel()


async def _result(
    request: ConsoleRequest,
    kind: ResourceKind,
    action: Action,
    access: Access,
    data: Mapping[str, Any],
    target: BulkTarget,
) -> BulkResult:
    name = escape_invisible(str(target.key))
    try:
        # Checked for each object, because permissions and objects may change during the run.
        check_action(kind, action, access, target.key)
        entry = cached_entry(kind, access, target.key, target.uid)
        if entry is not None and not action.applicable(entry):
            return BulkResult(name, "refused", not_applicable())
        await action.check(access, kind.gvr, target.key)
        outcome = await run_as_user(request, kind, action, target.key, access, target.uid, data)
    except NotFound:
        return BulkResult(name, "gone")
    except FAILURES as error:
        return BulkResult(name, "refused", failure_text(error, kind))
    except DatabaseError:
        return BulkResult(name, "refused", _("The database is not available."))
    followed = isinstance(outcome, ActionStarted)
    url = object_url(access.cluster.name, kind.segment, target.key) if followed else ""
    return BulkResult(name, "done", url=url)


#: Maximum number of objects, and number of names shown on the confirmation page.
MAX_OBJECTS, MAX_NAMES_SHOWN = 2000, 20
#: Placeholder for the results in the rendered page. Random, so that no name can contain it.
_PLACEHOLDER = f"results-{secrets.token_hex(16)}"


@page("POST")
async def bulk_page(
    request: ConsoleRequest, cluster: Cluster, resource: str, action: str
) -> HttpResponseBase:
    """POST `key`… or `keys` (one per line), or `all` with the list's URL in `list`, shows the
    confirmation page. POST `targets` (lines of UID and key), with the fields of the form and `typed`
    if the page has them, runs the action.

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
            return _run(request, spec, found, access)
        entries = await _selected_entries(request, query)
    except TooManyProjects as error:
        return error_page(request, 400, str(error))
    return _confirm_entries(request, spec, found, access, entries)


def _list_of(request: ConsoleRequest, kind: ResourceKind, cluster: Cluster) -> ViewSpec | None:
    """Return the list that the objects belong to, which is also the page to return to."""
    given = request.POST.get("list", "")
    if not given:
        return ViewSpec(kind, cluster.name)
    place = resolve_list(given)
    if place is None or place.cluster is not cluster or place.kind is not kind or place.spec.errors:
        return None
    return place.spec


async def _selected_entries(request: ConsoleRequest, query: ListQuery) -> list[Entry[Any]]:
    """Return the selected objects that exist and are visible to the viewer."""
    kind, namespaces = query.spec.kind, query.spec.namespaces
    reading = open_loaded_source(
        kind, query.access, namespaces, allowed=query.readable, seconds=FIRST_LIST_WAIT
    )
    async with reading as informer:
        if request.POST.get("all") == "1":
            everything = await select_async(query, informer, slice(0, MAX_OBJECTS + 1), seconds=0.0)
            return list(everything.entries)
        chosen = map(unquote, request.POST.get("keys", "").splitlines())
        lines = [*request.POST.getlist("key"), *chosen]
        keys = dict.fromkeys(_key(kind, line) for line in lines[: 2 * MAX_OBJECTS] if line.strip())
        found = (informer.store.get(key) for key in keys if query.readable.includes(key))
        return [entry for entry in found if entry is not None]


def _key(kind: ResourceKind, text: str) -> Key:
    namespace, slash, name = text.partition("/")
    return Key(namespace, name) if kind.view.namespaced and slash else Key("", text)


def _confirm_entries(
    request: ConsoleRequest,
    spec: ViewSpec,
    action: Action,
    access: Access,
    entries: list[Entry[Any]],
) -> HttpResponse:
    goes, doubted = [], False
    for entry in entries:
        try:
            check_action(spec.kind, action, access, entry.key)
        except PermissionsUnconfirmed:
            doubted = True
        except (Denied, Protected):
            continue
        else:
            if action.applicable(entry):
                goes.append(entry)
    if len(goes) > MAX_OBJECTS:
        text = _("You can select at most %(most)s objects at a time.") % {
            "most": f"{MAX_OBJECTS:,}"
        }
        return error_page(request, 400, text)
    if not goes and doubted:
        raise PermissionsUnconfirmed
    if not goes:
        return error_page(
            request, 400, _("You don't have permission to do this for any of the selected items.")
        )
    targets = [BulkTarget(entry.key, entry.projection.uid) for entry in goes]
    return _confirmation(request, spec, action, targets, stays=len(entries) - len(goes))


def _confirmation(
    request: ConsoleRequest,
    spec: ViewSpec,
    action: Action,
    targets: list[BulkTarget],
    *,
    stays: int = 0,
    error: str = "",
    form: ConsoleForm | None = None,
) -> HttpResponse:
    form = form or _form(action)
    context = {
        "title": _title(action, spec.kind, targets),
        "action": action,
        "effect": action.effect(spec.kind),
        "names": [escape_invisible(str(target.key)) for target in targets[:MAX_NAMES_SHOWN]],
        "more": max(0, len(targets) - MAX_NAMES_SHOWN),
        "stays": stays,
        "typed": _typed(action, spec.kind, targets),
        "form": form,
        "targets": "\n".join(f"{target.uid} {quote(str(target.key))}" for target in targets),
        "crumbs": list_crumbs(spec, access_of(request)),
        "list": spec.url,
        "action_url": request.get_full_path(),
        "error": error,
    }
    wrong = error or (form is not None and form.errors)
    return render(request, "console/bulk.html", context, status=400 if wrong else 200)


def _form(action: Action, data: QueryDict | None = None) -> ConsoleForm | None:
    return action.bulk_form(data) if action.bulk_form else None


def _title(action: Action, kind: ResourceKind, targets: list[BulkTarget]) -> str:
    if len(targets) == 1:
        return action.title(kind, escape_invisible(targets[0].key.name))
    return action.titles(kind, f"{len(targets):,}")


def _typed(action: Action, kind: ResourceKind, targets: list[BulkTarget]) -> str:
    return action.confirmation_text(kind, [target.key for target in targets])


def _run(
    request: ConsoleRequest, spec: ViewSpec, action: Action, access: Access
) -> HttpResponseBase:
    targets = _targets(spec.kind, request.POST["targets"])
    if not targets or len(targets) > MAX_OBJECTS:
        return incomplete_form(request)
    wanted = _typed(action, spec.kind, targets)
    if wanted and request.POST.get("typed", "").strip() != wanted:
        return _confirmation(request, spec, action, targets, error=not_confirmed())
    form = _form(action, request.POST)
    if form is not None and not form.is_valid():
        return _confirmation(request, spec, action, targets, form=form)
    data = form.cleaned_data if form is not None else {}
    context = {
        "title": _title(action, spec.kind, targets),
        "crumbs": list_crumbs(spec, access),
        "list": spec.url,
        "gap": _PLACEHOLDER,
    }
    page = render_to_string("console/bulk_done.html", context, request)
    run = partial(_result, request, spec.kind, action, access, data)
    results = stream_results(action, run, targets, page, _PLACEHOLDER)
    response = StreamingHttpResponse(results)
    # Disables buffering in the proxy, which would delay the results until the end.
    response["X-Accel-Buffering"] = "no"
    return response


def _targets(kind: ResourceKind, text: str) -> list[BulkTarget]:
    """Parse the targets. Return [] if a line is invalid, because the form then wasn't created by
    the console.
    """
    found = []
    for line in text.splitlines():
        uid, _space, key = line.partition(" ")
        target = BulkTarget(_key(kind, unquote(key)), uid)
        # An empty name would address all objects of a project, and an empty namespace none.
        named = bool(target.key.name) and kind.view.namespaced is bool(target.key.namespace)
        if not uid or not named or not line.isprintable():
            return []
        found.append(target)
    return list({target.key: target for target in found}.values())
