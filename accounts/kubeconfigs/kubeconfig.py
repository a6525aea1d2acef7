"""Controller that creates signing requests for users who need a valid kubeconfig certificate.

Idempotent and safe to interrupt: the key is stored before it is used, and the request's name is
derived from key and identity, so the same request is created only once.
"""

import base64
from dataclasses import replace
from datetime import datetime, timedelta

from accounts.kubeconfigs.certificates import (
    expires,
    fingerprint,
    is_certificate_for,
    lifetime,
    make_key,
    make_request,
    renew_before,
)
from accounts.kubeconfigs.storage import USERNAME_LABEL, KubeconfigStore, StoredKubeconfig
from console.kube.apply import Manifest
from console.kube.clock import Clock
from console.kube.controller import Request, Result
from console.kube.errors import Conflict
from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS, GVR, USERS, Key
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.projections import User
from console.kube.runtime import Runtime
from console.kube.store import Entry
from console.ui.core.threads import in_thread
from rbac.memberships import are_current, usable_identity
from rbac.projection import LABELS

#: Set to "true" on a user who requested a kubeconfig.
ASKED_ANNOTATION = "quarterdeck.io/kubeconfig"
SIGNER = "kubernetes.io/kube-apiserver-client"
#: Requeue delay in seconds until group memberships are loaded.
LOOK_AGAIN = 1.0
#: Seconds until a request without an answer is created again if it was deleted.
ASK_AGAIN = 60.0


class KubeconfigReconciler:
    name = "kubeconfig"
    gvr: GVR = USERS

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._users: Informer[User] = runtime.informer(USERS)
        self._client = runtime.console
        self._clock: Clock = runtime.clock
        self._keeper = KubeconfigStore(runtime.console)

    async def reconcile(self, request: Request) -> Result:
        entry: Entry[User] | None = self._users.store.get(Key("", request.name))
        if entry is None or entry.projection.deleted is not None:
            return Result()
        if ASKED_ANNOTATION not in entry.projection.annotations:
            return Result()
        if not are_current(self._runtime):
            return Result(requeue_after=LOOK_AGAIN)
        identity = usable_identity(self._runtime, entry.projection)
        if identity is None:
            await self._keeper.delete(request.name)
            return Result()
        kept = await self._keeper.find(request.name)
        left = remaining_validity(kept, identity, self._clock.now())
        if left is not None and left > renew_before():
            return Result(requeue_after=(left - renew_before()).total_seconds())
        await self._ask(kept, identity)
        return Result(requeue_after=ASK_AGAIN)

    async def _ask(self, kept: StoredKubeconfig, identity: Identity) -> None:
        if not kept.pending:
            kept = replace(kept, pending=await in_thread(make_key))
            await self._keeper.save(kept)
        try:
            body = signing_request(kept.pending, identity)
        except ValueError:
            # Another client replaced the stored key with invalid content.
            await self._keeper.delete(kept.user)
            raise
        try:
            await self._client.create(CERTIFICATE_SIGNING_REQUESTS, body)
        except Conflict:
            return


def remaining_validity(
    kept: StoredKubeconfig, identity: Identity, now: datetime
) -> timedelta | None:
    """Return how long the stored certificate remains valid for exactly this identity, or None if
    invalid.
    """
    if not kept.certificate or not is_certificate_for(kept.certificate, kept.key, identity):
        return None
    left = expires(kept.certificate) - now
    return left if left > timedelta() else None


def signing_request(key: str, identity: Identity) -> Manifest:
    """Return a CertificateSigningRequest. Raise ValueError if the key is invalid."""
    asked = base64.b64encode(make_request(key, identity)).decode()
    return {
        "apiVersion": CERTIFICATE_SIGNING_REQUESTS.group_version,
        "kind": "CertificateSigningRequest",
        "metadata": {
            "name": f"{identity.name}-csr-{fingerprint(key, identity)}",
            "labels": {**LABELS, USERNAME_LABEL: identity.name},
        },
        "spec": {
            "request": asked,
            "signerName": SIGNER,
            "usages": ["client auth", "digital signature"],
            "expirationSeconds": int(lifetime().total_seconds()),
        },
    }
