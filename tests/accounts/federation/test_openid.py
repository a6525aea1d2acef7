"""OpenID Connect with a misbehaving provider: every mismatch is refused."""

import hmac
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from accounts import time as accounts_time
from accounts.mfa import factors, totp
from accounts.models import Grant
from accounts.users.directory import users
from console.kube.gvr import USERS, Key
from tests.accounts.conftest import Browser
from tests.accounts.federation.accounts import accounts_in
from tests.accounts.federation.conftest import Providers, entry
from tests.accounts.federation.openid import (
    CLIENT,
    EC,
    LOGOUT,
    OTHER,
    RSA,
    SECRET,
    OpenIDServer,
    by_hand,
    post_logout_token,
    signed,
)
from tests.accounts.federation.servers import Serve, query
from tests.accounts.mfa.conftest import STEP, App, show
from tests.rbac.fakes import FakeConsole, MovableClock

pytestmark = pytest.mark.django_db(transaction=True)

KIND = "OIDCIdentityProvider"
OUT, BACK = "/oauth/redirect/oidc", "/oauth/callback/oidc"


@pytest.fixture
async def openid(serve: Serve, providers: Providers, console: FakeConsole) -> OpenIDServer:
    found = OpenIDServer()
    found.url = await serve(found.application())
    providers.write(entry("oidc", KIND, found.fields()))
    return found


async def log_in(browser: Browser, openid: OpenIDServer, code: str = "c1", more: str = "") -> Any:
    answer = await browser.get(OUT)
    assert answer.status_code == 302, answer.content
    return await browser.get(f"{BACK}?{openid.authorize(answer['Location'], code)}{more}")


async def test_the_id_token_identifies_the_user(
    browser: Browser, openid: OpenIDServer, console: FakeConsole
) -> None:
    answer = await log_in(browser, openid)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    made = console.of(USERS)["jane"]
    # `auth0|4711` is not a valid label value.
    subject = made["metadata"]["labels"]["iam.kubesphere.io/origin-uid"]
    assert subject.startswith("sha256.") and len(subject) == 63
    assert (await log_in(Browser(), openid, "c2")).status_code == 302
    assert await accounts_in() == ["jane", "jane"]
    # Metadata and keys are cached.
    assert openid.asked == ["metadata", "token", "jwks", "token"]


async def test_name_and_email_claims_are_configurable(
    browser: Browser, openid: OpenIDServer, providers: Providers, console: FakeConsole
) -> None:
    more = {"preferredUsernameKey": "nick", "emailKey": "mail", "getUserInfo": True}
    providers.write(entry("oidc", KIND, openid.fields(scopes=["email"], **more)))
    openid.user_info = {"sub": openid.claims["sub"], "nick": "jj", "mail": "jj@example.com"}
    assert (await log_in(browser, openid)).status_code == 302
    assert console.of(USERS)["jj"]["spec"]["email"] == "jj@example.com"


async def test_user_info_of_another_subject_is_refused(
    browser: Browser, openid: OpenIDServer, providers: Providers
) -> None:
    providers.write(entry("oidc", KIND, openid.fields(getUserInfo=True)))
    openid.user_info = {"sub": "somebody else", "preferred_username": "x"}
    assert (await log_in(browser, openid)).status_code == 400
    assert await accounts_in() == []


LIES: list[dict[str, Any]] = [
    {"iss": "https://evil.example"},
    {"iss": None},
    {"aud": "another"},
    {"aud": ["another"]},
    {"aud": None},
    {"aud": [CLIENT, "another"]},
    {"azp": "another"},
    {"nonce": "another"},
    {"nonce": None},
    {"nonce": ""},
    {"exp": 1},
    {"exp": None},
    {"exp": "tomorrow"},
    {"exp": True},
    {"exp": float("inf")},
    {"nbf": 4_000_000_000},
    {"nbf": "tomorrow"},
    {"iat": 4_000_000_000},
    {"iat": None},
    {"sub": None},
    {"sub": ""},
    {"sub": 7},
    {"sub": "s" * 300},
    {"sub": "a\nb"},
]


