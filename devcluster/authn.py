"""Who a request is from: a client certificate, a bearer token, or nobody.

Rules: https://kubernetes.io/docs/reference/access-authn-authz/authentication/. A token that is
unknown is refused with 401; no credentials at all make `system:anonymous`.
"""

import csv
import io
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devcluster.pki import write_private
from devcluster.statuses import unauthorized

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS = "system:anonymous"
MASTERS = "system:masters"
_SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class UserInfo:
    """A user as authorization sees it."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"username": self.name}
        if self.uid:
            found["uid"] = self.uid
        if self.groups:
            found["groups"] = list(self.groups)
        if self.extra:
            found["extra"] = {key: list(values) for key, values in self.extra.items()}
        return found


NOBODY = UserInfo(ANONYMOUS, (UNAUTHENTICATED,))


def service_account_name(namespace: str, name: str) -> str:
    return f"{_SERVICE_ACCOUNT}{namespace}:{name}"


def split_service_account(user: str) -> tuple[str, str] | None:
    """Namespace and name, if the user is a service account."""
    namespace, colon, name = user.removeprefix(_SERVICE_ACCOUNT).partition(":")
    if user.startswith(_SERVICE_ACCOUNT) and colon and namespace and name and ":" not in name:
        return namespace, name
    return None


def service_account_groups(namespace: str) -> tuple[str, ...]:
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")


def service_account(namespace: str, name: str, uid: str) -> UserInfo:
    user = service_account_name(namespace, name)
    return UserInfo(user, service_account_groups(namespace), uid)


@dataclass(frozen=True, slots=True)
class Token:
    """`expires`: seconds since 1970, 0 for never."""

    user: UserInfo
    expires: float = 0.0


class TokenFile:
    """Bearer tokens, kept in a CSV file as kube-apiserver's `--token-auth-file` has them.

    A column more than there says when a token expires.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tokens: dict[str, Token] = {}
        if path.exists():
            for row in csv.reader(io.StringIO(path.read_text())):
                token, name, uid, groups, expires = row
                user = UserInfo(name, tuple(groups.split(",")) if groups else (), uid)
                self._tokens[token] = Token(user, float(expires))

    def issue(self, user: UserInfo, lifetime: float = 0.0) -> str:
        """A new token; `lifetime` in seconds, 0 for no end."""
        token = secrets.token_urlsafe(32)
        expires = time.time() + lifetime if lifetime else 0.0
        self._tokens[token] = Token(user, expires)
        self._save()
        return token

    def lasting(self, user: UserInfo) -> str:
        """A token without end: what was issued before for exactly this user, or a new one."""
        held = self._tokens.items()
        known = (token for token, one in held if one.user == user and not one.expires)
        return next(known, "") or self.issue(user)

    def find(self, token: str) -> UserInfo | None:
        held = self._tokens.get(token)
        if held is None or (held.expires and held.expires < time.time()):
            return None
        return held.user

    def _save(self) -> None:
        now = time.time()
        text = io.StringIO()
        rows = csv.writer(text)
        for token, held in self._tokens.items():
            if not held.expires or held.expires > now:
                user = held.user
                rows.writerow([token, user.name, user.uid, ",".join(user.groups), held.expires])
        write_private(self._path, text.getvalue().encode())


def user_of_certificate(certificate: Mapping[str, Any]) -> UserInfo | None:
    """The user of a verified client certificate, as `ssl` gives it: CN is the name, O the groups."""
    names: list[str] = []
    groups: list[str] = []
    for relative in certificate.get("subject", ()):
        for kind, value in relative:
            if kind == "commonName":
                names.append(value)
            elif kind == "organizationName":
                groups.append(value)
    return UserInfo(names[-1], tuple(groups)) if names and names[-1] else None


def authenticate(
    authorization: str,
    certificate: Mapping[str, Any] | None,
    find_token: Callable[[str], UserInfo | None],
) -> UserInfo:
    """The user of a request; 401 for a token that is not known."""
    user = user_of_certificate(certificate) if certificate else None
    if user is None and authorization:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            user = find_token(token.strip())
            if user is None:
                raise unauthorized()
    return with_authenticated(user) if user else NOBODY


def with_authenticated(user: UserInfo) -> UserInfo:
    """The user with `system:authenticated`, which everybody has who is somebody."""
    if AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return UserInfo(user.name, (*user.groups, AUTHENTICATED), user.uid, user.extra)


def user_from_json(found: Mapping[str, Any]) -> UserInfo:
    """The user that a SubjectAccessReview names."""
    extra = {key: tuple(values) for key, values in (found.get("extra") or {}).items()}
    groups = tuple(found.get("groups") or ())
    return UserInfo(found.get("user", ""), groups, found.get("uid", ""), extra)
