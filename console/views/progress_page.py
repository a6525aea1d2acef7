"""Pages of operations on many objects, which show their progress while they run.

A response that takes longer than `QUICK_SECONDS` is streamed: first the page with the progress,
then the content. If the user leaves the page, the operation stops.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse, HttpResponseBase, HttpResponseRedirect, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils.html import escape
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError
from console.ui.core.permissions import NotLoaded
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import wants_status
from console.ui.core.threads import in_thread
from console.views import problems
from console.views.importing import Run

log = logging.getLogger(__name__)
#: The page around the content, by default.
FRAME = "console/progress_page.html"
#: Seconds after which the response starts, and between two reports of the progress.
QUICK_SECONDS, REPORT_SECONDS = 1.0, 1.0
#: Placeholder for the content in the rendered page. Random, so that no text can contain it.
_PLACEHOLDER = f"content-{secrets.token_hex(16)}"
#: Stands for the submitted text in the content, so that templates don't copy large texts.
_TEXT = f"text-{secrets.token_hex(16)}"


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a page: a template that is rendered in `<main>` of `frame`, and the response
    status. `text` is the submitted text.
    """

    template: str
    context: dict[str, Any]
    status: int = 200
    text: str = ""
    frame: str = FRAME

    @property
    def title(self) -> str:
        return str(self.context["title"])

    async def html(self, request: ConsoleRequest) -> str:
        html = render_to_string(self.template, {**self.context, "text": _TEXT}, request)
        return await in_thread(lambda: html.replace(_TEXT, escape(self.text)))


async def whole_page(request: ConsoleRequest, content: Content) -> HttpResponse:
    before, after = _frame(request, content.title, content.frame)
    html = await content.html(request)
    return HttpResponse("".join((before, html, after)), status=content.status)


async def respond_with_progress(
    request: ConsoleRequest,
    run: Run,
    work: Coroutine[Any, Any, Content | HttpResponse],
    title: str,
    frame: str = FRAME,
) -> HttpResponseBase:
    """Return the response that `work` returns, or the page with the progress of `run`."""
    lang = get_language()
    job = asyncio.create_task(_in_language(lang, work))
    try:
        wait = None if wants_status(request) else QUICK_SECONDS
        await asyncio.wait({job}, timeout=wait)
    except asyncio.CancelledError:
        job.cancel()
        raise
    if job.done():
        found = job.result()
        return await whole_page(request, found) if isinstance(found, Content) else found
    response = StreamingHttpResponse(_stream(request, run, job, (title, frame), lang))
    # Disables buffering in the proxy, which would delay the progress until the end.
    response["X-Accel-Buffering"] = "no"
    return response


async def _in_language(
    lang: str | None, work: Coroutine[Any, Any, Content | HttpResponse]
) -> Content | HttpResponse:
    # The active language is reset when the view returns.
    with override(lang):
        return await work


async def _stream(
    request: ConsoleRequest,
    run: Run,
    job: asyncio.Task[Content | HttpResponse],
    page: tuple[str, str],
    lang: str | None,
) -> AsyncIterator[bytes]:
    try:
        with override(lang):
            before, after = _frame(request, *page)
        yield before.encode()
        while not job.done():
            with override(lang):
                numbers = {"finished": run.finished, "total": run.total}
                yield render_to_string("console/_progress.html", numbers).encode()
            await asyncio.wait({job}, timeout=REPORT_SECONDS)
        with override(lang):
            yield (await _result(request, job)).encode()
        yield after.encode()
    finally:
        job.cancel()


async def _result(request: ConsoleRequest, job: asyncio.Task[Content | HttpResponse]) -> str:
    try:
        found = job.result()
        if isinstance(found, Content):
            return await found.html(request)
        if isinstance(found, HttpResponseRedirect):
            return render_to_string("console/_progress_done.html", {"url": found.url})
        text = found.content.decode()
    except (ApiError, AuditUnavailable, NotLoaded) as error:
        text = problems.error_text(error) if isinstance(error, ApiError) else str(error)
    except Exception:
        # The response has started, so no error page can be sent.
        log.exception("A streamed operation failed")
        text = _("An internal error occurred. Check which objects exist before you try again.")
    return render_to_string("console/_progress_failed.html", {"text": text})


def _frame(request: ConsoleRequest, title: str, frame: str) -> tuple[str, str]:
    context = {"title": title, "gap": _PLACEHOLDER}
    html = render_to_string(frame, context, request)
    before, _gap, after = html.partition(_PLACEHOLDER)
    return before, after
