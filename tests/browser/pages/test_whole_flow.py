"""Signing in and out in a real browser, with and without scripts: through an OpenID provider with
the selection of a username, and with an initial password.
"""

import os
import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
import yaml
from playwright.sync_api import BrowserContext, Page, expect

from tests.accounts.federation.node import installed, oidc_provider
from tests.browser.chromium import Chromium
from tests.browser.console import PASSWORD, Console
from tests.controlplane.plugin import report_skipped
from tests.support.depth import fewer
from tests.support.npm import Missing

CLIENT, SECRET = "console", "the-secret-of-the-client"
NEW = "Harbour-bridge-7"


@pytest.fixture(scope="module")
def issuer(shared_console: Console) -> Iterator[str]:
    """Run oidc-provider and add it to the console's configuration as `sso`."""
    try:
        installed()
    except (Missing, OSError) as error:
        if os.environ.get("REQUIRE_OIDC_PROVIDER", "0") not in ("", "0"):
            pytest.fail(f"REQUIRE_OIDC_PROVIDER is set, but {error}", pytrace=False)
        report_skipped("the login through oidc-provider in a browser", str(error))
        pytest.skip(str(error))
    with oidc_provider(
        CLIENT=CLIENT,
        SECRET=SECRET,
        CALLBACK=f"{shared_console.url}/oauth/callback/sso",
        BACK=f"{shared_console.url}/login",
        LOGOUT=f"{shared_console.url}/oauth/backchannel/sso",
    ) as found:
        provider = {
            "issuer": found, "clientID": CLIENT, "clientSecret": SECRET, "getUserInfo": True,
            "scopes": ["openid", "profile", "email"],
        }  # fmt: skip
        entry = {
            "name": "sso",
            "type": "OIDCIdentityProvider",
            "mappingMethod": "auto",
            "provider": provider,
        }
        config = {"authentication": {"oauthOptions": {"identityProviders": [entry]}}}
        path = shared_console.log.with_name("authentication.yaml")
        path.write_text(yaml.safe_dump(config))
        yield found
        path.unlink()


WAYS = {"with scripts": True, "without scripts": False}
# None of these pages needs scripts, so the CI run tests each flow once.
through = pytest.mark.parametrize("window", fewer([*WAYS], "with scripts"), indirect=True)
plainly = pytest.mark.parametrize("window", fewer([*WAYS], "without scripts"), indirect=True)


@pytest.fixture
def window(request: pytest.FixtureRequest, browser: Chromium) -> Iterator[BrowserContext]:
    context = browser.new_context(locale="en-GB", java_script_enabled=WAYS[request.param])
    context.set_default_timeout(20_000)
    yield context
    context.close()


def log_in(page: Page, console: Console, name: str, password: str) -> None:
    page.goto(console.url + "/account")
    page.fill("#username", name)
    page.fill("#password", password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def log_out(page: Page) -> None:
    page.click("button.avatar")
    page.get_by_role("button", name="Sign out").click()


@plainly
def test_signing_in_through_a_provider_with_a_selected_name(
    console: Console, window: BrowserContext, issuer: str
) -> None:
    there, here = f"there-{uuid4().hex[:6]}", f"here-{uuid4().hex[:6]}"
    page = window.new_page()
    page.goto(console.url + "/account")
    expect(page).to_have_url(console.url + "/login?next=%2Faccount")
    page.get_by_role("link", name="Sign in with sso").click()
    expect(page).to_have_url(re.compile(re.escape(issuer)))
    page.fill("input[name=login]", there)
    page.fill("input[name=password]", "x")
    page.click("button[type=submit]")
    page.click("button[type=submit]")
    expect(page).to_have_url(console.url + "/login/confirm")
    expect(page.locator("#name")).to_have_value(there)
    expect(page.locator("#email")).to_have_value(f"{there}@example.com")
    page.fill("#name", "admin")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose another name")
    page.fill("#name", here)
    page.get_by_role("button", name="Continue").click()
    expect(page).to_have_url(console.url + "/account")
    expect(page.locator("#main")).to_contain_text(here)
    page.goto(console.url + "/")
    expect(page).to_have_url(console.url + "/dashboard")

    log_out(page)
    page.click("button[value=yes]")
    expect(page).to_have_url(re.compile(re.escape(console.url) + "/login"))
    page.goto(console.url + "/dashboard")
    expect(page).to_have_url(console.url + "/login?next=%2Fdashboard")
    # The user is signed out at the provider too, and identified by the subject.
    page.get_by_role("link", name="Sign in with sso").click()
    page.fill("input[name=login]", there)
    page.fill("input[name=password]", "x")
    page.click("button[type=submit]")
    page.click("button[type=submit]")
    expect(page).to_have_url(console.url + "/dashboard")


@through
def test_signing_in_with_an_initial_password(
    console: Console, browser: Chromium, window: BrowserContext
) -> None:
    name = f"new-{uuid4().hex[:6]}"
    page = window.new_page()
    log_in(page, console, "admin", PASSWORD)
    expect(page).to_have_url(console.url + "/account")
    page.goto(console.url + "/access/accounts/new")
    page.fill("#user-name", name)
    page.fill("#user-email", f"{name}@example.com")
    page.fill("#user-password", PASSWORD)
    page.get_by_role("button", name="Create user").click()
    expect(page).to_have_url(f"{console.url}/access/accounts/users/{name}")
    log_out(page)
    expect(page).to_have_url(console.url + "/login")

    log_in(page, console, name, PASSWORD)
    expect(page).to_have_url(console.url + "/password/confirm?next=%2Faccount")
    page.goto(console.url + "/dashboard")
    expect(page).to_have_url(console.url + "/password/confirm?next=%2Fdashboard")
    page.fill("#choose-current", PASSWORD)
    page.fill("#choose-password", PASSWORD)
    page.fill("#choose-again", PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("alert").first).to_contain_text(
        "The new password must be different from the current password."
    )
    page.fill("#choose-current", PASSWORD)
    page.fill("#choose-password", NEW)
    page.fill("#choose-again", NEW)
    page.get_by_role("button", name="Change password").click()
    expect(page).to_have_url(console.url + "/dashboard")
    page.goto(console.url + "/account")
    log_out(page)
    expect(page).to_have_url(console.url + "/login")
    log_in(page, console, name, PASSWORD)
    expect(page.get_by_role("alert")).to_contain_text("Incorrect username or password.")
    log_in(page, console, name, NEW)
    expect(page).to_have_url(console.url + "/account")
