"""Makes one object what it should be: created, repaired, or removed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from console.kube.client import ConsoleClient
from console.kube.errors import Conflict, NotFound
from console.kube.gvr import GVR
from console.kube.store import Entry

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

#: Writes of one look that are under way together: a workspace may have hundreds of projects, and who was
#: given a role waits for the last of them.
AT_ONCE = 8
_MEANING = ("rules", "aggregationRule", "roleRef", "subjects", "spec")


async def ensure(
    client: ConsoleClient,
    gvr: GVR,
    entry: Entry[Any] | None,
    wanted: Manifest | None,
) -> bool:
    """True if something had to be done. Raises `ApiError`, `Conflict` if `entry` is not the latest."""
    found = entry.original() if entry is not None else None
    if found is None and wanted is not None:
        await _create(client, gvr, wanted)
    elif found is not None and wanted is None:
        await _delete(client, gvr, found)
    elif found is not None and wanted is not None and differs(found, wanted):
        await _repair(client, gvr, found, wanted)
    else:
        return False
    return True


async def a_few_at_a_time(doings: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """All of them, whatever becomes of the others. Raises the first error when all are done."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def do(doing: Callable[[], Awaitable[object]]) -> None:
        async with slots:
            await doing()

    answers = await asyncio.gather(*(do(doing) for doing in doings), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer


def differs(found: Manifest, wanted: Manifest) -> bool:
    """True if somebody changed what matters. Further labels and annotations do not."""
    theirs, ours = found["metadata"], wanted["metadata"]
    return (
        not ours["labels"].items() <= (theirs.get("labels") or {}).items()
        or theirs.get("ownerReferences", []) != ours.get("ownerReferences", [])
        # A list without anything is often written as none.
        or any((found.get(field) or None) != (wanted.get(field) or None) for field in _MEANING)
    )


async def _create(client: ConsoleClient, gvr: GVR, wanted: Manifest) -> None:
    try:
        await client.create(gvr, wanted, namespace=wanted["metadata"].get("namespace", ""))
    except Conflict:
        # Another reconciler was first. The watch brings what it made, and that is looked at then.
        log.debug("%s %s is there already", gvr.resource, wanted["metadata"]["name"])


async def _repair(client: ConsoleClient, gvr: GVR, found: Manifest, wanted: Manifest) -> None:
    if found.get("roleRef") != wanted.get("roleRef"):
        # Kubernetes lets nobody change a binding's role.
        await _delete(client, gvr, found)
        await _create(client, gvr, wanted)
        return
    meta = {
        **found["metadata"],
        "labels": {**(found["metadata"].get("labels") or {}), **wanted["metadata"]["labels"]},
        "ownerReferences": wanted["metadata"].get("ownerReferences", []),
    }
    await client.replace(
        gvr, {**wanted, "metadata": meta}, namespace=meta.get("namespace", ""), name=meta["name"]
    )


async def _delete(client: ConsoleClient, gvr: GVR, found: Manifest) -> None:
    meta = found["metadata"]
    try:
        await client.delete(
            gvr,
            namespace=meta.get("namespace", ""),
            name=meta["name"],
            uid=meta["uid"],
            resource_version=meta["resourceVersion"],
        )
    except NotFound:
        # Another reconciler was first, or whoever owns it took it along.
        log.debug("%s %s is gone already", gvr.resource, meta["name"])
