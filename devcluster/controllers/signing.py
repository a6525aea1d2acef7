"""Signing controller for approved client certificate requests.

https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers
"""

import base64
from datetime import timedelta

from devcluster.controllers.base import Controller
from devcluster.crud import Objects
from devcluster.objects import Obj, dig
from devcluster.pki import Authority
from devcluster.store import Record

_SIGNER = "kubernetes.io/kube-apiserver-client"
#: Default validity of a certificate: one year.
_SECONDS = 365 * 24 * 3600


class CertificateSigner(Controller):
    name, collection = "csrsigning", "certificatesigningrequests.certificates.k8s.io"

    def __init__(self, objects: Objects, authority: Authority) -> None:
        super().__init__(objects)
        self._authority = authority

    def reconcile_record(self, record: Record) -> float | None:
        found = record.load()
        status = found.get("status") or {}
        conditions = {one.get("type") for one in status.get("conditions") or ()}
        if dig(found, "spec.signerName") != _SIGNER or status.get("certificate"):
            return None
        if "Approved" not in conditions or conditions & {"Denied", "Failed"}:
            return None
        self.set_status(self.collection, record, {**status, **self._answer(found, status)})
        return None

    def _answer(self, found: Obj, status: Obj) -> Obj:
        lifetime = timedelta(seconds=dig(found, "spec.expirationSeconds") or _SECONDS)
        try:
            request = base64.b64decode(dig(found, "spec.request") or "")
            certificate = self._authority.sign(request, lifetime)
        except (ValueError, TypeError) as error:
            failed = {"type": "Failed", "status": "True", "reason": "SignerValidationFailure"}
            return {"conditions": [*status["conditions"], {**failed, "message": str(error)}]}
        return {"certificate": base64.b64encode(certificate).decode()}
