"""The last log lines of a pod in the peek panel."""

import asyncio

from django.core.exceptions import PermissionDenied
from django.template.loader import render_to_string

from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError
from console.kube.gvr import PODS, Key
from console.logs.access import LogViewer, close_all, open_all
from console.logs.containers import NoContainer
from console.logs.query import LogQuery
from console.logs.targets import find_target
from console.logs.views import read_lines
from console.streams.stream import StreamEnded
from console.ui.core.access import Access
from console.ui.core.container_actions import READ_LOG
from console.ui.core.kind import ResourceKind
from console.ui.core.links import log_url
from console.ui.core.permissions import Denied, NotLoaded, Refused
from console.ui.core.requests import ConsoleRequest

#: Number of lines.
LINES = 20
#: Maximum seconds to wait for the log. The panel is shown without it after that.
SECONDS = 1.0
#: Errors for which the panel shows no log. The log's page explains them.
_ERRORS = (
    ApiError,
    AuditUnavailable,
    Denied,
    NoContainer,
    NotLoaded,
    PermissionDenied,
    Refused,
    StreamEnded,
    TimeoutError,
)


async def last_lines(request: ConsoleRequest, access: Access, kind: ResourceKind, key: Key) -> str:
    """Return the last lines of a pod's log, read as the viewer, as HTML with a link to the log's page.

    Return "" if the viewer may not read the log or if it can't be read in time. The container is the
    one that the log's page shows by default.
    """
    if not READ_LOG.granted(access, PODS, key):
        return ""
    query = LogQuery(tail=LINES)
    try:
        found = (await find_target(kind, access, key, query)).current().found
        viewer = LogViewer.of(request)
        async with asyncio.timeout(SECONDS):
            sources, refused = await open_all(viewer, found, query)
        try:
            read = await read_lines(sources, query, SECONDS)
        finally:
            await close_all(sources)
    except _ERRORS:
        return ""
    context = {
        "rows": read.rows,
        "problem": str(refused[0]) if refused else read.ended,
        "container": found[0].container if found else "",
        "url": log_url(access.cluster.name, kind.segment, key),
    }
    return render_to_string("console/_last_lines.html", context)
