"""Create and change role bindings of a workspace, and remove users and groups from them."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from console.kube.cachewait import wait_for_cache
from console.kube.errors import Conflict, NotFound
from console.kube.gvr import GROUP_BINDINGS, GVR, WORKSPACE_ROLE_BINDINGS, Key
from console.kube.host_runtime import get_runtime
from console.kube.projections.roles import Binding
from console.kube.store import Entry
from rbac.projection import IAM
from workspaces.names import Manifest
from workspaces.services.actor import Actor, ConcurrentChange

USER, GROUP = "User", "Group"


def conflict_text() -> str:
    return _("Another user changed this in the meantime. Reload the page and try again.")


def version_of(entries: Iterable[Entry[Binding]]) -> str:
    """Return the combined version of several bindings."""
    return ".".join(entry.resource_version for entry in entries)


async def create_binding(actor: Actor, body: Manifest) -> None:
    """Create a WorkspaceRoleBinding. Raise `Conflict` if the name exists."""
    name = body["metadata"]["name"]
    async with actor.as_console("create", WORKSPACE_ROLE_BINDINGS, name) as (client, recording):
        made = await client.create(WORKSPACE_ROLE_BINDINGS, body, audit_id=recording.audit_id)
    await _wait_until_cached(WORKSPACE_ROLE_BINDINGS, Key("", name), made)


async def change_binding_role(actor: Actor, entry: Entry[Binding], role: str) -> None:
    """Change the role of a WorkspaceRoleBinding in one write, so that the subject never has no role
    or two roles. Raise `ConcurrentChange`.
    """
    name = entry.key.name
    body = {
        "metadata": {"resourceVersion": entry.resource_version},
        "roleRef": {"apiGroup": IAM, "kind": "WorkspaceRole", "name": role},
    }
    async with actor.as_console("update", WORKSPACE_ROLE_BINDINGS, name) as (client, recording):
        try:
            written = await client.patch(
                WORKSPACE_ROLE_BINDINGS, body, name=name, audit_id=recording.audit_id
            )
        except (Conflict, NotFound):
            raise ConcurrentChange(conflict_text()) from None
    await _wait_until_cached(WORKSPACE_ROLE_BINDINGS, entry.key, written)


async def remove_subject(actor: Actor, gvr: GVR, entry: Entry[Any], kind: str, name: str) -> None:
    """Remove a subject from a binding, or delete the binding if it has no other subjects.

    Return without an error if the binding no longer exists. Raise `ConcurrentChange` if it changed.
    """
    namespace, bound = entry.key
    field, left = _remaining_subjects(gvr, entry.original(), kind, name)
    verb = "update" if left else "delete"
    written: Manifest | None = None
    async with actor.as_console(verb, gvr, bound, namespace=namespace) as (client, recording):
        try:
            if left:
                body = {"metadata": {"resourceVersion": entry.resource_version}, field: left}
                written = await client.patch(
                    gvr, body, namespace=namespace, name=bound, audit_id=recording.audit_id
                )
            else:
                await client.delete(
                    gvr,
                    namespace=namespace,
                    name=bound,
                    uid=entry.projection.uid,
                    resource_version=entry.resource_version,
                    audit_id=recording.audit_id,
                )
        except NotFound:
            return
        except Conflict:
            raise ConcurrentChange(conflict_text()) from None
    await _wait_until_cached(gvr, entry.key, written)


async def _wait_until_cached(gvr: GVR, key: Key, written: Manifest | None) -> None:
    """Wait until the write is in the cache, so that the next page shows it."""
    version = written["metadata"]["resourceVersion"] if written else ""
    await wait_for_cache(get_runtime().informer(gvr), key, version)


def _remaining_subjects(gvr: GVR, binding: Manifest, kind: str, name: str) -> tuple[str, list[Any]]:
    """Return the name of the field with the subjects, and the remaining subjects."""
    if gvr == GROUP_BINDINGS:
        return "users", [user for user in binding.get("users") or () if user != name]
    subjects = binding.get("subjects") or ()
    return "subjects", [
        one for one in subjects if (one.get("kind"), one.get("name")) != (kind, name)
    ]
