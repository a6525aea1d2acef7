"""Doing something to many objects: to each as the viewer, told as it is done.

No more than a few are under way at once. Whoever reads no further ends what has not begun.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from django.db import DatabaseError
from django.template.loader import render_to_string
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import Key
from console.ui.access import Access
from console.ui.actions import Action, Follow
from console.ui.decisions import Denied, NotArrived, Refused
from console.ui.http import ConsoleRequest
from console.ui.kind import ResourceKind
from console.ui.links import object_url
from console.ui.reading import cached_entry
from console.ui.states import denied_text
from console.ui.text import visible
from console.views.actions import not_applicable, refusal_text, run_as_user
from console.views.deciding import check_may

#: Objects that it is done to at once.
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Target:
    """An object that was shown. The `uid` is that one's."""

    key: Key
    uid: str


@dataclass(frozen=True, slots=True)
class Result:
    """`outcome`: done, gone (already) or refused. `text`: why, for the latter. `url`: the page that shows
    how far it is, for what takes long."""

    name: str
    outcome: str
    text: str = ""
    url: str = ""


async def written(
    request: ConsoleRequest,
    kind: ResourceKind,
    action: Action,
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
    targets: Iterable[Target],
) -> AsyncIterator[Result]:
    """Each as it is done."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(target: Target) -> Result:
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
    request: ConsoleRequest, kind: ResourceKind, action: Action, access: Access, target: Target
) -> Result:
    name = visible(str(target.key))
    try:
        # Decided anew for each: rights may end, and objects change, while it is done to the others.
        check_may(kind, action, access, target.key)
        entry = cached_entry(kind, access, target.key, target.uid)
        if entry is not None and not action.applicable(entry):
            return Result(name, "refused", not_applicable())
        await action.check(access, kind.gvr, target.key)
        outcome = await run_as_user(request, kind, action, target.key, access, target.uid)
    except NotFound:
        return Result(name, "gone")
    except Denied as error:
        return Result(name, "refused", denied_text(error, kind.nouns))
    except (NotArrived, Refused) as error:
        return Result(name, "refused", str(error))
    except (ApiError, AuditUnavailable) as error:
        return Result(name, "refused", refusal_text(error))
    except DatabaseError:
        return Result(name, "refused", _("The database cannot be used."))
    followed = isinstance(outcome, Follow)
    url = object_url(access.cluster.name, kind.segment, target.key) if followed else ""
    return Result(name, "done", url=url)
