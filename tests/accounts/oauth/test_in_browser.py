"""The authorization code flow in a real browser: sign-in, consent, and redirect to another origin."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import BrowserContext, expect, sync_playwright

from tests.accounts.conftest import PASSWORD
from tests.accounts.oauth.clients import PKCE, VERIFIER
from tests.accounts.oauth.world import DESKTOP, DESKTOP_PORT, USERS, World
from tests.browser.chromium import FLAGS, PROGRAM, need_chromium
from tests.support.depth import fewer


class Application(BaseHTTPRequestHandler):
    """The web server at the redirect URI."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>The application</title>")

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def application() -> Iterator[None]:
    server = HTTPServer(("127.0.0.1", DESKTOP_PORT), Application)
    Thread(target=server.serve_forever, daemon=True).start()
    yield
    server.shutdown()
    server.server_close()


# test_authorize and test_signing_in submit the same forms without JavaScript.
@pytest.fixture(params=fewer(["with JavaScript", "without"], "with JavaScript"))
def window(request: pytest.FixtureRequest, world: World) -> Iterator[BrowserContext]:
    need_chromium("the code flow in a browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        yield browser.new_context(java_script_enabled=request.param == "with JavaScript")
        browser.close()


def ask(world: World, client: str) -> str:
    fields = {"response_type": "code", "client_id": client, "redirect_uri": DESKTOP, **PKCE}
    return f"{world.urls[0]}/oauth/authorize?{urlencode({**fields, 'state': 'a b&c'})}"


def exchange(world: World, client: str, came_to: str) -> str:
    """Exchange the code of the redirect for an access token."""
    back = parse_qs(urlsplit(came_to).query)
    assert back["state"] == ["a b&c"]
    answer = world.ask(
        1, "/oauth/token", public=client, grant_type="authorization_code",
        code=back["code"][0], redirect_uri=DESKTOP, code_verifier=VERIFIER,
    )  # fmt: skip
    assert answer.status == 200, answer
    token: str = answer.body["access_token"]
    return token


def test_sign_in_consent_and_redirect(
    world: World, window: BrowserContext, application: None
) -> None:
    world.add_user("jane")
    page = window.new_page()
    page.goto(ask(world, "own"))
    page.fill("#username", "jane")
    page.fill("#password", PASSWORD)
    page.press("#password", "Enter")
    page.wait_for_url(DESKTOP + "?*")
    expect(page).to_have_title("The application")
    assert world.statuses("jane", exchange(world, "own", page.url)) == {200}

    page.goto(ask(world, "foreign"))
    expect(page.locator("h1")).to_contain_text("foreign requests access")
    page.click("button[value=deny]")
    page.wait_for_url(DESKTOP + "?error=access_denied*")

    page.goto(ask(world, "foreign"))
    page.click("button[value=allow]")
    page.wait_for_url(DESKTOP + "?code=*")
    token = exchange(world, "foreign", page.url)
    assert world.ask(0, USERS + "jane", token).status == 200
