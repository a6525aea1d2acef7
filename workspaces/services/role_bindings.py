"""Create and change role bindings of a workspace, and remove users and groups from them."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from console.kube.apply import Manifest
from console.kube.errors import Conflict, NotFound
from console.kube.gvr import GROUP_BINDINGS, GVR, WORKSPACE_ROLE_BINDINGS, Key
from console.kube.projections.roles import Binding
from console.kube.store import Entry
from rbac.projection import IAM
from workspaces.services.actor import Actor, ConcurrentChange

USER, GROUP = "User", "Group"


def conflict_text() -> str:
    return _("Another user changed this in the meantime. Reload the page and try again.")


def version_of(entries: Iterable[Entry[Binding]]) -> str:
    """Return the combined version of several bindings."""
    return ".".join(entry.resource_version for entry in entries)


async def create_binding(actor: Actor, body: Manifest) -> None:
    """Create a WorkspaceRoleBinding. Raise `Conflict` if the name exists."""
    key = Key("", body["metadata"]["name"])
    await actor.as_console("create", WORKSPACE_ROLE_BINDINGS, key, body, wait=True)


async def change_binding_role(actor: Actor, entry: Entry[Binding], role: str) -> None:
    """Change the role of a WorkspaceRoleBinding in one write, so that the subject never has no role
    or two roles. Raise `ConcurrentChange`.
    """
    body = {
        "metadata": {"resourceVersion": entry.resource_version},
        "roleRef": {"apiGroup": IAM, "kind": "WorkspaceRole", "name": role},
    }
    gvr, key = WORKSPACE_ROLE_BINDINGS, entry.key
    try:
        await actor.as_console("update", gvr, key, body, method="patch", wait=True)
    except (Conflict, NotFound):
        raise ConcurrentChange(conflict_text()) from None


async def remove_subject(actor: Actor, gvr: GVR, entry: Entry[Any], kind: str, name: str) -> None:
    """Remove a subject from a binding, or delete the binding if it has no other subjects.

    Return without an error if the binding no longer exists. Raise `ConcurrentChange` if it changed.
    """
    field, left = _remaining_subjects(gvr, entry.original(), kind, name)
    key, version = entry.key, entry.resource_version
    try:
        if left:
            body = {"metadata": {"resourceVersion": version}, field: left}
            await actor.as_console("update", gvr, key, body, method="patch", wait=True)
        else:
            seen = {"uid": entry.projection.uid, "resource_version": version}
            await actor.as_console("delete", gvr, key, wait=True, **seen)
    except NotFound:
        return
    except Conflict:
        raise ConcurrentChange(conflict_text()) from None


def _remaining_subjects(gvr: GVR, binding: Manifest, kind: str, name: str) -> tuple[str, list[Any]]:
    """Return the name of the field with the subjects, and the remaining subjects."""
    if gvr == GROUP_BINDINGS:
        return "users", [user for user in binding.get("users") or () if user != name]
    subjects = binding.get("subjects") or ()
    return "subjects", [
        one for one in subjects if (one.get("kind"), one.get("name")) != (kind, name)
    ]
