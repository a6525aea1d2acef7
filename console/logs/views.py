"""Log pages: `…/{resource}/{name}/log`, and `…/log?label=` for pods selected by labels.

The page works without JavaScript. `format=text` returns a plain-text download.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from console.kube.errors import ApiError, NotFound
from console.kube.gvr import PODS, Key
from console.live.flow import flow_of
from console.logs import query as queries
from console.logs.access import (
    ContainerLog,
    LogViewer,
    UnreadableLog,
    close_all,
    log_error_text,
    open_all,
)
from console.logs.ansi import StyledText, strip_escapes, styled_text
from console.logs.containers import NoContainer
from console.logs.downloads import (
    bytes_of_line,
    errors_as_lines,
    selected_bytes,
    verbatim_bytes,
)
from console.logs.filtering import LogSearch, SelectedLine
from console.logs.lines import MAX_DOWNLOADED_LINE
from console.logs.query import BadQuery, LogQuery, read_query
from console.logs.sources import LINES_BEFORE, LogSource, selected_lines
from console.logs.targets import LogTarget, SelectedLogs, find_target
from console.streams.download import StreamedBody, download_response
from console.streams.stream import StreamEnded
from console.ui.core.clusters import Cluster
from console.ui.core.container_actions import has_logs
from console.ui.core.kind import ResourceKind
from console.ui.core.links import label_log_url, list_url
from console.ui.core.requests import ConsoleRequest, tab_name
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.navigation.page_routes import find_kind
from console.views.back_link import Crumb, ObjectPath, object_path
from console.views.errors import error_page, object_not_found
from console.views.guard import access_of
from console.views.page import page

#: Maximum seconds that a page spends reading logs.
READ_SECONDS = 8.0
#: Maximum lines and bytes on a page. The newest lines are kept.
MOST_LINES, MOST_BYTES = 2000, 2 * 2**20
TEXT = "text"


@page("GET", formats=(TEXT,), dockable=True)
async def log_page(
    request: ConsoleRequest,
    cluster: Cluster,
    namespace: str,
    resource: str = PODS.resource,
    name: str = "",
) -> HttpResponseBase:
    kind = find_kind(cluster, resource)
    if kind is None or not has_logs(kind):
        raise Http404
    as_text = request.GET.get("format") == TEXT
    try:
        query = read_query(request.GET, whole=as_text, selects=not name)
    except BadQuery as error:
        return error_page(request, 400, str(error))
    key = Key(namespace, name)
    try:
        target = await find_target(kind, access_of(request), key, query)
    except NoContainer as error:
        return error_page(request, 400, str(error))
    except NotFound:
        return object_not_found(request, kind, key)
    if as_text:
        return await _text(request, key, target.current().found, query)
    path = object_path(request, kind, access_of(request), key)
    return await _page(request, LogPageRequest(kind, key, query, target, target.current(), path))


# Plain text


async def _text(
    request: ConsoleRequest, key: Key, wanted: Sequence[ContainerLog], query: LogQuery
) -> HttpResponseBase:
    flow = flow_of(getattr(request, "scope", {}))
    # Lines of several logs are merged by time, unless all lines are requested.
    plain = not (query.has_filters or query.at or query.line)
    verbatim = plain and (query.tail is None or len(wanted) == 1)
    sources, refused = await open_all(
        LogViewer.of(request),
        wanted,
        query,
        lambda _: flow.abort(),
        verbatim=verbatim,
        longest=MAX_DOWNLOADED_LINE,
    )
    if refused and not sources:
        error = refused[0].error
        return error_page(request, error.page_code, log_error_text(error))
    if query.line:
        pieces = bytes_of_line(sources, query.line)
    elif verbatim:
        pieces = verbatim_bytes(sources)
    else:
        pieces = selected_bytes(sources, query)
    head = errors_as_lines(refused)
    if query.line:
        try:
            head = await anext(pieces)
        except BaseException as error:
            await close_all(sources)
            if isinstance(error, StopAsyncIteration):
                return error_page(request, 404, _("The log no longer contains this line."))
            if isinstance(error, StreamEnded):
                return error_page(request, error.code, str(error))
            raise
    body = StreamedBody(_with_head(head, pieces), [one.stream for one in sources], flow)
    name = "-".join((key.name or key.namespace, query.container.strip("*"))).rstrip("-")
    return download_response(body, f"{name}.log", "text/plain; charset=utf-8")


async def _with_head(head: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    yield head
    async with aclosing(rest) as pieces:
        async for piece in pieces:
            yield piece


# Page


@dataclass(frozen=True, slots=True)
class LogPageRequest:
    kind: ResourceKind
    key: Key
    query: LogQuery
    target: LogTarget
    wanted: SelectedLogs
    path: ObjectPath

    @property
    def followed(self) -> bool:
        return not (self.query.previous or self.query.at)


@dataclass(frozen=True, slots=True)
class LogRow:
    """A line for the template. `source`: "" if all lines have the same source."""

    stamp: str
    time: str
    source: str
    level: str
    runs: Sequence[StyledText]
    found: bool
    gap: bool
    cut: int


@dataclass(slots=True)
class LogPageContent:
    """Lines that were read for a page. `left_out`: number of matching lines over the limit.
    `ended`: why reading stopped early, "" if it was complete.
    """

    rows: list[LogRow]
    looked_at: int = 0
    left_out: int = 0
    ended: str = ""


async def _page(request: ConsoleRequest, asked: LogPageRequest) -> HttpResponse:
    query = asked.query
    if request.docked and asked.followed:
        # The dock always has JavaScript, and its socket sends the same lines or resumes at the last
        # position.
        values = _context(asked, LogPageContent([]), (), request.cluster.name)
        return render(request, "console/log.html", values)
    if query.at:
        # The line at `at` and its context come first, so the newest lines can't push them off the
        # page.
        query = replace(query, tail=min(query.tail or MOST_LINES, MOST_LINES - LINES_BEFORE))
    sources, refused = await open_all(LogViewer.of(request), asked.wanted.found, query)
    try:
        read = await read_lines(sources, query)
    finally:
        await close_all(sources)
    return render(request, "console/log.html", _context(asked, read, refused, request.cluster.name))


async def read_lines(
    sources: Sequence[LogSource], query: LogQuery, seconds: float = READ_SECONDS
) -> LogPageContent:
    """Read the logs, for at most `seconds`."""
    read = LogPageContent([])
    kept: deque[SelectedLine] = deque()
    size = 0
    try:
        async with (
            asyncio.timeout(seconds),
            aclosing(selected_lines(sources, query)) as batches,
        ):
            async for looked_at, found in batches:
                read.looked_at += looked_at
                kept += found
                size += sum(len(one.entry.line.raw) for one in found)
                while len(kept) > MOST_LINES or size > MOST_BYTES:
                    size -= len(kept.popleft().entry.line.raw)
                    read.left_out += 1
    except TimeoutError:
        read.ended = _("Reading the log took too long. Some lines were not read.")
    except StreamEnded as error:
        read.ended, kept = str(error), deque()
    except ApiError as error:
        read.ended = log_error_text(error)
    names = [source.name for source in sources] if len(sources) > 1 else [""] * len(sources)
    # Parsing color sequences of many lines takes long enough to block the event loop.
    search = LogSearch(query.search)
    read.rows = await in_thread(lambda: [_row(one, names, search) for one in kept])
    return read


def _row(picked: SelectedLine, names: Sequence[str], search: LogSearch) -> LogRow:
    entry = picked.entry
    text = entry.line.text
    return LogRow(
        stamp=entry.line.stamp,
        time=entry.line.stamp[11:23],
        source=escape_invisible(names[entry.source]),
        level=entry.level,
        runs=styled_text(text, search.hits(strip_escapes(text)) if search else ()),
        found=picked.found,
        gap=picked.gap,
        cut=entry.line.cut,
    )


def _context(
    asked: LogPageRequest, read: LogPageContent, refused: Sequence[UnreadableLog], cluster: str
) -> dict[str, object]:
    kind, key, query = asked.kind, asked.key, asked.query
    names = [one.name for one in asked.target.containers]
    wanted, group = asked.wanted, asked.target.group
    alone = wanted.found[0].container if len(wanted.found) == 1 and not group else ""
    here = query.container or alone
    name, label = key.name or query.label, asked.target.label
    crumbs = asked.path.crumbs(inside=bool(key.name))
    if not key.name:
        pods = list_url(cluster, kind.segment, key.namespace)
        selected = f"{pods}&{urlencode({'label': query.label})}"
        crumbs = (*crumbs, Crumb(query.label, selected))
    return {
        "kind": kind.view,
        "name": name,
        "crumbs": crumbs,
        "list": asked.path.query,
        "query": query,
        "containers": asked.target.containers,
        "wanted": wanted,
        "of_pods": group,
        "several": len(names) > 1,
        "container": here,
        "every": queries.ALL_CONTAINERS,
        "tails": _with_current(queries.TAILS, query.tail),
        "sinces": _sinces(query),
        "levels": queries.LEVEL_WORDS,
        "contexts": _with_current(queries.CONTEXTS, query.context),
        "read": read,
        "refused": refused,
        "nothing": len(refused) == len(wanted.found) > 0,
        "marked": query.has_filters and query.context > 0,
        "text_url": f"?{query.encoded(format=TEXT)}",
        "link_url": f"?{query.encoded(at='')}",
        "below_url": f"?{query.encoded()}",
        "tab_name": tab_name(name, _("All containers") if here == queries.ALL_CONTAINERS else here),
        "socket_url": socket_url(cluster, kind.segment, key, query) if asked.followed else "",
        "labels_url": label_log_url(cluster, key.namespace, label) if label else "",
        "all_url": f"?{query.everything.encoded(format=TEXT)}",
    }


def socket_url(cluster: str, segment: str, key: Key, query: LogQuery) -> str:
    """Return the path of the websocket that follows the log."""
    names = [cluster, "projects", key.namespace, *((segment, key.name) if key.name else ()), "log"]
    return f"/ws/clusters/{'/'.join(map(quote, names))}?{query.encoded()}"


def _with_current(offered: Sequence[int], given: int | None) -> list[int]:
    """Return the offered values and the current value, sorted."""
    return sorted({*offered, *(() if given is None else (given,))})


def _sinces(query: LogQuery) -> dict[str, object]:
    found: dict[str, object] = dict(queries.SINCES)
    found.setdefault(query.since, query.since)
    return found
