"""Update an object to a wanted state, with server-side apply where possible.

Only changed fields and fields that the console has applied before are applied. A user who
changes the image does not become the owner of the replica count. Server-side apply cannot remove
fields that another manager owns, and cannot reorder lists. Therefore a dry run decides: if its
result differs from the wanted state and the result of a merge patch differs from it, the merge
patch is used (ADR 13).

Both are rejected if the object was recreated (uid) or changed in other fields than its status.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.clients import APPLY_PATCH, FIELD_MANAGER, MERGE_PATCH, ObjectClient
from console.kube.errors import Conflict, Invalid
from console.kube.gvr import GVR, Key
from console.kube.managedfields import (
    NOTHING,
    Manager,
    Path,
    Tree,
    applied_fields,
    managers_of,
    merge_trees,
    select_fields,
    tree_of_paths,
)
from console.kube.merging import ABSENT, Change, diff, json_equal, merge_patch

Manifest = dict[str, Any]

#: Number of status writes between reading and writing an object before the version is ignored.
MAX_STATUS_WRITES = 4

#: Metadata fields that only the server sets.
SERVER_SET = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)


@dataclass(frozen=True, slots=True)
class PatchRequest:
    """A patch and its content type."""

    body: Manifest
    content_type: str


@dataclass(frozen=True, slots=True)
class DryRunResult:
    """The result of a dry run, with the server's warnings."""

    write: PatchRequest
    result: Manifest
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnedChange:
    """A change and the other managers that own the changed field."""

    change: Change
    owners: tuple[Manager, ...]


def writable_content(manifest: Mapping[str, Any]) -> Manifest:
    """Return the manifest without status and server-set metadata. Values are not copied."""
    found = {name: value for name, value in manifest.items() if name != "status"}
    metadata = found.get("metadata")
    if isinstance(metadata, dict):
        found["metadata"] = {k: v for k, v in metadata.items() if k not in SERVER_SET}
    return found


def field_tree(manifest: Mapping[str, Any]) -> Tree | None:
    """Return the merged field tree of all managers, or None if no manager owns a field."""
    return merge_trees(manager.fields for manager in managers_of(manifest)) or None


def owned_changes(live: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[OwnedChange]:
    """Yield the changes to fields that other managers own."""
    others = [one for one in managers_of(live) if one.name != FIELD_MANAGER]
    for change in diff(writable_content(live), wanted, field_tree(live)):
        found = tuple(manager for manager in others if manager.owns(change.path))
        if found:
            yield OwnedChange(change, found)


async def dry_run(
    client: ObjectClient, gvr: GVR, key: Key, live: Manifest, wanted: Manifest
) -> DryRunResult:
    """Find the write that turns `live` into `wanted`, using dry runs. Raise `ApiError`."""
    # Objects can be a megabyte large, so compare them in a thread.
    application = await asyncio.to_thread(_application, live, wanted)
    try:
        applied = await _dry_run(client, gvr, key, application)
    except Invalid:
        # A port with a new number is applied beside the old one, which another manager owns and which
        # has the same name. If the wanted state itself is invalid, the merge patch says so.
        return await _dry_run(client, gvr, key, await asyncio.to_thread(_patch, live, wanted))
    if await asyncio.to_thread(json_equal, writable_content(applied.result), wanted):
        return applied
    patched = await _dry_run(client, gvr, key, await asyncio.to_thread(_patch, live, wanted))
    both = writable_content(applied.result), writable_content(patched.result)
    return applied if await asyncio.to_thread(json_equal, *both) else patched


async def send_patch(
    client: ObjectClient, gvr: GVR, key: Key, live: Manifest, write: PatchRequest, *, audit_id: str
) -> Manifest:
    """Send the write. Raise `ApiError`, or `Conflict` if more than the status changed since `live`.

    Controllers may write the status many times per second. After `MAX_STATUS_WRITES` such writes,
    the patch is sent without a resourceVersion: it contains only changed fields.
    """
    seen = live["metadata"]["resourceVersion"]
    for left in reversed(range(MAX_STATUS_WRITES + 1)):
        version = {"resourceVersion": seen} if left else {}
        body = {**write.body, "metadata": {**write.body["metadata"], **version}}
        try:
            return await client.patch(
                gvr,
                body,
                namespace=key.namespace,
                name=key.name,
                content_type=write.content_type,
                audit_id=audit_id,
            )
        except Conflict:
            now = await client.get(gvr, namespace=key.namespace, name=key.name)
            states = writable_content(now), writable_content(live)
            same = now["metadata"]["uid"] == live["metadata"]["uid"]
            if not (left and same and await asyncio.to_thread(json_equal, *states)):
                raise
            seen = now["metadata"]["resourceVersion"]
    raise AssertionError  # The last attempt returns or raises.


async def _dry_run(client: ObjectClient, gvr: GVR, key: Key, write: PatchRequest) -> DryRunResult:
    warnings: list[str] = []
    result = await client.patch(
        gvr,
        write.body,
        namespace=key.namespace,
        name=key.name,
        content_type=write.content_type,
        dry_run=True,
        warnings=warnings,
    )
    return DryRunResult(write, result, tuple(dict.fromkeys(warnings)))


def _application(live: Manifest, wanted: Manifest) -> PatchRequest:
    managers, shape = managers_of(live), field_tree(live)
    written: list[Path] = [
        change.path
        for change in diff(writable_content(live), wanted, shape)
        if change.new is not ABSENT
    ]
    tree = merge_trees((applied_fields(managers, FIELD_MANAGER), tree_of_paths(written)))
    chosen = select_fields(wanted, tree, shape or NOTHING) if tree else {}
    body = {"apiVersion": wanted["apiVersion"], "kind": wanted["kind"], **chosen}
    metadata = {**chosen.get("metadata", {}), "name": wanted["metadata"]["name"]}
    if "namespace" in wanted["metadata"]:
        metadata["namespace"] = wanted["metadata"]["namespace"]
    body["metadata"] = {**metadata, "uid": live["metadata"]["uid"]}
    return PatchRequest(body, APPLY_PATCH)


def _patch(live: Manifest, wanted: Manifest) -> PatchRequest:
    body = merge_patch(writable_content(live), wanted)
    metadata = {**body.get("metadata", {}), "uid": live["metadata"]["uid"]}
    return PatchRequest({**body, "metadata": metadata}, MERGE_PATCH)
