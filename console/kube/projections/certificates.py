"""CertificateSigningRequests. The status follows kubectl (extractCSRStatus in Kubernetes'
printers).
"""

from sys import intern

import msgspec

from console.kube.gvr import CERTIFICATE_SIGNING_REQUESTS
from console.kube.projections.common import (
    Conditions,
    Decoders,
    Object,
    Projection,
    basics,
    decoder,
    find_condition,
    terminating_or,
)
from console.kube.status import Severity, Status


class CertificateSigningRequest(Projection, frozen=True):
    """A CertificateSigningRequest. `seconds` is the requested duration, or None for the signer's
    default.
    """

    status: Status
    signer: str
    requestor: str
    usages: tuple[str, ...]
    seconds: int | None


class _Spec(msgspec.Struct, gc=False):
    signerName: str = ""
    username: str = ""
    usages: tuple[str, ...] | None = None
    expirationSeconds: int | None = None


class _Status(msgspec.Struct, gc=False):
    conditions: Conditions | None = None
    certificate: str | None = None


class _Request(Object):
    spec: _Spec | None = None
    status: _Status | None = None


_UNDECIDED = Status(Severity.PROGRESS, "Waiting for approval", "Pending")
_ISSUED = Status(Severity.DONE, "Issued")


def is_undecided(request: CertificateSigningRequest) -> bool:
    return request.status == _UNDECIDED


def _request(item: _Request) -> CertificateSigningRequest:
    spec = item.spec or _Spec()
    return CertificateSigningRequest(
        **basics(item.metadata),
        status=terminating_or(item.metadata, _status(item.status or _Status())),
        signer=intern(spec.signerName),
        requestor=intern(spec.username),
        usages=spec.usages or (),
        seconds=spec.expirationSeconds,
    )


def _status(status: _Status) -> Status:
    """Return the status. Denied takes precedence over Approved. Failed is set by the signer after
    approval.

    The word is "Refused" because the interface uses "Denied" for missing permissions.
    """
    failed = find_condition(status.conditions, "Failed")
    if failed is not None:
        return Status(Severity.ERROR, "Failed", failed.text)
    denied = find_condition(status.conditions, "Denied")
    if denied is not None:
        return Status(Severity.WARN, "Refused", denied.text or "Denied")
    approved = find_condition(status.conditions, "Approved")
    if approved is None:
        return _UNDECIDED
    if status.certificate:
        return _ISSUED
    return Status(Severity.PROGRESS, "Approved", approved.text)


DECODERS: Decoders = {CERTIFICATE_SIGNING_REQUESTS: decoder(_Request, _request)}
