"""Log pages: `…/{resource}/{name}/log`, and `…/log?label=` for pods selected by labels.

The page works without JavaScript. `format=text` returns a plain-text download.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _

from console.kube.errors import ApiError, NotFound
from console.kube.gvr import PODS, Key
from console.live.flow import Flow, flow_of
from console.logs import query as queries
from console.logs.access import (
    ContainerLog,
    LogViewer,
    UnreadableLog,
    close_all,
    log_error_text,
    open_all,
)
from console.logs.ansi import StyledText, styled_text
from console.logs.containers import NoContainer
from console.logs.filtering import SelectedLine
from console.logs.query import BadQuery, LogQuery, read_query
from console.logs.sources import LINES_BEFORE, LogSource, selected_lines
from console.logs.targets import LogTarget, SelectedLogs, find_target
from console.streams.stream import StreamEnded
from console.ui.core.clusters import Cluster
from console.ui.core.container_actions import has_logs
from console.ui.core.kind import NAV_GROUPS, ResourceKind
from console.ui.core.links import label_log_url, list_url, object_url
from console.ui.core.requests import ConsoleRequest, tab_name
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.navigation.page_routes import find_kind
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import page


class Download:
    """Async iterator for the body of a streaming response.

    It stops reading while the client is slow. If it can't send the complete log, it aborts the
    connection, so that the client doesn't mistake a partial download for a complete one.
    """

    def __init__(
        self,
        sources: Sequence[LogSource],
        refused: Sequence[UnreadableLog],
        query: LogQuery,
        flow: Flow,
    ) -> None:
        self._sources, self._query, self._flow = sources, query, flow
        self._missing = [
            f"# {escape_invisible(one.wanted.mark)}: {' '.join(str(one).split())}\n"
            for one in refused
        ]
        self._loop = asyncio.get_running_loop()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces()

    def close(self) -> None:
        """Close all streams. Django calls this in another thread, even if the body was never
        iterated.
        """
        for source in self._sources:
            self._loop.call_soon_threadsafe(source.stream.close_soon)

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            if self._missing:
                yield "".join(self._missing).encode()
            async with aclosing(selected_lines(self._sources, self._query)) as batches:
                async for _looked_at, found in batches:
                    if found:
                        yield b"".join(map(self._line, found))
                    await self._flow.wait_clear()
        except (StreamEnded, ApiError):
            self._flow.abort()
        finally:
            await close_all(self._sources)

    def _line(self, picked: SelectedLine) -> bytes:
        entry = picked.entry
        parts = (
            [f"[{escape_invisible(self._sources[entry.source].name)}] "]
            if len(self._sources) > 1
            else []
        )
        if self._query.timestamps and entry.line.stamp:
            parts.append(f"{entry.line.stamp} ")
        return "".join(parts).encode() + entry.line.raw + b"\n"


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
        words = {"kind": kind.singular, "key": escape_invisible(str(key))}
        return error_page(request, 404, _("No %(kind)s %(key)s found.") % words)
    if as_text:
        return await _text(request, key, target.current().found, query)
    return await _page(request, LogPageRequest(kind, key, query, target, target.current()))


# Plain text


async def _text(
    request: ConsoleRequest, key: Key, wanted: Sequence[ContainerLog], query: LogQuery
) -> HttpResponseBase:
    flow = flow_of(getattr(request, "scope", {}))
    sources, refused = await open_all(LogViewer.of(request), wanted, query, lambda _: flow.abort())
    if refused and not sources:
        error = refused[0].error
        return error_page(request, error.page_code, log_error_text(error))
    body = Download(sources, refused, query, flow)
    response = StreamingHttpResponse(body, content_type="text/plain; charset=utf-8")
    name = "-".join(
        (
            key.name or key.namespace,
            *([query.container] if query.container not in ("", "*") else ()),
        )
    )
    response["Content-Disposition"] = (
        content_disposition_header(True, f"{name}.log") or "attachment"
    )
    return response


# Page


@dataclass(frozen=True, slots=True)
class LogPageRequest:
    kind: ResourceKind
    key: Key
    query: LogQuery
    target: LogTarget
    wanted: SelectedLogs

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
        read = await _read(sources, query)
    finally:
        await close_all(sources)
    return render(request, "console/log.html", _context(asked, read, refused, request.cluster.name))


async def _read(sources: Sequence[LogSource], query: LogQuery) -> LogPageContent:
    read = LogPageContent([])
    kept: deque[SelectedLine] = deque()
    size = 0
    try:
        async with (
            asyncio.timeout(READ_SECONDS),
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
    read.rows = await in_thread(lambda: [_row(one, names) for one in kept])
    return read


def _row(picked: SelectedLine, names: Sequence[str]) -> LogRow:
    entry = picked.entry
    return LogRow(
        stamp=entry.line.stamp,
        time=entry.line.stamp[11:23],
        source=escape_invisible(names[entry.source]),
        level=entry.level,
        runs=styled_text(entry.line.text),
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
    of_labels = (
        f"{list_url(cluster, kind.segment, key.namespace)}&{urlencode({'label': query.label})}"
    )
    return {
        "kind": kind.view,
        "group": NAV_GROUPS[kind.nav.group],
        "name": name,
        "namespace": key.namespace,
        "up_url": list_url(cluster, kind.segment, key.namespace),
        "url": object_url(cluster, kind.segment, key) if key.name else of_labels,
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
        "all_url": f"?{query.encoded(format=TEXT, tail=queries.ALL)}",
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
