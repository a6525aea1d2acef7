"""Signing in with a second factor in a real browser, with and without scripts."""

import base64
import hashlib
import hmac
import json
import re
import struct
import time
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import Chromium
from tests.browser.console import PASSWORD, Console
from tests.browser.tenants import person
from tests.controlplane.waiting import eventually
from tests.support.depth import fewer


def code_of(key: str, later: int = 0) -> str:
    """Return the TOTP code (RFC 6238) of an authenticator app, now or `later` steps in the future."""
    text = key.replace(" ", "")
    secret = base64.b32decode(text + "=" * (-len(text) % 8))
    counter = int(time.time()) // 30 + later
    mac = hmac.new(secret, struct.pack(">Q", counter), hashlib.sha1).digest()
    start = mac[-1] & 15
    return f"{(int.from_bytes(mac[start : start + 4], 'big') & 0x7FFFFFFF) % 1_000_000:06}"


@pytest.fixture
def user(console: Console) -> str:
    """Create a separate user, because a second factor affects all tests of a user."""
    name = f"careful-{uuid4().hex[:6]}"
    console.kubectl("create", "-f", "-", input=json.dumps(person(name)))

    def active() -> bool:
        state = "jsonpath={.status.state}"
        return console.kubectl("get", "users.iam.kubesphere.io", name, "-o", state) == "Active"

    eventually(active, f"{name} can sign in")
    return name


def test_the_password_can_be_shown(console: Console, page: Page) -> None:
    page.goto(console.url + "/login")
    field, show = page.locator("#password"), page.get_by_role("button", name="Show")
    for kind, pressed in (("text", "true"), ("password", "false")):
        show.click()
        expect(field).to_have_attribute("type", kind)
        expect(show).to_have_attribute("aria-pressed", pressed)


def test_long_provider_names_fit_a_phone(console: Console, page: Page) -> None:
    """The name has the maximum length and no line break opportunity."""
    name = "w" * 63
    client = {"clientID": "console", "clientSecret": "secret"}
    entry = {"name": name, "type": "GitHubIdentityProvider", "provider": client}
    config = {"authentication": {"oauthOptions": {"identityProviders": [entry]}}}
    path = console.log.with_name("authentication.yaml")
    path.write_text(json.dumps(config))
    try:
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(console.url + "/login")
        way = page.get_by_role("link", name=f"Sign in with {name}")
        expect(way).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        box = way.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
        assert way.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    finally:
        path.unlink()


def log_in(page: Page, console: Console, user: str) -> None:
    page.goto(console.url + "/account")
    page.fill("#username", user)
    page.fill("#password", PASSWORD)
    page.click("button.primary")


def fits(page: Page) -> None:
    """Check the width on a phone too. The walk through all pages does not reach pages that are
    shown once after a form.
    """
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# With scripts, the QR code and its frame are tested; forms without scripts are covered in
# test_whole_flow.py.
@pytest.mark.parametrize(
    "scripts", fewer([True, False], True), ids=["with scripts", "without scripts"]
)
def test_signing_in_requires_the_second_factor(
    console: Console, browser: Chromium, user: str, scripts: bool
) -> None:
    """Set up the second factor, sign in with a code and with a recovery code, and turn it off."""
    context = browser.new_context(locale="en-GB", java_script_enabled=scripts)
    context.set_default_timeout(20_000)
    try:
        page = context.new_page()
        log_in(page, console, user)
        expect(page).to_have_url(console.url + "/account")
        page.goto(console.url + "/account/second-factor")
        page.get_by_text("Or enter the key manually").click()
        key = page.inner_text("code.secret")
        if scripts:
            assert page.evaluate("document.querySelector('.qr').naturalWidth") > 50
        page.fill("#factor-current", PASSWORD)
        page.fill("#factor-code", code_of(key))
        page.get_by_role("button", name="Turn on").click()
        page.wait_for_selector(".codes")
        codes = page.locator(".codes code").all_inner_texts()
        assert len(codes) == 10
        fits(page)

        other = browser.new_context(locale="en-GB", java_script_enabled=scripts)
        try:
            again = other.new_page()
            log_in(again, console, user)
            expect(again).to_have_url(re.compile("/login/second-factor"))
            again.goto(console.url + "/dashboard")
            expect(again.locator("#factor-code")).to_be_visible()
            fits(again)
            again.fill("#factor-code", "000000")
            again.click("button.primary")
            expect(again.get_by_text("The code is incorrect").first).to_be_visible()
            # A code is valid once, so the code of the next time step is used in advance.
            again.fill("#factor-code", code_of(key, later=1))
            again.click("button.primary")
            expect(again).to_have_url(console.url + "/dashboard")
        finally:
            other.close()

        page.goto(console.url + "/account")
        page.fill("#token-name", "ci")
        page.get_by_role("button", name="Create token").click()
        page.wait_for_selector("code.secret")
        fits(page)

        page.goto(console.url + "/account/second-factor")
        page.fill("#factor-current", PASSWORD)
        page.fill("#factor-code", codes[0])
        fits(page)
        page.get_by_role("button", name="Turn off").click()
        expect(page.get_by_text("The second factor is turned off.")).to_be_visible()
    finally:
        context.close()
