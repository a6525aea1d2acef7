"""Metadata, keys and signed tokens of OpenID Connect providers. Metadata and keys are cached.

https://openid.net/specs/openid-connect-discovery-1_0.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from joserfc import jwk, jws, jwt
from joserfc.errors import JoseError

from accounts.jose import UNREADABLE, claims_of
from accounts.providers.base import EndedSessions, ProviderRefused, Unreachable
from accounts.providers.options import url_problem
from accounts.providers.web import ProviderHttpClient
from accounts.time import monotonic, now

WELL_KNOWN = "/.well-known/openid-configuration"
KEPT = timedelta(minutes=10)
#: An unknown key ID causes the keys to be fetched again, at most this often.
KEYS_AGAIN = timedelta(seconds=10)
MAX_KEYS = 64
#: Asymmetric algorithms only. Algorithms with a shared secret and `none` are not accepted.
ALGORITHMS = {
    "RSA": frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}),
    "EC": frozenset({"ES256", "ES384", "ES512"}),
    "OKP": frozenset({"EdDSA", "Ed25519"}),
}

Key = jwk.Key


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Endpoints of a provider.

    `end_session` and `user_info` are "" if missing. `sends_issuer` is True if callbacks contain
    the issuer (RFC 9207).
    """

    issuer: str
    authorization: str
    token: str
    jwks: str
    user_info: str = ""
    end_session: str = ""
    basic: bool = True
    sends_issuer: bool = False


class Discovery:
    """Cached metadata and keys of a provider.

    `fixed` contains endpoints from the configuration, which replace the discovery document.
    """

    def __init__(self, web: ProviderHttpClient, issuer: str, fixed: Endpoints | None) -> None:
        self._web = web
        self._issuer = issuer
        self._fixed = fixed
        self._found: tuple[float, Endpoints] | None = None
        self._keys: dict[str, Key] = {}
        self._keys_read: float | None = None

    async def endpoints(self) -> Endpoints:
        """Return the provider's endpoints. Raise `Unreachable`."""
        if self._fixed is not None:
            return self._fixed
        moment = monotonic()
        if self._found is None or moment - self._found[0] >= KEPT.total_seconds():
            address = self._issuer.rstrip("/") + WELL_KNOWN
            self._found = (moment, _read(await self._web.json_at(address), self._issuer))
        return self._found[1]

    async def key(self, kid: str, algorithm: str) -> Key | None:
        """Return the provider's key with this ID for this algorithm, or None. Raise `Unreachable`."""
        if self._is_old(KEPT) or (kid not in self._keys and self._is_old(KEYS_AGAIN)):
            endpoints = await self.endpoints()
            keys = _keys(await self._web.json_at(endpoints.jwks))
            self._keys, self._keys_read = keys, monotonic()
        # A provider with a single key may omit its key ID.
        found = self._keys.get(kid) if kid or len(self._keys) != 1 else [*self._keys.values()][0]
        fits = found is not None and algorithm in ALGORITHMS.get(found.key_type, ())
        return found if fits else None

    def _is_old(self, age: timedelta) -> bool:
        read = self._keys_read
        return read is None or monotonic() - read >= age.total_seconds()


def _read(found: dict[str, Any], issuer: str) -> Endpoints:
    """Validate a discovery document. Raise `Unreachable`."""
    # Section 4.3: the issuer must match exactly; otherwise another provider could impersonate it.
    if found.get("issuer") != issuer:
        raise Unreachable("WrongIssuer", "the discovery document contains a different issuer")

    def address(name: str, *, needed: bool = True) -> str:
        value = found.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or url_problem(value):
            raise Unreachable("BadMetadata", f"{name} is not a valid URL")
        return value

    methods = found.get("token_endpoint_auth_methods_supported")
    return Endpoints(
        issuer=issuer,
        authorization=address("authorization_endpoint"),
        token=address("token_endpoint"),
        jwks=address("jwks_uri"),
        user_info=address("userinfo_endpoint", needed=False),
        end_session=address("end_session_endpoint", needed=False),
        basic=not isinstance(methods, list) or "client_secret_basic" in methods,
        sends_issuer=found.get("authorization_response_iss_parameter_supported") is True,
    )


def _keys(found: dict[str, Any]) -> dict[str, Key]:
    """Return the supported keys by ID; others are ignored (RFC 7517, section 5)."""
    listed = found.get("keys")
    keys: dict[str, Key] = {}
    for raw in listed[:MAX_KEYS] if isinstance(listed, list) else ():
        if not isinstance(raw, dict) or raw.get("use", "sig") != "sig":
            continue
        if raw.get("kty") not in ALGORITHMS:
            continue
        try:
            keys[str(raw.get("kid", ""))] = jwk.import_key(raw)
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return keys


