"""OAuth clients from the configuration.

The format is KubeSphere's `authentication.oauthOptions.clients[]`, with these differences:

- A well-known secret, or one with fewer than 16 characters, disables its client. KubeSphere's
  own client is accepted with its default secret if `shippedClient: true` is set.
- `redirectURIs` are compared exactly; an entry with a `*` is ignored.
- `grantMethod` defaults to `prompt`. Use `auto` only for first-party applications.
- Additional fields: `grantTypes`; `public: true` for a client without a secret, which must use
  PKCE; `reviewTokens: true` for kube-apiserver; `postLogoutRedirectURIs`.
- The password grant is available to the clients `kubesphere` and `quarterdeck` and to clients
  whose `grantTypes` contain it, but never to public clients.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

from accounts.oauth.errors import OAuthError
from accounts.time import parse_duration

PASSWORD, REFRESH, CODE = "password", "refresh_token", "authorization_code"  # noqa: S105
AUTO, PROMPT, DENY = "auto", "prompt", "deny"

SHORTEST_SECRET = 16
MAX_URI = 1024
#: Name and default secret of the client of KubeSphere's console.
_SHIPPED = "kubesphere"
_KNOWN_SECRETS = frozenset({"kubesphere", "quarterdeck", "changeme", "change-me", "secret"})
_FIRST_PARTY = frozenset({"kubesphere", "quarterdeck"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: Hosts to which unencrypted connections are allowed.
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Note = Callable[[str], None]
OPENID, PROFILE, EMAIL, API = "openid", "profile", "email", "api"
ALL = (OPENID, PROFILE, EMAIL, API)
MAX_LENGTH = 512

_TOKENS = re.compile(r"[!#-\[\]-~]+(?: [!#-\[\]-~]+)*")
NAME = "quarterdeck"


@dataclass(frozen=True, slots=True)
class Client:
    """OAuth client.

    `secret` is "" if and only if the client is public. `access` is the lifetime of an access
    token; a refresh token lives longer by `idle`.
    """

    name: str
    secret: str
    redirect_uris: frozenset[str]
    post_logout_uris: frozenset[str]
    grants: frozenset[str]
    consent: str
    challenges: bool
    reviews: bool
    access: timedelta
    idle: timedelta

    @property
    def is_public(self) -> bool:
        return not self.secret


@dataclass(frozen=True, slots=True)
class Lifetimes:
    access: timedelta
    idle: timedelta


def read_client(
    raw: Mapping[str, Any], defaults: Lifetimes, note: Note, *, shipped: bool = False
) -> Client:
    """Read a client from the configuration.

    If `shipped` is True, KubeSphere's own client is accepted with its default secret. Raise
    ValueError if the entry is unusable; ignored parts of a usable entry are reported to `note`.
    """
    name = raw.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("a client's name must consist of letters, digits, '.', '_' and '-'")
    secret, public = str(raw.get("secret") or ""), raw.get("public") is True
    grants = _grants(raw.get("grantTypes"), name, public)
    problem = _secret_problem(secret, public)
    if problem and not (shipped and name == secret == _SHIPPED):
        raise ValueError(f"client {name}: {problem}")
    consent = raw.get("grantMethod") or PROMPT
    if consent not in (AUTO, PROMPT, DENY):
        raise ValueError(f"client {name}: grantMethod must be auto, prompt or deny")

    def uris(field: str) -> frozenset[str]:
        return _uris(raw.get(field), lambda text: note(f"client {name}: {field}: {text}"))

    return Client(
        name=name,
        secret=secret,
        redirect_uris=uris("redirectURIs"),
        post_logout_uris=uris("postLogoutRedirectURIs"),
        grants=grants,
        consent=consent,
        challenges=raw.get("respondWithChallenges") is True,
        reviews=raw.get("reviewTokens") is True and not public,
        access=lifetime(raw.get("accessTokenMaxAge"), defaults.access),
        idle=lifetime(raw.get("accessTokenInactivityTimeout"), defaults.idle),
    )


def lifetime(value: object, default: timedelta) -> timedelta:
    """Return a lifetime. KubeSphere's 0 (unlimited) is not supported and means the default. Raise
    ValueError.
    """
    found = default if value is None else parse_duration(value)
    return found or default


def uri_problem(uri: str) -> str:
    """Return the reason why a redirect URI is rejected, or ""."""
    parts = urlsplit(uri)
    if len(uri) > MAX_URI or not re.fullmatch(r"[!-~]+", uri) or set(uri) & set("\"'<>\\`{}|^"):
        return "the URL is too long or contains invalid characters"
    if "*" in uri:
        return "wildcards (*) are not supported, because URLs are compared exactly"
    if "#" in uri or not parts.hostname or "@" in parts.netloc:
        return "the URL must have a host and must not contain a fragment or user information"
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK):
        return ""
    return "use https, or http for the local host"


def with_query(url: str, parameters: Mapping[str, str]) -> str:
    """Return the URL with these parameters appended to its query."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"


