"""Keeps the ClusterRoleBindings of platform administrators equal to the GlobalRoleBindings.

Two reconcilers with one rule: a change of either side leads to the same comparison, so what somebody
changes or deletes by hand is repaired, and what is left of a source that went is removed.
"""

from console.kube.controller import Request, Result
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, GLOBAL_ROLE_BINDINGS, GVR, Key
from console.kube.informer import Informer
from console.kube.projections import GlobalRoleBinding
from console.kube.runtime import Runtime
from rbac.authorizer import is_admin_binding
from rbac.projection import (
    Manifest,
    differs,
    project,
    projected_name,
    refused_subjects,
    source_name,
)
from rbac.recorder import NORMAL, WARNING, Recorder

#: Seconds until another look at a cache that has no list yet.
UNSYNCED_RETRY = 1.0


class Projector:
    """The rule."""

    def __init__(self, runtime: Runtime) -> None:
        self._client = runtime.console
        self._sources: Informer[GlobalRoleBinding] = runtime.informer(GLOBAL_ROLE_BINDINGS)
        self._bindings = runtime.informer(CLUSTER_ROLE_BINDINGS)
        self._recorder = Recorder(runtime.console, "quarterdeck-globalrolebinding-controller")

    async def sync(self, name: str) -> Result:
        """Makes the ClusterRoleBinding of the GlobalRoleBinding `name` what it should be."""
        if not (self._sources.freshness.synced and self._bindings.freshness.synced):
            # An empty cache would read as "the source is gone".
            return Result(requeue_after=UNSYNCED_RETRY)
        source = self._sources.store.get(Key("", name))
        entry = self._bindings.store.get(Key("", projected_name(name)))
        wanted = project(source.projection) if source else None
        found = entry.original() if entry else None
        changed = await self._settle(found, wanted)
        if source is not None and is_admin_binding(source.projection):
            await self._report(source.original(), source.projection, changed)
        return Result()

    async def _settle(self, found: Manifest | None, wanted: Manifest | None) -> bool:
        """True if something had to be done."""
        if found is None and wanted is not None:
            await self._client.create(CLUSTER_ROLE_BINDINGS, wanted)
        elif found is not None and wanted is None:
            await self._delete(found)
        elif found is not None and wanted is not None and differs(found, wanted):
            await self._repair(found, wanted)
        else:
            return False
        return True

    async def _repair(self, found: Manifest, wanted: Manifest) -> None:
        if found["roleRef"] != wanted["roleRef"]:
            # Kubernetes lets nobody change a binding's role.
            await self._delete(found)
            await self._client.create(CLUSTER_ROLE_BINDINGS, wanted)
            return
        meta = {
            **found["metadata"],
            "labels": {**(found["metadata"].get("labels") or {}), **wanted["metadata"]["labels"]},
            "ownerReferences": wanted["metadata"]["ownerReferences"],
        }
        name = wanted["metadata"]["name"]
        await self._client.replace(CLUSTER_ROLE_BINDINGS, {**wanted, "metadata": meta}, name=name)

    async def _delete(self, found: Manifest) -> None:
        meta = found["metadata"]
        await self._client.delete(
            CLUSTER_ROLE_BINDINGS,
            name=meta["name"],
            uid=meta["uid"],
            resource_version=meta["resourceVersion"],
        )

    async def _report(self, source: Manifest, binding: GlobalRoleBinding, changed: bool) -> None:
        refused = refused_subjects(binding.subjects)
        if refused:
            names = ", ".join(f"{subject.kind} {subject.name!r}" for subject in refused)
            message = f"These subjects get nothing from a platform role: {names}"
            await self._recorder.record(source, WARNING, "SubjectsRefused", message)
        if changed:
            message = "The cluster role binding of this binding was brought up to date"
            await self._recorder.record(source, NORMAL, "Synced", message)


class GlobalRoleBindingReconciler:
    name = "globalrolebinding"
    gvr: GVR = GLOBAL_ROLE_BINDINGS

    def __init__(self, runtime: Runtime) -> None:
        self._projector = Projector(runtime)

    async def reconcile(self, request: Request) -> Result:
        return await self._projector.sync(request.name)


class ProjectedBindingReconciler:
    """Sees changes of the other side; bindings that are not of this origin are left alone."""

    name = "globalrolebinding-projection"
    gvr: GVR = CLUSTER_ROLE_BINDINGS

    def __init__(self, runtime: Runtime) -> None:
        self._projector = Projector(runtime)

    async def reconcile(self, request: Request) -> Result:
        source = source_name(request.name)
        return await self._projector.sync(source) if source else Result()
