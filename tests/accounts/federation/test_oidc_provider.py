"""OpenID Connect against the npm package oidc-provider: sign-in and logout in both directions."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from tests.accounts.conftest import ORIGIN, Browser
from tests.accounts.federation.accounts import accounts_in
from tests.accounts.federation.conftest import Providers, entry
from tests.accounts.federation.node import installed, oidc_provider
from tests.accounts.federation.openid import post_logout_token
from tests.accounts.federation.servers import local_server
from tests.controlplane.plugin import report_skipped
from tests.rbac.fakes import FakeConsole
from tests.support.npm import Missing
from tests.support.ports import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.programs]

REQUIRE = "REQUIRE_OIDC_PROVIDER"
CLIENT, SECRET = "console", "the secret: 100%/of+the&client="
CALLBACK = f"{ORIGIN}/oauth/callback/oidc"
#: Port for the provider's backchannel logout. The test forwards the requests to the console.
LOGOUT_PORT = free_port()


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    try:
        installed()
    except (Missing, OSError) as error:
        if os.environ.get(REQUIRE, "0") not in ("", "0"):
            pytest.fail(f"{REQUIRE} is set, but {error}", pytrace=False)
        report_skipped("tests of OpenID Connect with oidc-provider", str(error))
        pytest.skip(str(error))
    with oidc_provider(
        CLIENT=CLIENT,
        SECRET=SECRET,
        CALLBACK=CALLBACK,
        BACK=f"{ORIGIN}/login",
        LOGOUT=f"http://127.0.0.1:{LOGOUT_PORT}/logout",
    ) as found:
        yield found


class There:
    """The browser's session at the provider, with cookies and forms."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def follow(self, location: str, **form: str) -> str:
        """Follow redirects until the provider redirects back, and submit its forms with `form`."""
        answer = await self._ask("GET", location)
        while True:
            location = answer.headers.get("Location", "")
            if location.startswith(ORIGIN):
                return location
            if location:
                answer = await self._ask("GET", str(answer.url.join(URL(location))))
                continue
            page = await answer.text()
            assert answer.status == 200, page
            action = re.search(r'action="([^"]+)"', page)
            assert action is not None, page
            fields = dict(re.findall(r'name="(\w+)" value="(\w*)"', page))
            url = str(answer.url.join(URL(action[1].replace("&amp;", "&"))))
            answer = await self._ask("POST", url, {**fields, **form})

    async def _ask(self, method: str, url: str, data: Any = None) -> aiohttp.ClientResponse:
        answer = await self.session.request(method, url, data=data, allow_redirects=False)
        await answer.read()
        return answer


@pytest.fixture
async def there() -> AsyncIterator[There]:
    # aiohttp's cookie jar accepts cookies of IP addresses only with `unsafe`.
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        yield There(session)


@pytest.fixture
def configured(issuer: str, providers: Providers, console: FakeConsole) -> str:
    fields = {"issuer": issuer, "clientID": CLIENT, "clientSecret": SECRET}
    providers.write(entry("oidc", "OIDCIdentityProvider", {**fields, "getUserInfo": True}))
    return issuer


async def log_in(browser: Browser, there: There, name: str) -> Any:
    location = (await browser.get("/oauth/redirect/oidc"))["Location"]
    back = await there.follow(location, login=name, password="x")
    return await browser.get(back.removeprefix(ORIGIN))


async def test_sign_in_and_single_sign_on(browser: Browser, there: There, configured: str) -> None:
    answer = await log_in(browser, there, "jane")
    assert (answer.status_code, answer["Location"]) == (302, "/"), answer.content
    assert await accounts_in() == ["jane"]
    # Jane has a session at the provider, so no form is shown the second time.
    again = Browser()
    assert (await log_in(again, there, "nobody")).status_code == 302
    assert await accounts_in() == ["jane", "jane"]


async def test_a_code_is_accepted_once_by_the_provider(
    browser: Browser, there: There, configured: str
) -> None:
    location = (await browser.get("/oauth/redirect/oidc"))["Location"]
    back = await there.follow(location, login="jane", password="x")
    kept = browser.client.cookies["__Host-quarterdeck-login"].value
    assert (await browser.get(back.removeprefix(ORIGIN))).status_code == 302
    other = Browser()
    other.client.cookies["__Host-quarterdeck-login"] = kept
    assert (await other.get(back.removeprefix(ORIGIN))).status_code == 400


async def test_denied_consent_is_reported(browser: Browser, there: There, configured: str) -> None:
    location = (await browser.get("/oauth/redirect/oidc"))["Location"]
    page = await there.session.get(location)
    abort = re.search(r'href="([^"]+/abort)"', await page.text())
    assert abort is not None
    back = await there.follow(str(page.url.join(URL(abort[1]))))
    assert "error=access_denied" in back
    answer = await browser.get(back.removeprefix(ORIGIN))
    assert answer.status_code == 400 and await accounts_in() == []


async def test_signing_out_ends_the_provider_session_and_other_console_sessions(
    browser: Browser, there: There, configured: str
) -> None:
    """The provider sends backchannel logout tokens for all its sessions, so the other browser is
    signed out too.
    """
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def hear(request: web.Request) -> web.Response:
        heard.put_nowait(str((await request.post())["logout_token"]))
        return web.Response()

    application = web.Application()
    application.router.add_post("/logout", hear)
    other = Browser()
    async with local_server(application, port=LOGOUT_PORT):
        await log_in(browser, there, "jane")
        await log_in(other, there, "jane")
        page = (await browser.post("/logout")).content.decode()
        where = re.search(r'content="0;url=([^"]+)"', page)
        assert where is not None and await accounts_in() == ["jane"]
        back = await there.follow(where[1].replace("&amp;", "&"), logout="yes")
        assert back.startswith(f"{ORIGIN}/login")
        token = await asyncio.wait_for(heard.get(), 10)
    assert await post_logout_token(token) == 200
    assert await accounts_in() == []
    assert (await other.get("/dashboard"))["Location"].startswith("/login?")