@pytest.mark.parametrize("lies", LIES, ids=[str(lie)[:40] for lie in LIES])
async def test_invalid_claims_are_refused(
    browser: Browser, openid: OpenIDServer, lies: dict[str, Any]
) -> None:
    openid.lies = lies
    answer = await log_in(browser, openid)
    assert answer.status_code in (400, 403) and browser.key is None
    assert await accounts_in() == []


def hmac_with(secret: bytes) -> Callable[[bytes], bytes]:
    return lambda text: hmac.digest(secret, text, "sha256")


def public_pem() -> bytes:
    """Return the provider's public key in PEM format, to use as an HMAC secret."""
    key: Any = RSA.public_key
    pem: bytes = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return pem


def rightly(text: bytes) -> bytes:
    key: Any = RSA.private_key
    signature: bytes = key.sign(text, PKCS1v15(), SHA256())
    return signature


FORGED: dict[str, Callable[[OpenIDServer, str], str]] = {
    "none": lambda o, n: by_hand(o.about(nonce=n, sub="x"), lambda _: b"", alg="none"),
    "hmac with the public key": lambda o, n: by_hand(
        o.about(nonce=n, sub="x"), hmac_with(public_pem()), alg="HS256", kid="rsa"
    ),
    "hmac with the secret of the client": lambda o, n: by_hand(
        o.about(nonce=n, sub="x"), hmac_with(SECRET.encode()), alg="HS256", kid="rsa"
    ),
    "another key": lambda o, n: signed(o.about(nonce=n, sub="x"), OTHER),
    "an unknown key": lambda o, n: signed(o.about(nonce=n, sub="x"), OTHER, kid="unknown"),
    "its own key": lambda o, n: signed(
        o.about(nonce=n, sub="x"), OTHER, jwk=OTHER.as_dict(private=False)
    ),
    "a key elsewhere": lambda o, n: signed(
        o.about(nonce=n, sub="x"), OTHER, jku="https://evil.example/jwks"
    ),
    "critical": lambda o, n: by_hand(
        o.about(nonce=n, sub="x"), rightly, alg="RS256", kid="rsa", crit=["exp"], exp=1
    ),
    "the wrong kind of key": lambda o, n: signed(
        o.about(nonce=n, sub="x"), EC, alg="ES256", kid="rsa"
    ),
    "a logout token": lambda o, n: signed(o.about(nonce=n, sub="x"), typ="logout+jwt"),
    "nothing": lambda o, n: " ",
    "no token": lambda o, n: "x.y.z",
    "a list": lambda o, n: signed([1]),  # type: ignore[arg-type]
    "a long one": lambda o, n: signed(o.about(nonce=n, sub="x", more="x" * 20_000)),
    "cut": lambda o, n: signed(o.about(nonce=n, sub="x"))[:-8],
}


async def test_a_correctly_handmade_token_is_accepted(
    browser: Browser, openid: OpenIDServer
) -> None:
    """Ensures that the tokens below are refused for their specific defect."""
    location = (await browser.get(OUT))["Location"]
    claims = openid.about(nonce=query(location)["nonce"], sub="x")
    openid.token = by_hand(claims, rightly, alg="RS256", kid="rsa")
    answer = await browser.get(f"{BACK}?{openid.authorize(location, 'c1')}")
    assert answer.status_code == 302


@pytest.mark.parametrize("name", FORGED)
async def test_forged_tokens_are_refused(browser: Browser, openid: OpenIDServer, name: str) -> None:
    location = (await browser.get(OUT))["Location"]
    openid.token = FORGED[name](openid, query(location)["nonce"])
    answer = await browser.get(f"{BACK}?{openid.authorize(location, 'c1')}")
    assert answer.status_code == 400 and browser.key is None


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "PS256"), (RSA, "RS512"), (EC, "ES256")])
async def test_other_signature_algorithms_of_the_provider_are_accepted(
    browser: Browser, openid: OpenIDServer, key: Any, algorithm: str
) -> None:
    openid.key, openid.header = key, {"alg": algorithm}
    assert (await log_in(browser, openid)).status_code == 302


