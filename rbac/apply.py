"""Create, update or delete an object so that it matches the desired state."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from console.kube.apply import Manifest
from console.kube.clients import ConsoleClient
from console.kube.errors import Conflict, NotFound
from console.kube.gvr import GVR
from console.kube.store import Entry

log = logging.getLogger(__name__)

#: Number of concurrent writes per reconciliation. A workspace may have hundreds of projects, and a
#: user who receives a role waits for the last write.
AT_ONCE = 8
_MEANING = ("rules", "aggregationRule", "roleRef", "subjects", "spec")


async def apply_state(
    client: ConsoleClient,
    gvr: GVR,
    entry: Entry[Any] | None,
    wanted: Manifest | None,
) -> bool:
    """Apply the desired state `wanted` and return True if the object was changed.

    Raise `Conflict` if `entry` is not the latest version, and `ApiError` for other errors.
    """
    if entry is None and wanted is not None:
        await _create(client, gvr, wanted)
    elif entry is not None and wanted is None:
        await delete_entry(client, gvr, entry)
    elif entry is not None and wanted is not None and differs(entry.original(), wanted):
        await _repair(client, gvr, entry, wanted)
    else:
        return False
    return True


async def run_concurrently(doings: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """Run all operations, at most `AT_ONCE` concurrently, even if some fail. Raise the first error
    after all have finished.
    """
    slots = asyncio.Semaphore(AT_ONCE)

    async def do(doing: Callable[[], Awaitable[object]]) -> None:
        async with slots:
            await doing()

    answers = await asyncio.gather(*(do(doing) for doing in doings), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer


def differs(found: Manifest, wanted: Manifest) -> bool:
    """Return True if a relevant field differs. Additional labels and annotations are ignored."""
    theirs, ours = found["metadata"], wanted["metadata"]
    return (
        not ours["labels"].items() <= (theirs.get("labels") or {}).items()
        or theirs.get("ownerReferences", []) != ours.get("ownerReferences", [])
        # Empty lists are often omitted.
        or any((found.get(field) or None) != (wanted.get(field) or None) for field in _MEANING)
    )


async def _create(client: ConsoleClient, gvr: GVR, wanted: Manifest) -> None:
    try:
        await client.create(gvr, wanted, namespace=wanted["metadata"].get("namespace", ""))
    except Conflict:
        # Another reconciler created the object first. The watch event triggers a new comparison.
        log.debug("%s %s already exists", gvr.resource, wanted["metadata"]["name"])


async def _repair(client: ConsoleClient, gvr: GVR, entry: Entry[Any], wanted: Manifest) -> None:
    found = entry.original()
    if found.get("roleRef") != wanted.get("roleRef"):
        # The `roleRef` of a binding is immutable.
        await delete_entry(client, gvr, entry)
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


async def delete_entry(client: ConsoleClient, gvr: GVR, entry: Entry[Any]) -> None:
    """Delete exactly the cached version of an object. Ignore a missing object. Raise `ApiError`."""
    meta = entry.original()["metadata"]
    try:
        await client.delete(
            gvr,
            namespace=entry.key.namespace,
            name=entry.key.name,
            uid=meta["uid"],
            resource_version=meta["resourceVersion"],
        )
    except NotFound:
        # Another reconciler or the garbage collector deleted the object first.
        log.debug("%s %s was already deleted", gvr.resource, entry.key.name)
