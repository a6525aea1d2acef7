"""`/oauth/authorize`: requests that are not redirected, and errors returned to the client."""

import pytest

from accounts.models import AuthorizationCode
from tests.accounts.conftest import Browser
from tests.accounts.oauth.conftest import (
    CALLBACK,
    ORIGIN,
    PKCE,
    authorize_url,
    error_of,
    sent,
)
from tests.rbac.fakes import MovableClock

pytestmark = pytest.mark.django_db(transaction=True)

OTHER = "https://other.example.com/cb"


# Errors without a redirect.


@pytest.mark.parametrize(
    ("client", "redirect_uri"),
    [
        ("kubesphere", ""),
        ("kubesphere", CALLBACK + "/x"),
        ("kubesphere", CALLBACK + "?a"),
        ("kubesphere", CALLBACK + "#a"),
        ("kubesphere", "https://app.example.com:8443/callback"),
        ("kubesphere", "https://APP.example.com/callback"),
        ("kubesphere", "https://app.example.com/Callback"),
        ("kubesphere", "https://app.example.com/callback/../evil"),
        ("kubesphere", OTHER),
        ("kubesphere", "https://e.example.com"),
        ("kubesphere", "javascript:alert(1)"),
        ("cli", "http://127.0.0.1:8401/cb"),
        ("cli", "http://localhost:8400/cb"),
        ("nobody", CALLBACK),
        ("", CALLBACK),
        ("kube-apiserver", CALLBACK),
    ],
)
async def test_unknown_clients_and_redirect_uris_are_not_redirected(
    alice: Browser, client: str, redirect_uri: str
) -> None:
    url = authorize_url(client, redirect_uri, **PKCE)
    answer = await alice.get(url)
    assert error_of(answer) == (400, "invalid_request")
    assert "Location" not in answer
    page = await alice.get(url.replace("authorize?", "authorize/confirm?"))
    assert page.status_code == 400
    assert 'http-equiv="refresh"' not in page.content.decode()
    assert await AuthorizationCode.objects.acount() == 0


@pytest.mark.parametrize(
    "more",
    [
        "&client_id=kubesphere",
        "&redirect_uri=https://e.example.com",
        "&state=x",
        "&state=%00",
        "&x=%ff",
        "&" + "a" * 2000,
        "&" + "&".join(f"a{i}=1" for i in range(50)),
    ],
)
async def test_ambiguous_requests_are_refused(alice: Browser, more: str) -> None:
    answer = await alice.get(authorize_url(**PKCE) + more)
    assert error_of(answer) == (400, "invalid_request")


# Errors returned to the client.


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": ""}, "unsupported_response_type"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"scope": "nothing-of-ours", "client": "other", "redirect_uri": OTHER}, "invalid_scope"),
        ({"scope": '"'}, "invalid_scope"),
        ({"nonce": "a b"}, "invalid_request"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"prompt": "login"}, "login_required"),
        ({"prompt": "x"}, "invalid_request"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"max_age": "9" * 30}, "invalid_request"),
        ({"request": "eyJ"}, "request_not_supported"),
        ({"request_uri": "https://e.example.com"}, "request_not_supported"),
        ({"client": "denied"}, "access_denied"),
        ({"client": "no-code"}, "unauthorized_client"),
        ({"client": "other", "redirect_uri": OTHER, "prompt": "none"}, "consent_required"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
    ],
)
async def test_errors_are_returned_to_the_client_with_state(
    alice: Browser, more: dict[str, str], code: str
) -> None:
    back = sent(await alice.get(authorize_url(**more)), more.get("redirect_uri", CALLBACK))
    assert (back["error"], back["state"], back["iss"]) == (code, "a b&c=d", ORIGIN)
    assert "code" not in back
    assert await AuthorizationCode.objects.acount() == 0


async def test_the_query_of_the_redirect_uri_is_kept(alice: Browser) -> None:
    answer = await alice.get(authorize_url(redirect_uri="https://app.example.com/with?query=1"))
    assert answer["Location"].startswith("https://app.example.com/with?query=1&code=")


async def test_no_state_is_returned_without_state(alice: Browser) -> None:
    assert set(sent(await alice.get(authorize_url(state="")))) == {"code", "iss"}


async def test_max_age_is_enforced(alice: Browser, clock: MovableClock) -> None:
    clock.move(seconds=100)
    assert "code" in sent(await alice.get(authorize_url(max_age="3600")))
    assert sent(await alice.get(authorize_url(max_age="60")))["error"] == "login_required"


async def test_max_age_is_enforced_at_the_time_of_consent(
    alice: Browser, clock: MovableClock
) -> None:
    """The consent page can stay open in the browser."""
    page = (await alice.get(authorize_url(prompt="consent", max_age="60")))["Location"]
    assert "requests access" in (await alice.get(page)).content.decode()
    clock.move(seconds=100)
    answer = await alice.post(page, {"decision": "allow"})
    assert "error=login_required" in answer.content.decode()
    assert await AuthorizationCode.objects.acount() == 0