async def test_keys_are_refetched_for_unknown_key_ids_with_a_rate_limit(
    browser: Browser, openid: OpenIDServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = MovableClock()
    clock.time = accounts_time.now()
    monkeypatch.setattr("accounts.time.clock", clock)
    await log_in(browser, openid)
    openid.key = openid.keys[0] = type(RSA).import_key(
        {**OTHER.as_dict(private=True), "kid": "new"}
    )
    for code in ("c2", "c3", "c4"):
        assert (await log_in(Browser(), openid, code)).status_code == 400
    assert openid.asked.count("jwks") == 1
    clock.move(seconds=11)
    assert (await log_in(Browser(), openid, "c5")).status_code == 302
    assert openid.asked.count("jwks") == 2


METADATA: list[dict[str, Any]] = [
    {"issuer": "https://evil.example"},
    {"issuer": None},
    {"authorization_endpoint": None},
    {"authorization_endpoint": "javascript:alert(1)"},
    {"authorization_endpoint": "http://evil.example/authorize"},
    {"token_endpoint": ["x"]},
    {"jwks_uri": "file:///etc/passwd"},
]


@pytest.mark.parametrize("metadata", METADATA, ids=str)
async def test_invalid_metadata_is_refused(
    browser: Browser, openid: OpenIDServer, metadata: dict[str, Any]
) -> None:
    openid.metadata = metadata
    answer = await browser.get(OUT)
    assert answer.status_code == 503
    assert "oidc is not responding" in answer.content.decode()


async def test_the_iss_parameter_is_checked(browser: Browser, openid: OpenIDServer) -> None:
    """RFC 9207."""
    openid.metadata = {"authorization_response_iss_parameter_supported": True}
    assert (await log_in(browser, openid)).status_code == 400
    evil = "&iss=https%3A%2F%2Fevil.example"
    assert (await log_in(Browser(), openid, "c2", evil)).status_code == 400
    assert (await log_in(Browser(), openid, "c3", f"&iss={openid.url}")).status_code == 302


async def test_endpoints_may_be_configured(
    browser: Browser, openid: OpenIDServer, providers: Providers
) -> None:
    endpoint = {
        "authURL": f"{openid.url}/authorize",
        "tokenURL": f"{openid.url}/token",
        "jwksURL": f"{openid.url}/jwks",
    }
    providers.write(entry("oidc", KIND, openid.fields(endpoint=endpoint)))
    assert (await log_in(browser, openid)).status_code == 302
    assert "metadata" not in openid.asked


# Logout.


async def test_signing_out_redirects_to_the_end_session_endpoint(
    browser: Browser, openid: OpenIDServer
) -> None:
    await log_in(browser, openid)
    key = browser.key
    answer = await browser.post("/logout")
    page = answer.content.decode()
    assert answer.status_code == 200 and f'content="0;url={openid.url}/end?' in page
    assert "post_logout_redirect_uri=https%3A%2F%2Fconsole.example.com%2Flogin" in page
    assert "id_token_hint=ey" in page
    assert key is not None and await accounts_in() == []


async def test_signing_out_is_local_without_an_end_session_endpoint(
    browser: Browser, openid: OpenIDServer
) -> None:
    openid.metadata = {"end_session_endpoint": None}
    await log_in(browser, openid)
    answer = await browser.post("/logout")
    assert (answer.status_code, answer["Location"]) == (302, "/login")
    await browser.login("alice")
    assert (await browser.post("/logout"))["Location"] == "/login"


@pytest.fixture
async def jane(browser: Browser, openid: OpenIDServer) -> Browser:
    await log_in(browser, openid)
    return browser


async def test_a_backchannel_logout_revokes_sessions(jane: Browser, openid: OpenIDServer) -> None:
    await Browser().login("alice")
    other = Browser()
    openid.claims["sid"] = "s-2"
    await log_in(other, openid, "c2")
    assert await post_logout_token(openid.logout_token()) == 200
    assert (await jane.get("/dashboard")).status_code == 302
    assert await accounts_in() == ["alice", "jane"]
    assert await post_logout_token(openid.logout_token(sid=None)) == 200
    assert await accounts_in() == ["alice"]


async def test_a_logout_token_may_contain_only_the_session_id(
    jane: Browser, openid: OpenIDServer
) -> None:
    assert await post_logout_token(openid.logout_token(sub=None)) == 200
    assert await accounts_in() == []


async def test_a_backchannel_logout_revokes_grants(jane: Browser, openid: OpenIDServer) -> None:
    now = accounts_time.now()
    more = {"authenticated": now, "created": now, "expires": now + timedelta(hours=1)}
    for name in ("jane", "alice"):
        await Grant.objects.acreate(client="c", user=name, uid="u", credential="x", **more)
    assert await post_logout_token(openid.logout_token()) == 200
    rows = Grant.objects.exclude(ended=None).values_list("user", "reason")
    assert [row async for row in rows] == [("jane", "ProviderLogout")]


async def test_a_backchannel_logout_revokes_sessions_with_a_second_factor(
    jane: Browser, openid: OpenIDServer, clock: MovableClock
) -> None:
    """The second factor rotates the session key that was recorded for the provider's session."""
    secret, user = totp.new_secret(), users().store.snapshot().entries[Key("", "jane")].projection
    codes = await sync_to_async(factors.enable)(
        "jane", user.uid, secret, App(secret, clock).code(), clock.time
    )
    assert codes is not None
    await log_in(jane, openid, "c2")
    assert (await jane.get("/dashboard"))["Location"].startswith(STEP)
    assert (await show(jane, codes[0])).status_code == 302
    assert (await jane.get("/dashboard")).status_code == 200
    assert await post_logout_token(openid.logout_token()) == 200
    assert await accounts_in() == []


async def test_a_logout_token_is_accepted_once(jane: Browser, openid: OpenIDServer) -> None:
    token = openid.logout_token()
    assert [await post_logout_token(token), await post_logout_token(token)] == [200, 400]
    await log_in(jane, openid, "c2")
    assert await post_logout_token(token) == 400
    assert await accounts_in() == ["jane"]


FORGED_LOGOUTS: dict[str, Callable[[OpenIDServer], str]] = {
    "an id token": lambda o: signed(o.about(sub="x", nonce="n")),
    "of the type of an id token": lambda o: o.logout_token({"typ": "JWT"}),
    "with a nonce": lambda o: o.logout_token(nonce="n"),
    "without an event": lambda o: o.logout_token(events=None),
    "of another event": lambda o: o.logout_token(events={"x": {}}),
    "of a list of events": lambda o: o.logout_token(events=["x"]),
    "without a number": lambda o: o.logout_token(jti=None),
    "about nobody": lambda o: o.logout_token(sub=None, sid=None),
    "about a number": lambda o: o.logout_token(sid=7),
    "of another issuer": lambda o: o.logout_token(iss="https://evil.example"),
    "for another client": lambda o: o.logout_token(aud="another"),
    "expired": lambda o: o.logout_token(exp=1),
    "old": lambda o: o.logout_token(iat=int(time.time()) - 600),
    "older than a float can say": lambda o: o.logout_token(iat=-(10**400)),
    "without a time": lambda o: o.logout_token(iat=None),
    "of another key": lambda o: o.logout_token({"key": OTHER}),
    "nothing": lambda _o: "",
    "no token": lambda _o: "x",
}


@pytest.mark.parametrize("name", FORGED_LOGOUTS)
async def test_forged_logout_tokens_are_refused(
    jane: Browser, openid: OpenIDServer, name: str
) -> None:
    assert await post_logout_token(FORGED_LOGOUTS[name](openid)) == 400
    assert await accounts_in() == ["jane"]


async def test_a_logout_of_an_unknown_provider_is_refused(
    jane: Browser, openid: OpenIDServer
) -> None:
    assert await post_logout_token(openid.logout_token(), "/oauth/backchannel/nobody") == 400
    assert (await jane.get(LOGOUT)).status_code == 405
    assert await accounts_in() == ["jane"]
