"""The authorization code flow with GitHub and GitLab: accepted and refused sign-ins."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from django.core import signing

from accounts.federation import onetime
from accounts.models import OneTime
from console.kube.gvr import USERS
from console.kube.informer import Informer
from tests.accounts.conftest import ORIGIN, Browser
from tests.accounts.federation.accounts import accounts_in, linked
from tests.accounts.federation.code_flow import BACK, GITHUB, GITLAB, OUT, back, log_in, out
from tests.accounts.federation.conftest import Providers, entry, reasons
from tests.accounts.federation.servers import CodeServer, Serve, query
from tests.kube.fakes import FakeTime
from tests.rbac.fakes import FakeConsole, MovableClock

pytestmark = pytest.mark.django_db(transaction=True)

PODS = "/clusters/host/pods"


@pytest.fixture
async def hub(serve: Serve, providers: Providers, console: FakeConsole) -> CodeServer:
    """A GitHub provider named `hub`, where Jane is signed in."""
    found = CodeServer(person={"login": "Jane", "id": 4711, "email": "jane@example.com"})
    url = await serve(found.application())
    providers.write(entry("hub", GITHUB, found.fields(url)))
    return found


async def test_the_first_sign_in_creates_a_user_and_the_second_finds_it(
    browser: Browser, hub: CodeServer, console: FakeConsole
) -> None:
    answer = await log_in(browser, hub, PODS)
    assert (answer.status_code, answer["Location"]) == (302, PODS)
    made = console.of(USERS)["jane"]
    assert made["metadata"]["labels"] == {
        "iam.kubesphere.io/identify-provider": "hub",
        "iam.kubesphere.io/origin-uid": "Jane",
    }
    assert made["spec"] == {"email": "jane@example.com"}
    assert (await browser.get("/login"))["Location"] == "/"
    other = Browser()
    hub.person["email"] = "other@example.com"
    assert (await log_in(other, hub, code="c2"))["Location"] == "/"
    written = [call[1] for call in console.calls]
    assert written == ["users", "loginrecords", "loginrecords"]
    assert await reasons() == [(200, ""), (200, "")]


async def test_the_authorization_request_contains_all_checked_parameters(
    browser: Browser, hub: CodeServer
) -> None:
    answer = await browser.get(OUT)
    asked = query(answer["Location"])
    assert asked["redirect_uri"] == f"{ORIGIN}{BACK}"
    assert asked["scope"] == "user"
    assert len(asked["state"]) >= 43 and len(asked["code_challenge"]) == 43
    cookie = answer.cookies["__Host-quarterdeck-login"]
    assert (cookie["path"], cookie["samesite"], cookie["max-age"]) == ("/", "Lax", 600)
    assert cookie["secure"] and cookie["httponly"] and not cookie["domain"]
    again = query((await Browser().get(OUT))["Location"])
    assert again["state"] != asked["state"]
    assert again["code_challenge"] != asked["code_challenge"]


async def test_the_callback_url_of_kubesphere_works_if_configured(
    browser: Browser, hub: CodeServer, providers: Providers, serve: Serve
) -> None:
    url = await serve(hub.application())
    fields = hub.fields(url, redirectURL=f"{ORIGIN}{OUT}")
    providers.write(entry("hub", GITHUB, fields))
    location = await out(browser)
    assert query(location)["redirect_uri"] == f"{ORIGIN}{OUT}"
    state = hub.authorize(location, "c1")
    answer = await browser.get(f"{OUT}?code=c1&state={state}")
    assert (answer.status_code, answer["Location"]) == (302, "/")


async def test_gitlab_users_are_identified_by_id(
    browser: Browser, hub: CodeServer, serve: Serve, providers: Providers, console: FakeConsole
) -> None:
    hub.person = {"id": 42, "username": "jane.doe", "email": "jane@example.com"}
    fields = hub.fields(await serve(hub.application()))
    providers.write(entry("hub", GITLAB, fields))
    assert (await log_in(browser, hub)).status_code == 302
    labels = console.of(USERS)["jane.doe"]["metadata"]["labels"]
    assert labels["iam.kubesphere.io/origin-uid"] == "42"


async def test_github_users_can_be_identified_by_id(
    browser: Browser, hub: CodeServer, serve: Serve, providers: Providers, console: FakeConsole
) -> None:
    fields = hub.fields(await serve(hub.application()), userIDKey="id")
    providers.write(entry("hub", GITHUB, fields))
    assert (await log_in(browser, hub)).status_code == 302
    labels = console.of(USERS)["jane"]["metadata"]["labels"]
    assert labels["iam.kubesphere.io/origin-uid"] == "4711"


# Existing users.


async def test_users_are_found_only_by_provider_and_subject(
    browser: Browser, hub: CodeServer, users: Informer[Any], console: FakeConsole
) -> None:
    """Users choose names and email addresses at the provider themselves."""
    console.put(USERS, linked("other", "Jane", provider="lab", email="o@example.com"))
    console.put(USERS, linked("known", "Jane", email="known@example.com"))
    hub.person |= {"email": "admin@example.com"}
    assert (await log_in(browser, hub)).status_code == 302
    assert await accounts_in() == ["known"]


@pytest.mark.parametrize("state", ["Disabled", "Whatever"])
async def test_disabled_users_are_refused(
    browser: Browser, hub: CodeServer, console: FakeConsole, state: str
) -> None:
    console.put(USERS, linked("known", "Jane", state=state))
    answer = await log_in(browser, hub)
    assert answer.status_code == 403
    assert "permission to sign in to this console" in answer.content.decode()
    assert await accounts_in() == []
    assert await reasons() == [(403, state)]


async def test_ambiguous_links_are_refused(
    browser: Browser, hub: CodeServer, console: FakeConsole
) -> None:
    console.put(USERS, linked("first", "Jane"))
    console.put(USERS, linked("second", "Jane"))
    assert (await log_in(browser, hub)).status_code == 403
    assert await accounts_in() == []


async def test_mapping_lookup_creates_no_users(
    browser: Browser, hub: CodeServer, providers: Providers, serve: Serve, console: FakeConsole
) -> None:
    fields = hub.fields(await serve(hub.application()))
    providers.write(entry("hub", GITHUB, fields, mappingMethod="lookup"))
    assert (await log_in(browser, hub)).status_code == 403
    assert console.calls == []
    console.put(USERS, linked("known", "Jane"))
    assert (await log_in(Browser(), hub, code="c2")).status_code == 302
    assert await accounts_in() == ["known"]


async def test_signing_in_replaces_the_previous_session(browser: Browser, hub: CodeServer) -> None:
    await browser.login("alice")
    before = browser.key
    assert before is not None
    await log_in(browser, hub)
    assert browser.key not in (None, before)
    assert await accounts_in() == ["jane"]


# Refused sign-ins.


async def test_a_callback_is_accepted_once(browser: Browser, hub: CodeServer) -> None:
    location = await out(browser)
    kept = browser.client.cookies["__Host-quarterdeck-login"].value
    assert (await back(browser, hub, location)).status_code == 302
    again = Browser()
    again.client.cookies["__Host-quarterdeck-login"] = kept
    hub.grants["c1"].used = False
    state = query(location)["state"]
    answer = await again.get(f"{BACK}?code=c1&state={state}")
    assert (answer.status_code, again.key) == (400, None)
    assert (await reasons())[-1] == (400, "StateReused")
    assert hub.asked.count("/token") == 1


async def test_concurrent_callbacks_succeed_once(browser: Browser, hub: CodeServer) -> None:
    location = await out(browser)
    kept = browser.client.cookies["__Host-quarterdeck-login"].value
    state = hub.authorize(location, "c1")

    async def come() -> int:
        one = Browser()
        one.client.cookies["__Host-quarterdeck-login"] = kept
        answer = await one.get(f"{BACK}?code=c1&state={state}")
        return int(answer.status_code)

    found = await asyncio.gather(*(come() for _each in range(10)))
    assert sorted(found) == [302] + [400] * 9
    assert hub.asked.count("/token") == 1


async def test_a_callback_is_bound_to_the_browser(browser: Browser, hub: CodeServer) -> None:
    """Login CSRF: an attacker's callback URL must not sign the victim in to the attacker's account."""
    state = hub.authorize(await out(Browser()), "c1")
    for one in (Browser(), browser):
        if one is browser:
            await out(browser)
        answer = await one.get(f"{BACK}?code=c1&state={state}")
        assert (answer.status_code, one.key) == (400, None)
    assert hub.asked == []


@pytest.mark.parametrize(
    "query_string",
    [
        "",
        "code=c1",
        "state={state}",
        "code=&state={state}",
        "code=c1&state=",
        "code=c1&state=x",
        "code=c1&state={state}x",
        "code=c1&state={state}&state={state}",
        "code=c1&code=c2&state={state}",
        "code=" + "c" * 5000 + "&state={state}",
        "error=access_denied&state={state}",
        "error=access_denied&code=c1&state={state}",
        "code=unknown&state={state}",
        "code=c1%00&state={state}",
        "ticket=c1&state={state}",
    ],
)
async def test_malformed_callbacks_are_refused(
    browser: Browser, hub: CodeServer, query_string: str
) -> None:
    state = hub.authorize(await out(browser), "c1")
    answer = await browser.get(f"{BACK}?{query_string.format(state=state)}")
    assert (answer.status_code, browser.key) == (400, None)
    assert "Could not sign in" in answer.content.decode()
    # Each sign-in attempt gets one callback.
    assert browser.client.cookies["__Host-quarterdeck-login"].value == ""


async def test_a_sign_in_attempt_expires_after_ten_minutes(
    browser: Browser, hub: CodeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = await out(browser)
    monkeypatch.setattr(signing, "time", FakeTime(601))
    assert (await back(browser, hub, location)).status_code == 400
    assert hub.asked == []


async def test_a_modified_state_cookie_is_refused(browser: Browser, hub: CodeServer) -> None:
    state = hub.authorize(await out(browser), "c1")
    for edited in ("", "x", "x:y:z", browser.client.cookies["__Host-quarterdeck-login"].value[1:]):
        one = Browser()
        one.client.cookies["__Host-quarterdeck-login"] = edited
        assert (await one.get(f"{BACK}?code=c1&state={state}")).status_code == 400


@pytest.mark.parametrize("code", ["", "x" * 5_000])
async def test_a_callback_without_a_valid_code_does_not_call_the_provider(
    browser: Browser, hub: CodeServer, code: str
) -> None:
    state = hub.authorize(await out(browser), "c1")
    assert (await browser.get(f"{BACK}?code={code}&state={state}")).status_code == 400
    assert hub.asked == []


async def test_a_callback_of_another_provider_is_refused(
    browser: Browser, hub: CodeServer, providers: Providers, serve: Serve
) -> None:
    """Mix-up attack (RFC 9700, section 4.4): a provider must not receive codes of another provider."""
    honest = hub.fields(await serve(hub.application()))
    evil = CodeServer(person={"login": "x", "id": 1})
    fields = evil.fields(await serve(evil.application()))
    providers.write(entry("hub", GITHUB, honest), entry("evil", GITHUB, fields))
    state = hub.authorize(await out(browser), "c1")
    answer = await browser.get(f"/oauth/callback/evil?code=c1&state={state}")
    assert (answer.status_code, browser.key) == (400, None)
    assert evil.asked == []


async def test_the_same_subject_at_two_providers_is_two_users(
    browser: Browser, hub: CodeServer, providers: Providers, serve: Serve, console: FakeConsole
) -> None:
    url = await serve(hub.application())
    providers.write(
        entry("hub", GITHUB, hub.fields(url)),
        entry("lab", GITHUB, hub.fields(url), disableLoginConfirmation=False),
    )
    await log_in(browser, hub)
    location = (await browser.get("/oauth/redirect/lab"))["Location"]
    state = hub.authorize(location, "c2")
    answer = await browser.get(f"/oauth/callback/lab?code=c2&state={state}")
    assert answer["Location"] == "/login/confirm"
    assert await accounts_in() == ["jane"]


@pytest.mark.parametrize(
    "path", ["/oauth/redirect/nobody", "/oauth/callback/nobody?code=1&state=2"]
)
async def test_an_unknown_provider_is_not_found(
    browser: Browser, hub: CodeServer, path: str
) -> None:
    assert (await browser.get(path)).status_code == 404
    # Posts to this path are logout requests of a provider.
    assert (await browser.post(path)).status_code in (400, 404, 405)


@pytest.mark.parametrize(
    "next_url",
    [
        "//evil.example",
        "/\\evil.example",
        "/%09/evil.example",
        "https:evil.example",
        "https://evil.example",
        "/x%0d%0aSet-Cookie:a=b",
        "javascript:alert(1)",
        "/login",
        "/oauth/callback/hub",
        "/nowhere",
    ],
)
async def test_unsafe_next_urls_are_ignored(
    browser: Browser, hub: CodeServer, next_url: str
) -> None:
    answer = await log_in(browser, hub, next_url)
    assert (answer.status_code, answer["Location"]) == (302, "/")


# Provider failures.


def json_text(body: bytes) -> web.Response:
    return web.Response(body=body, content_type="application/json")


@pytest.mark.parametrize("path", ["/token", "/user"])
@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (lambda: web.Response(status=500), 503),
        (lambda: web.Response(status=302, headers={"Location": "/user"}), 503),
        (lambda: web.Response(text="<html>", content_type="text/html"), 503),
        (lambda: json_text(b"[" * 100_000), 503),
        (lambda: json_text(b"{" + b" " * 600_000 + b"}"), 503),
        (lambda: web.json_response([1]), 503),
        (lambda: web.json_response({}), 400),
    ],
    ids=["500", "redirect", "html", "deep", "huge", "list", "empty"],
)
async def test_invalid_provider_responses_are_refused(
    browser: Browser, hub: CodeServer, path: str, answer: Callable[[], web.Response], status: int
) -> None:
    hub.instead[path] = answer()
    found = await log_in(browser, hub)
    assert (found.status_code, browser.key) == (status, None)
    if path == "/token":
        assert "/user" not in hub.asked


async def test_an_unreachable_provider_is_reported(
    browser: Browser, hub: CodeServer, providers: Providers, serve: Serve,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("accounts.providers.web.DEADLINE", 0.2)
    gone = asyncio.Event()

    async def hang(_request: web.Request) -> web.Response:
        await gone.wait()
        return web.Response()

    slow = web.Application()
    slow.router.add_post("/token", hang)
    for url in ("http://127.0.0.1:1", await serve(slow)):
        providers.write(entry("hub", GITHUB, hub.fields(url)))
        one = Browser()
        answer = await log_in(one, hub)
        assert (answer.status_code, one.key) == (503, None)
        assert "hub is not responding" in answer.content.decode()
    gone.set()
    assert (await browser.login("alice")).status_code == 302


async def test_the_provider_button_keeps_the_requested_page(
    browser: Browser, hub: CodeServer
) -> None:
    page = (await browser.get(f"/login?next={PODS}")).content.decode()
    assert f'href="{OUT}?next=%2Fclusters%2Fhost%2Fpods"' in page
    assert f'href="{OUT}"' in (await browser.get("/login")).content.decode()


async def test_used_states_are_deleted_after_their_lifetime(
    browser: Browser, hub: CodeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = MovableClock()
    monkeypatch.setattr("accounts.time.clock", clock)
    from_cookies = onetime.LIFETIME
    await log_in(browser, hub)
    clock.time += from_cookies + timedelta(seconds=1)
    await log_in(Browser(), hub, code="c2")
    assert await OneTime.objects.filter(expires__lte=clock.time).acount() == 0
