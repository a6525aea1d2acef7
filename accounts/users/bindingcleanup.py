"""Takes a user or a group out of every binding there is, before the name is free for somebody else.

Bindings that name nobody else are deleted, those of several lose the name. A label that says whose a
binding is finds it as well, but decides nothing: anybody who may change it could write one. What the
projection made is left to the projection, which follows its sources.
"""

from collections.abc import Iterator
from typing import Any

from console.kube.errors import NotFound
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
from console.kube.projections import GlobalRoleBinding
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.names import PREFIX

Manifest = dict[str, Any]

#: Sources before what is made of them.
BINDINGS = (
    GLOBAL_ROLE_BINDINGS,
    WORKSPACE_ROLE_BINDINGS,
    CLUSTER_ROLE_BINDINGS,
    ROLE_BINDINGS,
)
USER, GROUP = "User", "Group"


class NotYetKnown(Exception):
    """A list has not arrived from the cluster: nobody can say what is left."""


class BindingCleanup:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._client = runtime.console

    async def unbind(self, kind: str, name: str, label: str) -> bool:
        """True if no binding names the subject, as far as the cache knows. Otherwise what can be done is
        done, and the cache will know: ask again. `label`: `key=value` of what is called its own.

        Raises `NotYetKnown`, and `ApiError`.
        """
        clean = True
        for gvr in BINDINGS:
            informer = self.informer(gvr)
            if informer is None:
                continue
            indexes = indexes_of(informer.store)
            named = indexes.by(_named).get((kind, name))
            clean = clean and not named
            labelled = indexes.by_label.get(label)
            for entry in {one.key: one for one in (*named, *labelled)}.values():
                if not entry.key.name.startswith(PREFIX):
                    await self._take_out(gvr, entry, kind, name)
        return clean

    async def delete(self, gvr: GVR, entry: Entry[Any]) -> None:
        """The very version that was seen; it may be gone already. Raises `ApiError`."""
        try:
            await self._client.delete(
                gvr,
                namespace=entry.key.namespace,
                name=entry.key.name,
                uid=entry.projection.uid,
                resource_version=entry.resource_version,
            )
        except NotFound:
            return

    def informer(self, gvr: GVR) -> Informer[Any] | None:
        """One that has its list; None if the cluster has no such type. Raises `NotYetKnown`."""
        missing = gvr.group.endswith("kubesphere.io") and self._runtime.types.get(gvr) is None
        asked = CUSTOM_RESOURCE_DEFINITIONS if missing else gvr
        informer = self._runtime.informer(asked)
        if not informer.freshness.synced:
            raise NotYetKnown(asked.qualified)
        return None if missing else informer

    async def _take_out(self, gvr: GVR, entry: Entry[Any], kind: str, name: str) -> None:
        subjects = entry.original().get("subjects") or []
        left = [one for one in subjects if (one.get("kind"), one.get("name")) != (kind, name)]
        if not left:
            await self.delete(gvr, entry)
        elif left != subjects:
            version = {"resourceVersion": entry.resource_version}
            body = {"metadata": version, "subjects": left}
            place = entry.key
            await self._client.patch(gvr, body, namespace=place.namespace, name=place.name)


def _named(entry: Entry[Any]) -> Iterator[tuple[str, str]]:
    binding = entry.projection
    if isinstance(binding, GlobalRoleBinding):
        yield from ((subject.kind, subject.name) for subject in binding.subjects)
    else:
        yield from ((USER, name) for name in binding.users)
        yield from ((GROUP, name) for name in binding.groups)
