"""Admission and validation of CertificateSigningRequests as in kube-apiserver.

https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/
"""

from collections.abc import Iterator

from devcluster.authn import UserInfo
from devcluster.errors import Cause, forbidden, forbidden_value, invalid_value
from devcluster.objects import Obj, dicts, dig
from devcluster.rbac import Attributes, Rbac
from devcluster.resources import ResourceType

GROUP, PLURAL = "certificates.k8s.io", "certificatesigningrequests"
REQUESTS = f"{PLURAL}.{GROUP}"
_CONDITIONS = "status.conditions"


def stamp_requestor(request: Obj, user: UserInfo) -> None:
    """Set the username and groups of the authenticated user in the request and override sent
    values.
    """
    request.setdefault("spec", {}).update(username=user.name, groups=list(user.groups))


def check_signer(
    rbac: Rbac, user: UserInfo, declared: ResourceType, subresource: str, request: Obj
) -> None:
    """Raise a 403 error if the user approves or denies without the `approve` permission for the
    signer.
    """
    if declared.storage != REQUESTS or subresource != "approval":
        return
    signer = str(dig(request, "spec.signerName") or "")
    names = (signer, f"{signer.partition('/')[0]}/*")
    asked = (Attributes(user, "approve", GROUP, "signers", "", "", name) for name in names)
    if not any(rbac.authorize(one).allowed for one in asked):
        why = f'user not permitted to approve requests with signerName "{signer}"'
        raise forbidden(GROUP, PLURAL, request["metadata"]["name"], why)


def validate_request(new: Obj, old: Obj | None) -> Iterator[Cause]:
    kinds = _verdicts(new)
    if kinds >= {"Approved", "Denied"}:
        yield invalid_value(
            _CONDITIONS, "Denied", "Approved and Denied conditions are mutually exclusive"
        )
    if old is None:
        return
    if new.get("spec") != old.get("spec"):
        yield invalid_value("spec", "", "field is immutable")
    for lost in sorted(_verdicts(old) - kinds):
        yield forbidden_value(_CONDITIONS, f'updates may not remove a condition of type "{lost}"')


def _verdicts(request: Obj) -> set[str]:
    found = {str(one.get("type")) for one in dicts(dig(request, _CONDITIONS))}
    return found & {"Approved", "Denied", "Failed"}
