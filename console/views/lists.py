"""List page of any kind, as a full page, an HTMX fragment, and data."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import (
    Http404,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)
from django.template.loader import render_to_string
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from console.kube.factory import UnknownKind
from console.kube.gvr import NAMESPACES
from console.kube.informer import Informer
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.object_source import (
    TooManyProjects,
    open_loaded_source,
    truncated_at,
    with_columns,
)
from console.ui.core.page_data import FIRST_LIST_WAIT
from console.ui.core.permissions import Denied, may_know_kind
from console.ui.core.requests import ConsoleRequest, is_fragment, own_path, vary_on_htmx
from console.ui.core.statuses import status_response
from console.ui.fragments.empty_states import not_installed_text
from console.ui.fragments.placeholders import render_page as whole_page
from console.ui.lists.export import FORMATS, exported_slice, stream
from console.ui.lists.selection import ListQuery, select_async
from console.ui.lists.table import Table, build_table, denied_table, invalid_query_table
from console.ui.lists.viewspec import FieldError, ViewSpec
from console.ui.navigation.level import project_filter
from console.ui.navigation.nav import update_counts
from console.ui.navigation.page_routes import find_kind
from console.ui.navigation.projects import known_namespaces
from console.views.errors import RETRY_AFTER, error_page
from console.views.guard import access_of
from console.views.page import page
from console.views.peek import PARAMETER, Peek, find_peek, peek_response


@page("GET", formats=tuple(FORMATS))
async def list_page(request: ConsoleRequest, cluster: Cluster, resource: str) -> HttpResponseBase:
    """GET /clusters/{cluster}/{resource}, with the query of `console.ui.lists.viewspec`, and `format`."""
    kind = find_kind(cluster, resource)
    if kind is None:
        raise Http404
    access, fmt = access_of(request), request.GET.get("format", "html")
    if _leaves_project(request):
        # The page around the list belongs to the level of its address.
        return HttpResponse(headers={"HX-Redirect": request.get_full_path()})
    kind = await with_columns(kind, access)
    peeked, peek = request.GET.get(PARAMETER, "") if fmt == "html" else "", None
    fragment, spec = is_fragment(request), ViewSpec.parse(kind, request.GET, cluster=cluster.name)
    try:
        # Before the informer is started: users must not start watches of resources they can't read.
        query = ListQuery.of(spec, access)
        if peeked and fragment:
            return peek_response(await find_peek(request, peeked, spec, access))
        if not kind.serves("list"):
            text = _("The cluster cannot list %(nouns)s.") % {"nouns": kind.nouns}
            return error_page(request, 404, text)
        reading = open_loaded_source(
            kind, access, spec.namespaces, allowed=query.readable, seconds=FIRST_LIST_WAIT
        )
        async with reading as informer:
            if fmt != "html":
                return await _data(query, informer, fmt)
            table = await _table(query, informer)
            if not fragment:
                await update_counts(cluster)
            peek = await find_peek(request, peeked, spec, access) if peeked else None
    except Denied as denied:
        if fmt != "html" or not fragment or not may_know_kind(access, kind):
            raise
        return _drawn(request, denied_table(spec, denied), fragment=fragment, status=403)
    except TooManyProjects as error:
        spec = replace(spec, errors=(FieldError("namespace", str(error)),))
        if fmt != "html":
            return _bad_data(spec)
        table = invalid_query_table(spec, query.readable)
    return _drawn(request, table, fragment=fragment, peek=peek)


def _leaves_project(request: ConsoleRequest) -> bool:
    """Return True for a fragment of another project than that of the page that requests it."""
    page, _mark, query = own_path(request.htmx.current_url).partition("?")
    if not is_fragment(request) or page != request.path:
        return False
    try:
        return project_filter(QueryDict(query)) != project_filter(request.GET)
    except SuspiciousOperation:
        return False


async def _table(query: ListQuery, informer: Informer[Any]) -> Table:
    found = None
    ready = informer.freshness.synced and not informer.not_installed
    if not query.spec.errors and ready:
        found = await select_async(
            query, informer, query.spec.page_slice, seconds=FIRST_LIST_WAIT, links=True
        )
    return build_table(query, informer, found, namespaces=_namespaces(query.access))


def _namespaces(access: Access) -> frozenset[str] | None:
    try:
        access.cluster.runtime.informer(NAMESPACES)
    except UnknownKind:
        return None
    return known_namespaces(access)


def _drawn(
    request: ConsoleRequest,
    table: Table,
    *,
    fragment: bool,
    status: int | None = None,
    peek: Peek | None = None,
) -> HttpResponse:
    status = status or _status(table, fragment=fragment)
    context = {"table": table, "live": table.freshness, "peek": peek}
    if fragment:
        # Without the request, so that the fragment equals the parts rendered for the websocket.
        response = HttpResponse(render_to_string("ui/_results.html", context), status=status)
    else:
        response = HttpResponse(whole_page(request, "console/list.html", context), status=status)
    vary_on_htmx(response)
    return response


def _status(table: Table, *, fragment: bool) -> int:
    state = table.state.kind if table.state else ""
    if state == "bad-input":
        return HTTPStatus.BAD_REQUEST
    if state == "not-installed" and not fragment:
        return HTTPStatus.NOT_FOUND
    # A fragment is part of a loaded page, which shows the loading state itself.
    if state == "loading" and not fragment:
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.OK


async def _data(
    query: ListQuery, informer: Informer[Any], fmt: str
) -> HttpResponse | StreamingHttpResponse:
    spec = query.spec
    if spec.errors:
        return _bad_data(spec)
    if informer.not_installed:
        return status_response(404, not_installed_text(spec.kind))
    if not informer.freshness.synced:
        text = _("The list of %(nouns)s is still loading.") % {"nouns": spec.kind.nouns}
        response = status_response(503, text)
        response["Retry-After"] = str(RETRY_AFTER)
        return response
    selection = await select_async(query, informer, exported_slice(spec), seconds=FIRST_LIST_WAIT)
    cut = truncated_at(informer) is not None
    content = stream(spec, selection, fmt, meter=query.meter(), cut=cut)
    data = StreamingHttpResponse(content, content_type=FORMATS[fmt])
    if fmt != "json":
        name = content_disposition_header(True, f"{spec.kind.segment}.{fmt}")
        data["Content-Disposition"] = name or "attachment"
    return data


def _bad_data(spec: ViewSpec) -> HttpResponse:
    causes = tuple((error.field, error.message) for error in spec.errors)
    message = "; ".join(f"{field}: {text}" for field, text in causes)
    return status_response(400, message, causes=causes)