def _uris(raw: object, note: Note) -> frozenset[str]:
    found = set()
    for uri in raw if isinstance(raw, list) else []:
        try:
            problem = uri_problem(uri) if isinstance(uri, str) else "the URL is not a string"
        except ValueError:
            problem = "the URL cannot be parsed"
        if problem:
            note(f"{str(uri)[:80]!r} is ignored: {problem}")
        else:
            found.add(uri)
    return frozenset(found)


def _grants(raw: object, name: str, public: bool) -> frozenset[str]:
    if raw is None:
        more = {PASSWORD} if name in _FIRST_PARTY and not public else set()
        return frozenset({CODE, REFRESH, *more})
    if not isinstance(raw, list) or not set(map(str, raw)) <= {CODE, REFRESH, PASSWORD}:
        raise ValueError(f"client {name}: grantTypes may contain {CODE}, {REFRESH} and {PASSWORD}")
    if public and PASSWORD in raw:
        raise ValueError(f"client {name}: a public client can't use the password grant")
    return frozenset(map(str, raw))


def _secret_problem(secret: str, public: bool) -> str:
    if public:
        return "a public client must not have a secret" if secret else ""
    if not secret:
        return "the secret is missing; set one or set public: true"
    if secret.lower() in _KNOWN_SECRETS:
        return "the secret is well known; set another one"
    if len(secret) < SHORTEST_SECRET:
        return f"the secret must have at least {SHORTEST_SECRET} characters"
    return ""


# Token scopes.
#
# `api` allows everything that the user may do in the console and in the cluster. The other scopes
# are those of OpenID Connect and let a client identify the user.


def granted_scopes(asked: str, client: Client) -> str:
    """Return the supported scopes in `asked`, or all scopes if it is empty.

    First-party clients always get `api`, because KubeSphere has no such scope. Raise
    `OAuthError`.
    """
    if not asked:
        return " ".join(ALL)
    if len(asked) > MAX_LENGTH or not _TOKENS.fullmatch(asked):
        raise OAuthError("invalid_scope", "The scope is malformed.")
    wanted = set(asked.split(" ")) | ({API} if client.consent == AUTO else set())
    found = " ".join(scope for scope in ALL if scope in wanted)
    if not found:
        raise OAuthError("invalid_scope", "Supported scopes are openid, profile, email and api.")
    return found


def narrowed_scopes(asked: str, held: str) -> str:
    """Return the scopes for a refresh. Raise `OAuthError` if `asked` is not a subset of `held`."""
    if not asked:
        return held
    wanted = set(asked.split(" ")) if len(asked) <= MAX_LENGTH else {""}
    if not wanted <= set(held.split(" ")):
        raise OAuthError("invalid_scope", "The scope exceeds the granted scope.")
    return " ".join(scope for scope in ALL if scope in wanted)


# Default client, so that tokens can be issued without configuration.


def make_first_client(path: Path) -> None:
    """Write a configuration with the client `quarterdeck` and a random secret, unless the file
    exists.

    Only the file's owner can read it.
    """
    client = {"name": NAME, "secret": secrets.token_urlsafe(24), "grantMethod": "auto"}
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return
    path.write_text(yaml.safe_dump({"authentication": {"oauthOptions": {"clients": [client]}}}))
