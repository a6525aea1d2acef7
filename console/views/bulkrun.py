"""The deletions of many objects: each as the viewer, told as it is done.

No more than a few are under way at once. Whoever reads no further ends what has not begun.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import Key
from console.ui.access import Access
from console.ui.http import ConsoleRequest
from console.ui.kind import ResourceKind
from console.ui.text import visible
from console.views.delete import ACTION, delete_as_user, refusal_text

#: Deletions that are under way at once.
AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Target:
    """An object that was shown. The `uid` is that one's."""

    key: Key
    uid: str


@dataclass(frozen=True, slots=True)
class Result:
    """`outcome`: done, gone (already) or refused. `text`: why, for the latter."""

    name: str
    outcome: str
    text: str = ""


async def written(
    request: ConsoleRequest,
    kind: ResourceKind,
    access: Access,
    targets: list[Target],
    page: str,
    gap: str,
) -> AsyncIterator[bytes]:
    """The page, with the results where it has the `gap`."""
    before, _gap, after = page.partition(gap)
    yield before.encode()
    counts = {"done": 0, "gone": 0, "refused": 0}
    # The request's language ended with its view.
    lang = get_language()
    async for result in _deleted(request, kind, access, targets):
        counts[result.outcome] += 1
        with override(lang):
            yield render_to_string("ui/_bulk_result.html", {"result": result}).encode()
    with override(lang):
        yield render_to_string("ui/_bulk_summary.html", counts).encode()
    yield after.encode()


async def _deleted(
    request: ConsoleRequest, kind: ResourceKind, access: Access, targets: Iterable[Target]
) -> AsyncIterator[Result]:
    """Each as it is done."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(target: Target) -> Result:
        async with places:
            return await _delete(request, kind, access, target)

    tasks = [asyncio.create_task(one(target)) for target in targets]
    try:
        for task in asyncio.as_completed(tasks):
            yield await task
    finally:
        for waiting in tasks:
            waiting.cancel()


async def _delete(
    request: ConsoleRequest, kind: ResourceKind, access: Access, target: Target
) -> Result:
    name = visible(str(target.key))
    # Decided anew for each: rights may end while the others are being deleted.
    if not kind.shown_actions[ACTION].may(access, kind.gvr, target.key):
        return Result(name, "refused", _("You may not delete it."))
    try:
        await delete_as_user(request, kind, target.key, access, target.uid)
    except NotFound:
        return Result(name, "gone")
    except (ApiError, AuditUnavailable) as error:
        return Result(name, "refused", refusal_text(error))
    return Result(name, "done")
