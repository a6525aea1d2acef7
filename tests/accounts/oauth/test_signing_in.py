"""`/oauth/authorize` for users who are not signed in or must give consent."""

import re
from typing import Any

import pytest

from accounts.models import AuthorizationCode
from console.audit.models import AuditRecord
from tests.accounts.conftest import PASSWORD, Browser
from tests.accounts.oauth.conftest import (
    CALLBACK,
    PKCE,
    SECRET,
    VERIFIER,
    Program,
    authorize_url,
    basic,
    claims_of,
    error_of,
    sent,
)

pytestmark = pytest.mark.django_db(transaction=True)

OTHER = "https://other.example.com/cb"


# Not signed in.


async def test_a_browser_signs_in_and_returns_to_the_client(
    browser: Browser, program: Program
) -> None:
    answer = await browser.get(authorize_url(**PKCE), Accept="text/html,*/*")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/login?next=%2Foauth%2Fauthorize%2Fconfirm%3F")
    form = (await browser.get(answer["Location"])).context["form"]
    on = await browser.login("alice", next=form.next)
    assert on["Location"].startswith("/oauth/authorize/confirm?")
    page = await browser.get(on["Location"])
    assert page.status_code == 200
    where = re.search(
        r'content="0;url=(https://app\.example\.com/callback\?[^"]+)"', page.content.decode()
    )
    assert where
    code = re.search(r"code=([\w-]+)", where[1])
    assert code
    assert "state=a+b%26c%3Dd" in where[1]
    answer = await program.token(
        "authorization_code", code=code[1], redirect_uri=CALLBACK, code_verifier=VERIFIER
    )
    assert answer.status_code == 200


async def test_a_non_browser_client_gets_a_challenge(program: Program) -> None:
    for answer in (
        await program.get(authorize_url()),
        await program.get(
            authorize_url("basic", "https://basic.example.com/cb"), Accept="text/html"
        ),
    ):
        assert error_of(answer) == (401, "login_required")
        assert answer["WWW-Authenticate"].startswith("Basic ")


async def test_prompt_none_returns_login_required(browser: Browser) -> None:
    answer = await browser.get(authorize_url(prompt="none"), Accept="text/html")
    assert sent(answer)["error"] == "login_required"


async def test_basic_authentication_returns_a_code(program: Program) -> None:
    answer = await program.get(authorize_url(), Authorization=basic("alice", PASSWORD))
    code = sent(answer)["code"]
    assert not answer.cookies
    assert (
        await program.token("authorization_code", code=code, redirect_uri=CALLBACK)
    ).status_code == 200


@pytest.mark.parametrize("name", ["alice", "nobody", "disabled", "", "Alice"])
async def test_basic_authentication_with_a_wrong_password_is_refused(
    program: Program, name: str
) -> None:
    answer = await program.get(authorize_url(), Authorization=basic(name, "wrong"))
    assert error_of(answer) == (401, "login_required")
    assert (await AuditRecord.objects.alatest("id")).code == 401


async def test_a_session_together_with_basic_authentication_is_refused(alice: Browser) -> None:
    answer = await alice.get(authorize_url(), Authorization=basic("admin", PASSWORD))
    assert sent(answer)["error"] == "invalid_request"


async def test_an_access_token_cannot_authorize_clients(program: Program) -> None:
    token = (await program.signed_in())["access_token"]
    assert error_of(await program.get(authorize_url(), token)) == (401, "login_required")
    url = authorize_url("other", OTHER).replace("authorize?", "authorize/confirm?")
    page = await program.get(url, token)
    assert "login_required" in page.content.decode()


async def test_authorization_requests_can_be_posted(alice: Browser, program: Program) -> None:
    path, _, query = authorize_url().partition("?")
    header = basic("alice", PASSWORD)
    assert "code" in sent(await program.send(path, query, Authorization=header))
    assert error_of(await program.send(path + "?" + query, query))[1] == "invalid_request"


# Consent.


async def consent_page(alice: Browser, **more: str) -> tuple[str, Any]:
    answer = await alice.get(authorize_url("other", OTHER, **more))
    assert answer.status_code == 302
    url = answer["Location"]
    assert url.startswith("/oauth/authorize/confirm?")
    return url, await alice.get(url)


async def test_a_foreign_application_needs_consent(alice: Browser) -> None:
    url, page = await consent_page(alice, scope="openid email")
    text = page.content.decode()
    assert page.status_code == 200
    assert "other" in text and "alice" in text and OTHER in text
    assert "read your username" in text and "perform every action" not in text
    assert await AuthorizationCode.objects.acount() == 0
    done = await alice.post(url, {"decision": "allow"})
    where = re.search(r'content="0;url=([^"]+)"', done.content.decode())
    assert where and where[1].startswith(OTHER + "?code=")


async def test_the_consent_page_names_full_access(alice: Browser) -> None:
    assert "perform every action" in (await consent_page(alice))[1].content.decode()
    assert "perform every action" in (await consent_page(alice, scope="api"))[1].content.decode()


@pytest.mark.parametrize("decision", ["deny", "", "ALLOW"])
async def test_other_decisions_than_allow_are_refusals(alice: Browser, decision: str) -> None:
    url, _ = await consent_page(alice)
    done = await alice.post(url, {"decision": decision})
    assert "error=access_denied" in done.content.decode()
    assert await AuthorizationCode.objects.acount() == 0


async def test_consent_requires_a_csrf_token(alice: Browser) -> None:
    url, _ = await consent_page(alice)
    alice.client.handler.enforce_csrf_checks = True
    assert (await alice.post(url, {"decision": "allow"})).status_code == 403
    answer = await alice.post(url, {"decision": "allow"}, Sec_Fetch_Site="cross-site")
    assert answer.status_code == 403
    assert await AuthorizationCode.objects.acount() == 0


async def test_prompt_consent_shows_the_consent_page(alice: Browser) -> None:
    answer = await alice.get(authorize_url(prompt="consent"))
    assert answer["Location"].startswith("/oauth/authorize/confirm?")
    assert "requests access" in (await alice.get(answer["Location"])).content.decode()


async def test_a_token_with_the_openid_scope_only_has_no_api_access(
    alice: Browser, program: Program
) -> None:
    url, _ = await consent_page(alice, scope="openid")
    page = (await alice.post(url, {"decision": "allow"})).content.decode()
    code = re.search(r"code=([\w-]+)", page)
    assert code
    other = Program("other", "other-" + SECRET)
    answer = await other.token("authorization_code", code=code[1], redirect_uri=OTHER)
    token = answer.json()["access_token"]
    assert claims_of(token)["scope"] == "openid"
    assert (await other.get("/oauth/userinfo", token)).json() == {"sub": "alice"}
    mine = await other.get("/kapis/iam.kubesphere.io/v1alpha2/users/alice", token)
    assert (mine.status_code, mine.json()["reason"]) == (403, "Forbidden")
    assert (await other.get("/clusters/host/pods?format=json", token)).status_code == 401
