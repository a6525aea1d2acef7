"""The user that a request to kube-apiserver impersonates.

kube-apiserver trims header values and treats an empty `Impersonate-User` as no impersonation.
Therefore `Identity` rejects names that are empty, padded or not ASCII, and `system:` names,
which belong to Kubernetes itself.
"""

import re
from dataclasses import dataclass

AUTHENTICATED_GROUP = "system:authenticated"


class InvalidIdentity(ValueError):
    """A name that must not be impersonated."""


def _check(name: str, what: str) -> None:
    if not name or name != name.strip() or not name.isascii() or not name.isprintable():
        raise InvalidIdentity(f"{what} {name!r} is empty, padded or not printable ASCII")
    if name.startswith("system:"):
        raise InvalidIdentity(f"{what} {name!r} is reserved for Kubernetes itself")


@dataclass(frozen=True, slots=True)
class Identity:
    """A user: `name`, and `groups` without `system:authenticated`, which is always added."""

    name: str
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self.name, "user")
        for group in self.groups:
            _check(group, "group")

    def headers(self) -> list[tuple[str, str]]:
        """Return the impersonation headers, see
        https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/.
        """
        groups = (*self.groups, AUTHENTICATED_GROUP)
        return [("Impersonate-User", self.name), *(("Impersonate-Group", g) for g in groups)]


_SERVICE_ACCOUNT = re.compile(r"system:serviceaccount:[a-z0-9.-]{1,63}:[a-z0-9.-]{1,253}")
_GROUP = re.compile(r"system:(authenticated|serviceaccounts(:[a-z0-9.-]{1,63})?)")


@dataclass(frozen=True, slots=True)
class ImpersonationTarget(Identity):
    """A user or service account that a user impersonates with kubectl's `--as` and `--as-group`.

    Unlike in `Identity`, service accounts and their groups are allowed. Other names of Kubernetes
    itself, such as `system:masters`, are not.
    """

    def __post_init__(self) -> None:
        if not _SERVICE_ACCOUNT.fullmatch(self.name):
            _check(self.name, "user")
        for group in self.groups:
            if not _GROUP.fullmatch(group):
                _check(group, "group")

    def headers(self) -> list[tuple[str, str]]:
        """Return the impersonation headers. kube-apiserver adds `system:authenticated`, and without
        groups also a service account's groups.
        """
        return [
            ("Impersonate-User", self.name),
            *(("Impersonate-Group", group) for group in self.groups),
        ]
