"""Controller that copies group memberships to `User.spec.groups`, which KubeSphere's clients read.

The field grants no permissions in this console: permissions come from the GroupBindings
(`rbac.memberships`). Groups in the field that never appeared in a GroupBinding are left
unchanged.
"""

from accounts.users.bindingcleanup import BindingCleanup, NotCachedYet
from accounts.users.reconciler import is_federated
from accounts.users.states import patch_user, with_finalizer, without_finalizer
from console.kube.controller import Request, Result
from console.kube.gvr import GROUP_BINDINGS, GROUPS, GVR, USERS, Key
from console.kube.indexes import Index
from console.kube.informer import Informer
from console.kube.projections import User
from console.kube.projections.tenancy import GroupBinding
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.event_recorder import NORMAL, WARNING, Recorder
from rbac.memberships import are_current, groups_of

FINALIZER = "finalizers.kubesphere.io/groupsbindings"
#: Requeue delay in seconds while a list is not synced.
LOOK_AGAIN = 1.0


class GroupBindingReconciler:
    name = "groupbinding"
    gvr: GVR = GROUP_BINDINGS

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._client = runtime.console
        self._bindings: Informer[GroupBinding] = runtime.informer(GROUP_BINDINGS)
        self._users: Informer[User] = runtime.informer(USERS)
        self._members = Index(self._users.store, lambda entry: entry.projection.groups)
        self._leavings = BindingCleanup(runtime)
        self._recorder = Recorder(runtime.console, "quarterdeck-groupbinding-controller")

    async def reconcile(self, request: Request) -> Result:
        entry: Entry[GroupBinding] | None = self._bindings.store.get(Key("", request.name))
        if entry is None:
            return Result()
        try:
            groups, users = self._leavings.informer(GROUPS), self._leavings.informer(USERS)
        except NotCachedYet:
            return Result(requeue_after=LOOK_AGAIN)
        if groups is None or users is None:
            return Result()
        if not are_current(self._runtime):
            # Until memberships are loaded, no user is treated as a member.
            return Result(requeue_after=LOOK_AGAIN)
        binding = entry.original()
        if entry.projection.deleted is not None:
            if FINALIZER in (binding["metadata"].get("finalizers") or []):
                await self._copy(entry.projection)
                body = without_finalizer(binding, FINALIZER)
                await self._client.patch(GROUP_BINDINGS, body, name=request.name)
            return Result()
        finalizers = with_finalizer(binding, FINALIZER)
        if finalizers != binding["metadata"].get("finalizers"):
            version = binding["metadata"]["resourceVersion"]
            body = {"metadata": {"finalizers": finalizers, "resourceVersion": version}}
            await self._client.patch(GROUP_BINDINGS, body, name=request.name)
            await self._report(entry)
        await self._copy(entry.projection)
        return Result()

    async def _copy(self, binding: GroupBinding) -> None:
        """Update every user who has, or should have, the binding's group in `spec.groups`."""
        group = binding.group
        had = {entry.key.name for entry in self._members.get(group)}
        for name in sorted({*had, *binding.users}):
            user = self._users.store.get(Key("", name))
            if user is not None:
                await self._copy_to(user, group)

    async def _copy_to(self, entry: Entry[User], group: str) -> None:
        user = entry.projection
        belongs = group in groups_of(self._runtime, user.name)
        if user.deleted is not None or is_federated(user) or belongs == (group in user.groups):
            return
        kept = [one for one in user.groups if one != group]
        groups = [*kept, group] if belongs else kept
        await patch_user(self._client, entry.original(), {"spec": {"groups": groups}})

    async def _report(self, entry: Entry[GroupBinding]) -> None:
        binding, about = entry.projection, entry.original()
        if all(binding.group in groups_of(self._runtime, name) for name in binding.users):
            await self._recorder.record(
                about, NORMAL, "Synced", "The members' groups are up to date"
            )
        else:
            message = "The group doesn't exist in the binding's workspace"
            await self._recorder.record(about, WARNING, "NoGroup", message)
