"""Controller for Groups, the departments of a workspace. It maintains owner references and
finalizers.

A group is owned by its parent group or by the workspace's template, so it is deleted with the
owner. A group in a parent cycle is owned by the workspace.
"""

from typing import Any

from accounts.users.bindingcleanup import GROUP, BindingCleanup, NotCachedYet
from accounts.users.states import with_finalizer, without_finalizer
from console.kube.apply import Manifest
from console.kube.controller import Request, Result
from console.kube.group_kind import group_of
from console.kube.gvr import (
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.indexes import Index
from console.kube.informer import Informer
from console.kube.projections.tenancy import GROUP_LABEL, Group, GroupBinding
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.apply import delete_entry
from rbac.event_recorder import NORMAL, WARNING, Recorder
from rbac.projection import owner_reference

FINALIZER = "finalizers.kubesphere.io/groups"
#: Requeue delays in seconds: while the cache is expected to change, and while an owner is missing.
LOOK_AGAIN, OWNERLESS_RETRY = 1.0, 30.0
#: Groups and kinds of the owners that this controller sets.
_OWNER_KINDS = frozenset(
    {
        (GROUPS.group, "Group"),
        (WORKSPACE_TEMPLATES.group, "WorkspaceTemplate"),
        (WORKSPACES.group, "Workspace"),
    }
)
#: Maximum nesting depth of departments. Deeper nesting is treated as a mistake.
MAX_DEPTH = 32


class GroupReconciler:
    name = "group"
    gvr: GVR = GROUPS

    def __init__(self, runtime: Runtime) -> None:
        self._client = runtime.console
        self._groups: Informer[Group] = runtime.informer(GROUPS)
        self._bindings: Informer[GroupBinding] = runtime.informer(GROUP_BINDINGS)
        self._of_group = Index(self._bindings.store, lambda entry: (entry.projection.group,))
        self._leavings = BindingCleanup(runtime)
        self._recorder = Recorder(runtime.console, "quarterdeck-group-controller")

    async def reconcile(self, request: Request) -> Result:
        entry: Entry[Group] | None = self._groups.store.get(Key("", request.name))
        if entry is None:
            return Result()
        try:
            if entry.projection.deleted is not None:
                return await self._release(entry)
            return await self._adopt(entry)
        except NotCachedYet:
            return Result(requeue_after=LOOK_AGAIN)

    async def _release(self, entry: Entry[Group]) -> Result:
        group = entry.original()
        if FINALIZER not in (group["metadata"].get("finalizers") or []):
            return Result()
        name = entry.key.name
        if not self._bindings.freshness.synced:
            raise NotCachedYet(GROUP_BINDINGS.qualified)
        memberships = self._of_group.get(name)
        for binding in memberships:
            if binding.projection.deleted is None:
                await delete_entry(self._client, GROUP_BINDINGS, binding)
        clean = await self._leavings.unbind(GROUP, name, f"{GROUP_LABEL}={name}")
        if memberships or not clean:
            return Result(requeue_after=LOOK_AGAIN)
        await self._recorder.record(
            group, NORMAL, "Released", "The group was removed from all bindings"
        )
        await self._client.patch(GROUPS, without_finalizer(group, FINALIZER), name=name)
        return Result()

    async def _adopt(self, entry: Entry[Group]) -> Result:
        group = entry.original()
        meta = group["metadata"]
        owner = self._owner_of(entry.projection)
        others = [
            one
            for one in meta.get("ownerReferences") or []
            if (group_of(one["apiVersion"]), one["kind"]) not in _OWNER_KINDS
        ]
        wanted = {
            "finalizers": with_finalizer(group, FINALIZER),
            "ownerReferences": [*others, owner] if owner else meta.get("ownerReferences") or [],
        }
        if any((meta.get(field) or []) != value for field, value in wanted.items()):
            body = {"metadata": {**wanted, "resourceVersion": meta["resourceVersion"]}}
            await self._client.patch(GROUPS, body, name=entry.key.name)
            await self._recorder.record(
                group, NORMAL, "Synced", "The group's owner and finalizer were set"
            )
        if owner is None and entry.projection.workspace:
            message = f"Workspace {entry.projection.workspace!r} doesn't exist"
            await self._recorder.record(group, WARNING, "NoWorkspace", message)
            return Result(requeue_after=OWNERLESS_RETRY)
        return Result()

    def _owner_of(self, group: Group) -> Manifest | None:
        """Return the owner reference, or None if the group has no workspace or the workspace
        doesn't exist.
        """
        parent = self._groups.store.get(Key("", group.parent)) if group.parent else None
        if parent is not None and self._may_own(parent.projection, group):
            return _reference("Group", GROUPS, parent)
        for kind, gvr in (("WorkspaceTemplate", WORKSPACE_TEMPLATES), ("Workspace", WORKSPACES)):
            informer = self._leavings.informer(gvr) if group.workspace else None
            home = informer.store.get(Key("", group.workspace)) if informer else None
            if home is not None:
                return _reference(kind, gvr, home)
        return None

    def _may_own(self, parent: Group, group: Group) -> bool:
        """Return False if the parent is in another workspace or is a descendant of the group."""
        above: Group | None = parent
        for _ in range(MAX_DEPTH):
            if above is None:
                return parent.workspace == group.workspace
            if above.name == group.name:
                return False
            entry = self._groups.store.get(Key("", above.parent)) if above.parent else None
            above = entry.projection if entry else None
        return False


def _reference(kind: str, gvr: GVR, entry: Entry[Any]) -> Manifest:
    found = owner_reference(gvr, kind, entry.key.name, entry.projection.uid)
    return {**found, "blockOwnerDeletion": True}
