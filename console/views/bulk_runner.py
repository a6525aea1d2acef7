"""Bulk runner: runs an action on many objects with the viewer's permissions and streams the
results.

Only a few requests are in progress at a time. If the client disconnects, the remaining objects
are skipped.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from django.db import DatabaseError
from django.template.loader import render_to_string
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from console.kube.errors import NotFound
from console.kube.gvr import Key
from console.ui.core.access import Access
from console.ui.core.actions import Action, ActionStarted
from console.ui.core.kind import ResourceKind
from console.ui.core.links import object_url
from console.ui.core.object_source import cached_entry
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.views.actions import FAILURES, failure_text, not_applicable, run_as_user
from console.views.authorization import check_action

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
    request: ConsoleRequest,
    kind: ResourceKind,
    action: Action,
    access: Access,
    targets: list[BulkTarget],
    page: str,
    gap: str,
) -> AsyncIterator[bytes]:
    """Yield the page, with the results inserted at the placeholder `gap`."""
    before, _gap, after = page.partition(gap)
    yield before.encode()
    counts = {"done": 0, "gone": 0, "refused": 0}
    # The active language is reset when the view returns, before the response is streamed.
    lang = get_language()
    async for result in _results(request, kind, action, access, targets):
        counts[result.outcome] += 1
        with override(lang):
            yield render_to_string(
                "ui/_bulk_result.html", {"result": result, "action": action}
            ).encode()
    with override(lang):
        yield render_to_string("ui/_bulk_summary.html", counts).encode()
    yield after.encode()


async def _results(
    request: ConsoleRequest,
    kind: ResourceKind,
    action: Action,
    access: Access,
    targets: Iterable[BulkTarget],
) -> AsyncIterator[BulkResult]:
    """Yield each result when it is available."""
    places = asyncio.Semaphore(MAX_CONCURRENT)

    async def one(target: BulkTarget) -> BulkResult:
        async with places:
            return await _result(request, kind, action, access, target)

    tasks = [asyncio.create_task(one(target)) for target in targets]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for waiting in tasks:
            waiting.cancel()


async def _result(
    request: ConsoleRequest, kind: ResourceKind, action: Action, access: Access, target: BulkTarget
) -> BulkResult:
    name = escape_invisible(str(target.key))
    try:
        # Checked for each object, because permissions and objects may change during the run.
        check_action(kind, action, access, target.key)
        entry = cached_entry(kind, access, target.key, target.uid)
        if entry is not None and not action.applicable(entry):
            return BulkResult(name, "refused", not_applicable())
        await action.check(access, kind.gvr, target.key)
        outcome = await run_as_user(request, kind, action, target.key, access, target.uid)
    except NotFound:
        return BulkResult(name, "gone")
    except FAILURES as error:
        return BulkResult(name, "refused", failure_text(error, kind))
    except DatabaseError:
        return BulkResult(name, "refused", _("The database is not available."))
    followed = isinstance(outcome, ActionStarted)
    url = object_url(access.cluster.name, kind.segment, target.key) if followed else ""
    return BulkResult(name, "done", url=url)
