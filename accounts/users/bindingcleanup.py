"""Removal of a deleted user or group from all bindings before the name can be reused.

A binding with no other subject is deleted; otherwise only the subject is removed. Bindings
labeled with the name are also examined, but the label alone doesn't cause a deletion, because
anyone allowed to change the binding can set labels. Native bindings created by the role
projection are skipped: the projection removes them when their source changes.
"""

from typing import Any

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CUSTOM_RESOURCE_DEFINITIONS,
    GLOBAL_ROLE_BINDINGS,
    GVR,
    ROLE_BINDINGS,
    WORKSPACE_ROLE_BINDINGS,
)
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.apply import delete_entry
from rbac.levels import subjects_in
from rbac.names import PREFIX

#: Binding types. KubeSphere bindings precede the native bindings projected from them.
BINDINGS = (
    GLOBAL_ROLE_BINDINGS,
    WORKSPACE_ROLE_BINDINGS,
    CLUSTER_ROLE_BINDINGS,
    ROLE_BINDINGS,
)
USER, GROUP = "User", "Group"


class NotCachedYet(Exception):
    """A required list is not cached yet, so remaining bindings can't be determined."""


class BindingCleanup:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._client = runtime.console

    async def unbind(self, kind: str, name: str, label: str) -> bool:
        """Remove the subject from all bindings. Return True if no cached binding names it.

        If the result is False, bindings were changed and the caller must call again after the
        cache is updated. `label` is the `key=value` label that marks bindings of this subject.
        Raise `NotCachedYet` or `ApiError`.
        """
        clean = True
        for gvr in BINDINGS:
            informer = self.informer(gvr)
            if informer is None:
                continue
            indexes = indexes_of(informer.store)
            named = indexes.by(subjects_in).get(f"{kind} {name}")
            clean = clean and not named
            labelled = indexes.by_label.get(label)
            for entry in {one.key: one for one in (*named, *labelled)}.values():
                if not entry.key.name.startswith(PREFIX):
                    await self._take_out(gvr, entry, kind, name)
        return clean

    def informer(self, gvr: GVR) -> Informer[Any] | None:
        """Return the synced informer for a type, or None if the cluster doesn't serve the type.

        Raise `NotCachedYet`.
        """
        missing = gvr.group.endswith("kubesphere.io") and self._runtime.types.get(gvr) is None
        asked = CUSTOM_RESOURCE_DEFINITIONS if missing else gvr
        informer = self._runtime.informer(asked)
        if not informer.freshness.synced:
            raise NotCachedYet(asked.qualified)
        return None if missing else informer

    async def _take_out(self, gvr: GVR, entry: Entry[Any], kind: str, name: str) -> None:
        subjects = entry.original().get("subjects") or []
        left = [one for one in subjects if (one.get("kind"), one.get("name")) != (kind, name)]
        if not left:
            await delete_entry(self._client, gvr, entry)
        elif left != subjects:
            version = {"resourceVersion": entry.resource_version}
            body = {"metadata": version, "subjects": left}
            place = entry.key
            await self._client.patch(gvr, body, namespace=place.namespace, name=place.name)
