"""Forged tokens: signature, header and every claim."""

import base64
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from joserfc import jws
from joserfc.jwk import ECKey, OctKey, RSAKey

from accounts.models import SigningKey
from accounts.oauth import keys
from tests.accounts.oauth.conftest import (
    ME,
    ORIGIN,
    Program,
    claims_of,
    error_of,
)

pytestmark = pytest.mark.django_db(transaction=True)

USERINFO = "/oauth/userinfo"
LIST = "/clusters/host/pods?format=json"


async def signing() -> Any:
    row = await SigningKey.objects.aget(purpose="access")
    return keys._unsealed(row.private, "access", str(settings.SECRET_KEY))


Forge = Callable[[dict[str, Any], dict[str, Any], Any, str], str]


def _sign(header: dict[str, Any], claims: Any, key: Any, algorithm: str) -> str:
    """Sign arbitrary headers and claims with the low-level API of the library."""
    payload = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    return jws.serialize_compact(header, payload, key, [algorithm])


def _public_pem(key: Any) -> bytes:
    found: bytes = key.as_pem(private=False)
    return found


def _hmac(header: dict[str, Any], claims: dict[str, Any], secret: bytes) -> str:
    """Sign with HMAC manually, because the library refuses a public key as secret."""
    signed = f"{_b64({**header, 'alg': 'HS256'})}.{_b64(claims)}"
    digest = hmac.digest(secret, signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def _with_header(**more: Any) -> Forge:
    return lambda header, claims, key, token: _sign({**header, **more}, claims, key, "ES256")


def _with_claims(**more: Any) -> Forge:
    return lambda header, claims, key, token: _sign(header, {**claims, **more}, key, "ES256")


def _without(claim: str) -> Forge:
    return lambda header, claims, key, token: _sign(
        header, {k: v for k, v in claims.items() if k != claim}, key, "ES256"
    )


def _b64(value: Any) -> str:
    return jws.serialize_compact(
        {"alg": "HS256"}, json.dumps(value), OctKey.generate_key(256)
    ).split(".")[1]


OTHER_EC, OTHER_RSA = ECKey.generate_key("P-256"), RSAKey.generate_key(2048)
FORGED: dict[str, Forge] = {
    "no algorithm": lambda h, c, k, t: f"{_b64({**h, 'alg': 'none'})}.{t.split('.')[1]}.",
    "no algorithm, with a signature": lambda h, c, k, t: (
        f"{_b64({**h, 'alg': 'none'})}.{t.split('.')[1]}.{t.split('.')[2]}"
    ),
    "nOnE": lambda h, c, k, t: f"{_b64({**h, 'alg': 'nOnE'})}.{t.split('.')[1]}.x",
    "the public key as an HMAC secret": lambda h, c, k, t: _hmac(h, c, _public_pem(k)),
    "the key's name as an HMAC secret": lambda h, c, k, t: _sign(
        {**h, "alg": "HS256"}, c, OctKey.import_key(h["kid"]), "HS256"
    ),
    "another key": lambda h, c, k, t: _sign(h, c, OTHER_EC, "ES256"),
    "another key, which the header brings": lambda h, c, k, t: _sign(
        {**h, "jwk": OTHER_EC.as_dict(private=False)}, c, OTHER_EC, "ES256"
    ),
    "another key and its name": lambda h, c, k, t: _sign(
        {**h, "kid": OTHER_EC.thumbprint()}, c, OTHER_EC, "ES256"
    ),
    "another kind of key": lambda h, c, k, t: _sign({**h, "alg": "RS256"}, c, OTHER_RSA, "RS256"),
    "an address of keys": _with_header(jku="https://e.example.com/keys"),
    "an address of certificates": _with_header(x5u="https://e.example.com/keys"),
    "a critical extension": _with_header(crit=["b64"], b64=True),
    "a content type": _with_header(cty="JWT"),
    "typ of an id token": _with_header(typ="JWT"),
    "typ of a logout token": _with_header(typ="logout+jwt"),
    "no typ": lambda h, c, k, t: _sign({n: v for n, v in h.items() if n != "typ"}, c, k, "ES256"),
    "no name of a key": lambda h, c, k, t: _sign(
        {n: v for n, v in h.items() if n != "kid"}, c, k, "ES256"
    ),
    "a path as the name of a key": _with_header(kid="../../../../dev/null"),
    "SQL as the name of a key": _with_header(kid="' OR '1'='1"),
    "another issuer": _with_claims(iss="https://e.example.com"),
    "no issuer": _without("iss"),
    "for a client": _with_claims(aud="kubesphere"),
    "for the issuer as a text": _with_claims(aud=ORIGIN),
    "for one more": _with_claims(aud=[ORIGIN, "x"]),
    "for nobody": _without("aud"),
    "an id token by its type": _with_claims(token_type="id_token"),
    "a static token": _with_claims(token_type="static_token"),
    "no type": _without("token_type"),
    "no number": _without("jti"),
    "an unknown number": _with_claims(jti="x"),
    "a number that is none": _with_claims(jti={"$ne": 1}),
    "no end": _without("exp"),
    "an end that is past": _with_claims(exp=1),
    "an end that is a text": _with_claims(exp="9999999999"),
    "an end that is true": _with_claims(exp=True),
    "a beginning in the future": _with_claims(iat=9999999999),
    "claims that are a list": lambda h, c, k, t: _sign(h, b"[]", k, "ES256"),
    "claims that are no JSON": lambda h, c, k, t: _sign(h, b"{", k, "ES256"),
    "claims that are deep": lambda h, c, k, t: _sign(h, b"[" * 2000, k, "ES256"),
    "a cut signature": lambda h, c, k, t: t[:-2],
    "no signature": lambda h, c, k, t: t.rsplit(".", 1)[0] + ".",
    "a zero signature": lambda h, c, k, t: t.rsplit(".", 1)[0] + "." + "A" * 86,
    "another's claims": lambda h, c, k, t: ".".join(
        (t.split(".")[0], _b64({**c, "sub": "admin"}), t.split(".")[2])
    ),
    "an encrypted one": lambda h, c, k, t: t + ".a.b",
    "two dots": lambda h, c, k, t: "..",
    "a long one": lambda h, c, k, t: "a" * 5000,
    "with a comma": lambda h, c, k, t: f"{t},Bearer {t}",
    "with a space": lambda h, c, k, t: f"{t} {t}",
    "empty": lambda h, c, k, t: "",
}


@pytest.mark.parametrize("name", FORGED)
async def test_forged_tokens_get_401_everywhere(program: Program, name: str) -> None:
    token = (await program.signed_in())["access_token"]
    forged = FORGED[name](claims_of(token, 0), claims_of(token), await signing(), token)
    assert forged != token
    for path in (ME, LIST, "/livez", "/nowhere"):
        answer = await program.get(path, forged)
        assert answer.status_code == 401
        assert answer.json()["kind"] == "Status"
        assert answer["WWW-Authenticate"].startswith('Bearer realm="Quarterdeck", error=')
    assert error_of(await program.get(USERINFO, forged)) == (401, "invalid_token")
    assert error_of(await program.get("/oauth/logout", forged)) == (401, "invalid_token")
    assert await program.works(token)


async def test_a_correctly_signed_token_is_accepted(program: Program) -> None:
    """Ensures that each forged token is refused for its specific defect."""
    token = (await program.signed_in())["access_token"]
    again = _sign(claims_of(token, 0), claims_of(token), await signing(), "ES256")
    assert await program.works(again)
