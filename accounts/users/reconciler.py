"""Controller for Users. It hashes plain passwords, sets the state and adds a finalizer.

A plain password that violates the password policy stays in the object but can't be used to sign
in, because only hashes are compared.
"""

from accounts.oauth.options import options
from accounts.signin.passwords import hash_password, is_hash, password_problem
from accounts.users.states import (
    ACTIVE,
    APPLIED_ANNOTATION,
    CHANGED_ANNOTATION,
    LOCKED,
    WantedState,
    patch_user,
    state_status,
    time_text,
    wanted_state,
    with_finalizer,
)
from console.kube.apply import Manifest
from console.kube.clock import Clock
from console.kube.controller import Request, Result
from console.kube.gvr import GVR, USERS, Key
from console.kube.projections import User
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.event_recorder import NORMAL, WARNING, Recorder

#: Set to "true" on a copy of a user managed by another cluster.
FEDERATED_LABEL = "kubefed.io/managed"
#: Blocks deletion until no binding names the user (`accounts.users.finalizer`).
FINALIZER = "finalizers.kubesphere.io/users"


class UserReconciler:
    name = "user"
    gvr: GVR = USERS

    def __init__(self, runtime: Runtime) -> None:
        self._users = runtime.informer(USERS)
        self._client = runtime.console
        self._clock: Clock = runtime.clock
        self._recorder = Recorder(runtime.console, "quarterdeck-user-controller")

    async def reconcile(self, request: Request) -> Result:
        entry: Entry[User] | None = self._users.store.get(Key("", request.name))
        if entry is None or entry.projection.deleted is not None:
            return Result()
        if is_federated(entry.projection):
            return Result()
        user = entry.original()
        hashed = await self._hash(user)
        if hashed:
            user["spec"]["password"] = hashed
        wanted = wanted_state(user, self._clock.now(), lock=options().limits.duration)
        await self._write(user, hashed, wanted)
        return Result(requeue_after=wanted.requeue_after)

    async def _hash(self, user: Manifest) -> str:
        """Return the hash that should replace the password, or ""."""
        password = (user.get("spec") or {}).get("password") or ""
        if not password or is_hash(password):
            return ""
        problem = password_problem(password)
        if problem and FINALIZER in (user["metadata"].get("finalizers") or []):
            # A user without the finalizer is updated and reconciled again, which would record the
            # event twice.
            message = f"The password can't be used to sign in: {problem}"
            await self._recorder.record(user, WARNING, "PasswordRefused", message)
        return "" if problem else await hash_password(password)

    async def _write(self, user: Manifest, hashed: str, wanted: WantedState) -> None:
        """Apply all changes in one patch of the version that was read.

        A concurrent change causes a conflict, and the next reconciliation starts from the new
        version.
        """
        patch: Manifest = {}
        finalizers = with_finalizer(user, FINALIZER)
        if finalizers != user["metadata"].get("finalizers"):
            patch["metadata"] = {"finalizers": finalizers}
        if hashed:
            patch["spec"] = {"password": hashed}
            annotations = {
                CHANGED_ANNOTATION: time_text(self._clock.now()),
                APPLIED_ANNOTATION: None,
            }
            patch["metadata"] = {**patch.get("metadata", {}), "annotations": annotations}
        if wanted.state is not None:
            patch["status"] = state_status(wanted.state, self._clock.now(), wanted.reason)
        if not patch:
            return
        await patch_user(self._client, user, patch)
        await self._report(user, bool(hashed), wanted)

    async def _report(self, user: Manifest, hashed: bool, wanted: WantedState) -> None:
        if hashed:
            message = "The plain password was replaced with its hash"
            await self._recorder.record(user, NORMAL, "PasswordHashed", message)
        if wanted.state in (ACTIVE, LOCKED):
            await self._recorder.record(user, NORMAL, "Synced", f"The user is {wanted.state}")
        elif wanted.state is not None:
            await self._recorder.record(user, WARNING, "UserDisabled", wanted.reason)


def is_federated(user: User) -> bool:
    """Return True for a copy of a user managed by another cluster."""
    return user.labels.get(FEDERATED_LABEL) == "true"
