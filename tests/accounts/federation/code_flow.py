"""Sign in with the authorization code flow of a provider."""

from typing import Any

from tests.accounts.conftest import Browser
from tests.accounts.federation.servers import CodeServer

GITHUB, GITLAB = "GitHubIdentityProvider", "GitlabIdentityProvider"
OUT, BACK = "/oauth/redirect/hub", "/oauth/callback/hub"


async def out(browser: Browser, next: str = "") -> str:
    """Return the redirect URL of the provider button."""
    answer = await browser.get(OUT + (f"?next={next}" if next else ""))
    assert answer.status_code == 302, answer.content
    location: str = answer["Location"]
    return location


async def back(browser: Browser, hub: CodeServer, location: str, code: str = "c1") -> Any:
    state = hub.authorize(location, code)
    return await browser.get(f"{BACK}?code={code}&state={state}")


async def log_in(browser: Browser, hub: CodeServer, next: str = "", code: str = "c1") -> Any:
    return await back(browser, hub, await out(browser, next), code)
