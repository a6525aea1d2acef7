"""Controller that approves the console's signing requests, stores the certificates and deletes the
requests.

A request is approved only if it is for the stored key of the user and for the user's current
name and groups. A user who can create requests with the console's labels therefore gets nothing
signed.
"""

from dataclasses import replace

from accounts.kubeconfigs.certificates import is_certificate_for, is_request_for
from accounts.kubeconfigs.kubeconfig import LOOK_AGAIN, SIGNER
from accounts.kubeconfigs.storage import (
    USERNAME_LABEL,
    KubeconfigStore,
    StoredKubeconfig,
    decoded,
)
from console.kube.apply import Manifest
from console.kube.controller import Request, Result
from console.kube.errors import NotFound
from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS, GVR, USERS, Key
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.projections import User
from console.kube.projections.certificates import CertificateSigningRequest
from console.kube.runtime import Runtime
from console.kube.store import Entry
from rbac.event_recorder import NORMAL, WARNING, Recorder
from rbac.memberships import are_current, usable_identity
from rbac.projection import LABELS

_APPROVED = {
    "type": "Approved",
    "status": "True",
    "reason": "QuarterdeckApprove",
    "message": "Certificate for a user's kubeconfig",
}


class CSRReconciler:
    name = "csr"
    gvr: GVR = CERTIFICATE_SIGNING_REQUESTS

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._requests: Informer[CertificateSigningRequest] = runtime.informer(
            CERTIFICATE_SIGNING_REQUESTS
        )
        self._users: Informer[User] = runtime.informer(USERS)
        self._client = runtime.console
        self._keeper = KubeconfigStore(runtime.console)
        self._recorder = Recorder(runtime.console, "quarterdeck-csr-controller")

    async def reconcile(self, request: Request) -> Result:
        entry: Entry[CertificateSigningRequest] | None = self._requests.store.get(
            Key("", request.name)
        )
        if entry is None or not LABELS.items() <= entry.projection.labels.items():
            return Result()
        if not (self._users.freshness.synced and are_current(self._runtime)):
            return Result(requeue_after=LOOK_AGAIN)
        name = entry.projection.labels.get(USERNAME_LABEL, "")
        user: Entry[User] | None = self._users.store.get(Key("", name)) if name else None
        identity = usable_identity(self._runtime, user.projection) if user else None
        if user is None or identity is None:
            await self._delete(entry)
            return Result()
        kept = await self._keeper.find(name)
        found = entry.original()
        if not _is_ours(found, kept, identity):
            await self._delete(entry)
            return Result()
        await self._go_on(entry, found, kept, identity, user)
        return Result()

    async def _go_on(
        self,
        entry: Entry[CertificateSigningRequest],
        found: Manifest,
        kept: StoredKubeconfig,
        identity: Identity,
        user: Entry[User],
    ) -> None:
        status = found.get("status") or {}
        conditions = {one["type"]: one for one in status.get("conditions") or []}
        refused = conditions.get("Denied") or conditions.get("Failed")
        certificate = decoded(status.get("certificate"))
        about = user.original()
        if refused is not None:
            message = f"No certificate was issued: {refused.get('message') or refused['type']}"
            await self._recorder.record(about, WARNING, "KubeconfigRefused", message)
            await self._delete(entry)
        elif certificate and is_certificate_for(certificate, kept.pending, identity):
            signed = replace(kept, key=kept.pending, certificate=certificate, pending="")
            await self._keeper.save(signed)
            message = "The kubeconfig's certificate was issued"
            await self._recorder.record(about, NORMAL, "KubeconfigSigned", message)
            await self._delete(entry)
        elif not certificate and "Approved" not in conditions:
            version = found["metadata"]["resourceVersion"]
            body = {"metadata": {"resourceVersion": version}, "status": {"conditions": [_APPROVED]}}
            await self._client.patch(
                CERTIFICATE_SIGNING_REQUESTS, body, name=entry.key.name, subresource="approval"
            )

    async def _delete(self, entry: Entry[CertificateSigningRequest]) -> None:
        try:
            await self._client.delete(
                CERTIFICATE_SIGNING_REQUESTS, name=entry.key.name, uid=entry.projection.uid
            )
        except NotFound:
            return


def _is_ours(found: Manifest, kept: StoredKubeconfig, identity: Identity) -> bool:
    spec = found.get("spec") or {}
    request = decoded(spec.get("request")).encode()
    return (
        bool(kept.pending)
        and spec.get("signerName") == SIGNER
        and is_request_for(request, kept.pending, identity)
    )