# Tokens signed by an OpenID provider: ID tokens and logout tokens.
#
# https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
#
# https://openid.net/specs/openid-connect-backchannel-1_0.html#Validation

MAX_TOKEN = 16 * 1024
#: Maximum difference between the provider's clock and ours.
SKEW = timedelta(seconds=60)
#: Maximum age of a logout token.
LOGOUT_AGE = timedelta(minutes=2)
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LOGOUT_TYPE = "logout+jwt"
MAX_SUBJECT = 255

_EVERY = frozenset[str]().union(*ALGORITHMS.values())
#: Accepted header members. Any other member would request unsupported processing.
_HEADER = frozenset({"alg", "kid", "typ", "x5t", "x5t#S256"})

Claims = dict[str, Any]


async def read_id_token(
    token: str, discovery: Discovery, issuer: str, client: str, nonce: str
) -> Claims:
    """Verify an ID token with this nonce and return its claims. Raise `ProviderError`."""
    header, claims = await _verified(token, discovery)
    if str(header.get("typ", "JWT")).lower() == LOGOUT_TYPE:
        raise ProviderRefused("WrongType", "the token is not an ID token")
    _check(claims, issuer, client)
    if not nonce or claims.get("nonce") != nonce:
        raise ProviderRefused("WrongNonce", "the ID token's nonce is wrong")
    if not _subject(claims):
        raise ProviderRefused("NoSubject", "the ID token has no subject")
    return claims


async def read_logout_token(
    token: str, discovery: Discovery, issuer: str, client: str
) -> EndedSessions:
    """Verify a logout token. Raise `ProviderError`."""
    header, claims = await _verified(token, discovery)
    if str(header.get("typ", "")).lower() != LOGOUT_TYPE:
        raise ProviderRefused("WrongType", "the token is not a logout token")
    _check(claims, issuer, client)
    if _now() - claims["iat"] > (LOGOUT_AGE + SKEW).total_seconds():
        raise ProviderRefused("TooOld", "the logout token is too old")
    events = claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT_EVENT), dict):
        raise ProviderRefused("WrongEvent", "the token contains no logout event")
    if "nonce" in claims:
        raise ProviderRefused("WrongType", "a logout token must not have a nonce")
    sid, number = claims.get("sid", ""), claims.get("jti")
    if not isinstance(number, str) or not 0 < len(number) <= MAX_SUBJECT:
        raise ProviderRefused("NoNumber", "the logout token has no valid ID (jti)")
    if not isinstance(sid, str) or len(sid) > MAX_SUBJECT or not (sid or _subject(claims)):
        raise ProviderRefused("NoSubject", "the logout token has neither subject nor session ID")
    return EndedSessions(_subject(claims), sid, number)


async def _verified(token: str, discovery: Discovery) -> tuple[Mapping[str, Any], Claims]:
    """Verify a signature and return header and claims. The header only selects one of the
    provider's keys.
    """
    if len(token) > MAX_TOKEN or not token.isascii():
        raise ProviderRefused("NotAToken", "the token is too long or malformed")
    try:
        found = jws.extract_compact(token.encode())
        header = found.headers()
        algorithm, kid = str(header.get("alg")), str(header.get("kid", ""))
        if algorithm not in _EVERY or not _HEADER.issuperset(header):
            raise ProviderRefused(
                "WrongAlgorithm", "the token's signature algorithm or header is not accepted"
            )
        claims = claims_of(found, await discovery.key(kid, algorithm), algorithm)
    except UNREADABLE as error:
        raise ProviderRefused("NotAToken", "the token is malformed") from error
    if claims is None:
        raise ProviderRefused("WrongSignature", "the token is not signed by the provider")
    return header, claims


def _check(claims: Claims, issuer: str, client: str) -> None:
    """Validate issuer, audience and lifetime. Raise `ProviderRefused`."""
    right = jwt.JWTClaimsRegistry(
        now=_now(),
        leeway=int(SKEW.total_seconds()),
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client},
        iat={"essential": True},
        exp={"essential": True},
    )
    try:
        right.validate(claims)
    except JoseError as error:
        raise ProviderRefused("WrongClaims", str(error)) from error
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", client) != client or (several and "azp" not in claims):
        raise ProviderRefused("WrongAudience", "the token was issued to another application")


def _now() -> int:
    """Return an integer, because a claim can be a number too large for a float."""
    return int(now().timestamp())


def _subject(claims: Claims) -> str:
    found = claims.get("sub", "")
    return found if isinstance(found, str) and len(found) <= MAX_SUBJECT else ""
