"""Takes away what a deleted user leaves behind, before the name is free for somebody else.

KubeSphere marks its users with a finalizer, and so does this console: kube-apiserver keeps the object
until the finalizer goes. Such a user cannot do anything any more. Goes with the user: every binding that
is labelled as the user's, and the LoginRecords.
"""

from console.kube.controller import Request, Result
from console.kube.errors import NotFound
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CUSTOM_RESOURCE_DEFINITIONS,
    GLOBAL_ROLE_BINDINGS,
    GROUP_BINDINGS,
    GVR,
    LOGIN_RECORDS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    Key,
)
from console.kube.indexes import indexes_of
from console.kube.projections import User
from console.kube.projections.tenancy import USER_LABEL
from console.kube.runtime import Runtime
from console.kube.store import Entry

FINALIZER = "finalizers.kubesphere.io/users"
LEFT_BEHIND = (
    GLOBAL_ROLE_BINDINGS,
    WORKSPACE_ROLE_BINDINGS,
    CLUSTER_ROLE_BINDINGS,
    ROLE_BINDINGS,
    GROUP_BINDINGS,
    LOGIN_RECORDS,
)
#: Seconds until another look at a cache that has no list yet.
UNSYNCED_RETRY = 1.0


class FarewellReconciler:
    name = "user-farewell"
    gvr: GVR = USERS

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._client = runtime.console

    async def reconcile(self, request: Request) -> Result:
        entry: Entry[User] | None = self._runtime.informer(USERS).store.get(Key("", request.name))
        if entry is None or entry.projection.deleted is None:
            return Result()
        user = entry.original()
        finalizers = user["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers:
            return Result()
        for gvr in LEFT_BEHIND:
            if not await self._remove(gvr, request.name):
                return Result(requeue_after=UNSYNCED_RETRY)
        left = [one for one in finalizers if one != FINALIZER]
        version = user["metadata"]["resourceVersion"]
        body = {"metadata": {"finalizers": left, "resourceVersion": version}}
        await self._client.patch(USERS, body, name=request.name)
        return Result()

    async def _remove(self, gvr: GVR, user: str) -> bool:
        """False while nobody knows what there is."""
        if not self._exists(gvr):
            return self._runtime.informer(CUSTOM_RESOURCE_DEFINITIONS).freshness.synced
        informer = self._runtime.informer(gvr)
        if not informer.freshness.synced:
            return False
        for entry in indexes_of(informer.store).by_label.get(f"{USER_LABEL}={user}"):
            try:
                await self._client.delete(
                    gvr,
                    namespace=entry.key.namespace,
                    name=entry.key.name,
                    uid=entry.projection.uid,
                    resource_version=entry.resource_version,
                )
            except NotFound:
                continue
        return True

    def _exists(self, gvr: GVR) -> bool:
        """Kubernetes' own types always do."""
        return not gvr.group.endswith("kubesphere.io") or self._runtime.types.get(gvr) is not None
