"""Downloads of API tokens and recovery codes."""

import re

import pytest

from tests.accounts.apitokens.tokens import config, make
from tests.accounts.conftest import Browser
from tests.accounts.mfa.conftest import enrol
from tests.rbac.fakes import MovableClock

__all__ = ["config"]

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/account/secret-file"


@pytest.fixture
async def admin(browser: Browser, clock: MovableClock) -> Browser:
    await browser.login("admin")
    return browser


async def test_a_new_token_can_be_downloaded_once(admin: Browser) -> None:
    token = await make(admin)
    sent = {"file": "api-token.txt", "secrets": token}
    answer = await admin.post(URL, sent)
    assert answer.status_code == 200 and answer.content.decode() == f"{token}\n"
    assert answer["Content-Disposition"] == 'attachment; filename="api-token.txt"'
    assert "no-store" in answer["Cache-Control"]
    again = await admin.post(URL, sent)
    assert (again.status_code, again["Location"]) == (302, "/account")


async def test_recovery_codes_are_downloaded_one_on_each_line(
    admin: Browser, clock: MovableClock
) -> None:
    codes = (await enrol(admin, clock)).codes
    answer = await admin.post(URL, {"file": "recovery-codes.txt", "secrets": " ".join(codes)})
    assert answer.content.decode().splitlines() == codes and len(codes) == 10


@pytest.mark.parametrize(
    "sent",
    [
        {"file": "api-token.txt", "secrets": "qdt_another"},
        {"file": "recovery-codes.txt"},
        {"file": "x\r\ny.exe"},
        {"file": ""},
        {"secrets": ""},
    ],
)
async def test_only_the_displayed_secret_can_be_downloaded(
    admin: Browser, sent: dict[str, str]
) -> None:
    offered = {"file": "api-token.txt", "secrets": await make(admin)}
    assert (await admin.post(URL, {**offered, **sent})).status_code == 302
    # A rejected request doesn't use up the download.
    assert (await admin.post(URL, offered)).status_code == 200


async def test_another_session_cannot_download_the_secret(admin: Browser) -> None:
    token, other = await make(admin), Browser()
    await other.login("alice")
    answer = await other.post(URL, {"file": "api-token.txt", "secrets": token})
    assert answer.status_code == 302 and token not in answer.content.decode()


@pytest.mark.parametrize("scope", ["full", "read"])
async def test_examples_contain_a_placeholder_for_the_token(admin: Browser, scope: str) -> None:
    given = {"name": "ci", "scope": scope, "days": "7"}
    page = (await admin.post("/account/tokens", given)).content.decode()
    examples = re.findall(r'<pre class="code" tabindex="0">(.*?)</pre>', page, re.DOTALL)
    assert len(examples) == (3 if scope == "full" else 2)
    assert all("$TOKEN" in one and "qdt_" not in one for one in examples)
    assert 'data-copy-text="fresh-token"' in page
