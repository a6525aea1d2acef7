"""Cleanup after a deleted user, before the name can be reused.

Like KubeSphere, the console sets a finalizer on users, so kube-apiserver keeps the User object
until the finalizer is removed. A user being deleted can't sign in. The finalizer is removed when
the cache contains no binding of any scope that names the user, regardless of who created it, and
no group membership. The user's LoginRecords and kubeconfig are deleted too.
"""

from accounts.kubeconfigs.storage import KubeconfigStore
from accounts.users.bindingcleanup import USER, BindingCleanup, NotCachedYet
from accounts.users.reconciler import FINALIZER
from accounts.users.states import without_finalizer
from console.kube.controller import Request, Result
from console.kube.gvr import GROUP_BINDINGS, GVR, LOGIN_RECORDS, USERS, Key
from console.kube.indexes import indexes_of
from console.kube.projections import User
from console.kube.projections.tenancy import USER_LABEL
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.apply import delete_entry
from rbac.event_recorder import NORMAL, Recorder
from rbac.memberships import bindings_of

#: Requeue delay in seconds while a list is not synced or the cache does not reflect the changes
#: yet.
LOOK_AGAIN = 1.0


class UserFinalizer:
    name = "user-farewell"
    gvr: GVR = USERS

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._client = runtime.console
        self._leavings = BindingCleanup(runtime)
        self._keeper = KubeconfigStore(runtime.console)
        self._recorder = Recorder(runtime.console, "quarterdeck-user-controller")

    async def reconcile(self, request: Request) -> Result:
        entry: Entry[User] | None = self._runtime.informer(USERS).store.get(Key("", request.name))
        if entry is None or entry.projection.deleted is None:
            return Result()
        user = entry.original()
        if FINALIZER not in (user["metadata"].get("finalizers") or []):
            return Result()
        try:
            clean = await self._clean_up(request.name)
        except NotCachedYet:
            clean = False
        if not clean:
            return Result(requeue_after=LOOK_AGAIN)
        await self._keeper.delete(request.name)
        await self._recorder.record(
            user, NORMAL, "Released", "The user was removed from all bindings"
        )
        await self._client.patch(USERS, without_finalizer(user, FINALIZER), name=request.name)
        return Result()

    async def _clean_up(self, name: str) -> bool:
        """Remove bindings, group memberships and LoginRecords. Return True if nothing is left."""
        label = f"{USER_LABEL}={name}"
        left_groups = await self._leave_groups(name)
        unbound = await self._leavings.unbind(USER, name, label)
        records = self._leavings.informer(LOGIN_RECORDS)
        for entry in indexes_of(records.store).by_label.get(label) if records else ():
            await delete_entry(self._client, LOGIN_RECORDS, entry)
        return left_groups and unbound

    async def _leave_groups(self, name: str) -> bool:
        informer = self._leavings.informer(GROUP_BINDINGS)
        found = bindings_of(informer.store, name) if informer else ()
        for entry in found:
            binding = entry.original()
            left = [one for one in binding.get("users") or [] if one != name]
            if not left:
                await delete_entry(self._client, GROUP_BINDINGS, entry)
                continue
            version = {"resourceVersion": entry.resource_version}
            body = {"metadata": version, "users": left}
            await self._client.patch(GROUP_BINDINGS, body, name=entry.key.name)
        # A group binding being deleted waits for its own finalizer and no longer grants membership.
        return all(entry.projection.deleted for entry in found)
