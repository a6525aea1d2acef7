"""Applications that may ask for tokens, as the configuration names them.

The shape is KubeSphere's `authentication.oauthOptions.clients[]`, with these differences:

- A secret that everybody knows, or one of less than 16 characters, disables its client; KubeSphere's own
  counts where `shippedClient: true` says so.
- `redirectURIs` are compared as a whole; one with a `*` is left out.
- `grantMethod` is `prompt` where nothing is said. `auto` is for applications of one's own.
- Ours: `grantTypes`; `public: true` for a client without a secret, which must then use PKCE;
  `reviewTokens: true` for kube-apiserver; `postLogoutRedirectURIs`.
- The password grant is for the clients that are called `kubesphere` and `quarterdeck`, and for those
  whose `grantTypes` name it; never for public ones.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from accounts.oauth.errors import OAuthError
from accounts.time import parse_duration

PASSWORD, REFRESH, CODE = "password", "refresh_token", "authorization_code"  # noqa: S105
AUTO, PROMPT, DENY = "auto", "prompt", "deny"

SHORTEST_SECRET = 16
MAX_URI = 1024
#: Name and secret of the client that KubeSphere's console has.
_SHIPPED = "kubesphere"
_KNOWN_SECRETS = frozenset({"kubesphere", "quarterdeck", "changeme", "change-me", "secret"})
_FIRST_PARTY = frozenset({"kubesphere", "quarterdeck"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Note = Callable[[str], None]
OPENID, PROFILE, EMAIL, API = "openid", "profile", "email", "api"
ALL = (OPENID, PROFILE, EMAIL, API)
MAX_LENGTH = 512

_TOKENS = re.compile(r"[!#-\[\]-~]+(?: [!#-\[\]-~]+)*")
NAME = "quarterdeck"


@dataclass(frozen=True, slots=True)
class Client:
    """`secret` is "" for public clients, and for them alone. `access` and `idle` are lifetimes: of an
    access token, and of a refresh token beyond that."""

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
    """`shipped`: KubeSphere's own client counts with the secret that it ships with. Raises ValueError for
    an entry that is of no use; notes what is left out of one that is."""
    name = raw.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("a client needs a name of letters, digits, '.', '_' and '-'")
    secret, public = str(raw.get("secret") or ""), raw.get("public") is True
    grants = _grants(raw.get("grantTypes"), name, public)
    problem = _secret_problem(secret, public)
    if problem and not (shipped and name == secret == _SHIPPED):
        raise ValueError(f"client {name}: {problem}")
    consent = raw.get("grantMethod") or PROMPT
    if consent not in (AUTO, PROMPT, DENY):
        raise ValueError(f"client {name}: grantMethod is auto, prompt or deny")

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
    """KubeSphere's 0 means for ever, which no token of ours lasts: it counts as nothing said.
    Raises ValueError."""
    found = default if value is None else parse_duration(value)
    return found or default


def uri_problem(uri: str) -> str:
    """Why nobody is sent to this address, or ""."""
    parts = urlsplit(uri)
    if len(uri) > MAX_URI or not re.fullmatch(r"[!-~]+", uri) or set(uri) & set("\"'<>\\`{}|^"):
        return "it is too long or has characters that an address cannot have"
    if "*" in uri:
        return "addresses are compared as a whole, so a * means nothing"
    if "#" in uri or not parts.hostname or "@" in parts.netloc:
        return "it needs a host, and can have neither a fragment nor a user"
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return ""
    return "only https is possible, and http to this machine itself"


def _uris(raw: object, note: Note) -> frozenset[str]:
    found = set()
    for uri in raw if isinstance(raw, list) else []:
        try:
            problem = uri_problem(uri) if isinstance(uri, str) else "it is not a text"
        except ValueError:
            problem = "it cannot be read"
        if problem:
            note(f"{str(uri)[:80]!r} is left out: {problem}")
        else:
            found.add(uri)
    return frozenset(found)


def _grants(raw: object, name: str, public: bool) -> frozenset[str]:
    if raw is None:
        more = {PASSWORD} if name in _FIRST_PARTY and not public else set()
        return frozenset({CODE, REFRESH, *more})
    if not isinstance(raw, list) or not set(map(str, raw)) <= {CODE, REFRESH, PASSWORD}:
        raise ValueError(f"client {name}: grantTypes are {CODE}, {REFRESH} and {PASSWORD}")
    if public and PASSWORD in raw:
        raise ValueError(f"client {name}: a public client cannot have the password grant")
    return frozenset(map(str, raw))


def _secret_problem(secret: str, public: bool) -> str:
    if public:
        return "a public client has no secret" if secret else ""
    if not secret:
        return "it has no secret, and is not public"
    if secret.lower() in _KNOWN_SECRETS:
        return "everybody knows its secret; set another"
    if len(secret) < SHORTEST_SECRET:
        return f"its secret has less than {SHORTEST_SECRET} characters"
    return ""


# What a token may be used for.
#
# `api` is everything that the user may do in the console and in the cluster. The others let an
# application know who the user is, as OpenID Connect has them.


def granted(asked: str, client: Client) -> str:
    """Those of the scopes `asked` for that there are, or all where nothing is said.

    Applications of one's own get `api` without asking, as in KubeSphere, which has no such scope.
    Raises `OAuthError`.
    """
    if not asked:
        return " ".join(ALL)
    if len(asked) > MAX_LENGTH or not _TOKENS.fullmatch(asked):
        raise OAuthError("invalid_scope", "The scope cannot be read.")
    wanted = set(asked.split(" ")) | ({API} if client.consent == AUTO else set())
    found = " ".join(scope for scope in ALL if scope in wanted)
    if not found:
        raise OAuthError("invalid_scope", "There are the scopes openid, profile, email and api.")
    return found


def narrowed(asked: str, held: str) -> str:
    """For a refresh: `asked` must be a part of what is `held`. Raises `OAuthError`."""
    if not asked:
        return held
    wanted = set(asked.split(" ")) if len(asked) <= MAX_LENGTH else {""}
    if not wanted <= set(held.split(" ")):
        raise OAuthError("invalid_scope", "The scope is more than was granted.")
    return " ".join(scope for scope in ALL if scope in wanted)


# A first client, so that tokens can be had where nobody has configured any.


def make_first_client(path: Path) -> None:
    """Writes a configuration with the client `quarterdeck` and a secret that only the file's owner can
    read, unless there is a file already."""
    client = {"name": NAME, "secret": secrets.token_urlsafe(24), "grantMethod": "auto"}
    try:
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        return
    path.write_text(yaml.safe_dump({"authentication": {"oauthOptions": {"clients": [client]}}}))
