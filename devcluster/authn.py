"""Authentication by client certificate or bearer token, with anonymous requests.

Rules: https://kubernetes.io/docs/reference/access-authn-authz/authentication/. An unknown token
is rejected with 401. A request without credentials gets the user `system:anonymous`.
"""

import csv
import io
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devcluster.errors import unauthorized
from devcluster.pki import write_private

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS = "system:anonymous"
MASTERS = "system:masters"
_SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Username, groups, UID and extra attributes of an authenticated user."""

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


ANONYMOUS_USER = UserInfo(ANONYMOUS, (UNAUTHENTICATED,))


def service_account_name(namespace: str, name: str) -> str:
    return f"{_SERVICE_ACCOUNT}{namespace}:{name}"


def split_service_account(user: str) -> tuple[str, str] | None:
    """Return the namespace and name of a service account, or None for any other user."""
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
    """A bearer token's user and expiry. `expires` is in seconds since 1970; 0 means never."""

    user: UserInfo
    expires: float = 0.0


class TokenFile:
    """Bearer tokens stored in a CSV file in the format of kube-apiserver's `--token-auth-file`.

    The file has an additional last column with the expiry time of the token.
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
        """Issue a token. `lifetime` is in seconds; 0 means that the token never expires."""
        token = secrets.token_urlsafe(32)
        expires = time.time() + lifetime if lifetime else 0.0
        self._tokens[token] = Token(user, expires)
        self._save()
        return token

    def permanent_token(self, user: UserInfo) -> str:
        """Return the existing non-expiring token of exactly this user, or issue one."""
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
    """Return the user of a verified client certificate: CN is the username, O the groups.

    `certificate` has the format of `ssl.SSLSocket.getpeercert`. Return None if the CN is
    missing.
    """
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
    """Return the user of a request. Raise a 401 error if the bearer token is unknown."""
    user = user_of_certificate(certificate) if certificate else None
    if user is None and authorization:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            user = find_token(token.strip())
            if user is None:
                raise unauthorized()
    return with_authenticated(user) if user else ANONYMOUS_USER


def with_authenticated(user: UserInfo) -> UserInfo:
    """Return the user with the group `system:authenticated` added, unless the user is
    unauthenticated.
    """
    if AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return UserInfo(user.name, (*user.groups, AUTHENTICATED), user.uid, user.extra)


def user_from_json(found: Mapping[str, Any]) -> UserInfo:
    """Return the user specified in a SubjectAccessReview spec."""
    extra = {key: tuple(values) for key, values in (found.get("extra") or {}).items()}
    groups = tuple(found.get("groups") or ())
    return UserInfo(found.get("user", ""), groups, found.get("uid", ""), extra)
