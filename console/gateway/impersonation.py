"""Impersonation with kubectl's `--as` and `--as-group`.

kube-apiserver impersonates only once, and the console uses that for the user. The console therefore
asks kube-apiserver with a SelfSubjectAccessReview, as the user, for every name, and then sends the
request as the target alone.
https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from console.gateway.authentication import Caller
from console.gateway.errors import Refusal
from console.kube.clients import UserClient
from console.kube.gvr import GVR
from console.kube.identity import Identity, ImpersonationTarget, InvalidIdentity
from console.ui.core.clusters import Cluster
from console.ui.core.text import escape_invisible

_REVIEWS = GVR("authorization.k8s.io", "v1", "selfsubjectaccessreviews")
_SERVICE_ACCOUNT = "system:serviceaccount:"
#: Each name is a request to kube-apiserver.
_MAX_NAMES = 32


async def impersonated(
    headers: Sequence[tuple[bytes, bytes]], caller: Caller, cluster: Cluster
) -> Identity:
    """Return the identity to send the request as: the caller's, or the one that the request
    impersonates. Raise `Refusal` if this is not allowed, and `ApiError`.
    """
    users, groups = (_values(headers, b"impersonate-" + one) for one in (b"user", b"group"))
    if not users and not groups:
        return caller.identity
    if len(users) != 1 or not users[0]:
        raise Refusal(400, _("Requests that impersonate a group must impersonate one user, too."))
    if len(groups) > _MAX_NAMES:
        raise Refusal(400, _("The request impersonates too many groups."))
    try:
        target = ImpersonationTarget(users[0], tuple(groups))
    except InvalidIdentity as error:
        text = _("The console does not impersonate this user or group: %(reason)s.")
        raise Refusal(403, text % {"reason": escape_invisible(str(error))}) from error
    client = cluster.runtime.as_user(caller.identity)
    asked = [_of_user(target.name), *({"resource": "groups", "name": one} for one in groups)]
    allowed = await asyncio.gather(*(_may_impersonate(client, one) for one in asked))
    for attributes, may in zip(asked, allowed, strict=True):
        if not may:
            raise _denied(caller, attributes)
    return target


def _values(headers: Sequence[tuple[bytes, bytes]], wanted: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in headers if name.lower() == wanted]


def _of_user(name: str) -> dict[str, str]:
    """Return the resource that kube-apiserver checks for this user name."""
    if not name.startswith(_SERVICE_ACCOUNT):
        return {"resource": "users", "name": name}
    namespace, _colon, account = name.removeprefix(_SERVICE_ACCOUNT).partition(":")
    return {"resource": "serviceaccounts", "namespace": namespace, "name": account}


async def _may_impersonate(client: UserClient, attributes: Mapping[str, str]) -> bool:
    body: dict[str, Any] = {
        "apiVersion": _REVIEWS.group_version,
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "impersonate", **attributes}},
    }
    answer = await client.create(_REVIEWS, body, stored=False)
    return (answer.get("status") or {}).get("allowed") is True


def _denied(caller: Caller, attributes: Mapping[str, str]) -> Refusal:
    """Return the response with kube-apiserver's words."""
    where = (
        ' in the namespace "{namespace}"' if "namespace" in attributes else " at the cluster scope"
    )
    text = (
        '{resource} "{name}" is forbidden: User "{user}" cannot impersonate resource "{resource}" '
        'in API group ""' + where
    )
    return Refusal(403, text.format(user=caller.identity.name, **attributes))
