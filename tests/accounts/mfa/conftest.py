"""Users, a configuration file, a clock, and an authenticator app according to RFC 6238."""

import base64
import hashlib
import hmac
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tests.accounts.conftest import PASSWORD, Browser
from tests.accounts.oauth.conftest import Config, Program
from tests.rbac.fakes import MovableClock

OWN = "/account/second-factor"
STEP = "/login/second-factor"


@pytest.fixture(autouse=True)
def config(settings: Settings, tmp_path: Path) -> Config:
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "authentication.yaml")
    return Config(tmp_path / "authentication.yaml")


@dataclass
class App:
    """An authenticator app implemented from RFC 4226 and RFC 6238, independent of the console's
    code.
    """

    secret: bytes
    clock: MovableClock

    def code(self, steps: int = 0) -> str:
        counter = int(self.clock.time.timestamp()) // 30 + steps
        mac = hmac.new(self.secret, struct.pack(">Q", counter), hashlib.sha1).digest()
        start = mac[-1] & 15
        number = int.from_bytes(mac[start : start + 4], "big") & 0x7FFFFFFF
        return f"{number % 1_000_000:06}"


def app_of(page: str, clock: MovableClock) -> App:
    found = re.search(r'<code class="secret">([A-Z2-7 ]+)</code>', page)
    assert found is not None, page
    text = found[1].replace(" ", "")
    return App(base64.b32decode(text + "=" * (-len(text) % 8)), clock)


def recovery_codes(page: str) -> list[str]:
    return re.findall(r"<code>((?:[a-z2-7]{4}-){5}[a-z2-7]{4})</code>", page)


@dataclass
class Enrolled:
    browser: Browser
    app: App
    codes: list[str]


async def enrol(browser: Browser, clock: MovableClock, *, path: str = OWN) -> Enrolled:
    """Set up the second factor in a browser that is signed in or must set it up."""
    app = app_of((await browser.get(path)).content.decode(), clock)
    answer = await browser.post(path, {"current": PASSWORD, "code": app.code()})
    assert answer.status_code == 200, answer.content.decode()
    codes = recovery_codes(answer.content.decode())
    # The time step of this code is used up.
    clock.move(seconds=30)
    return Enrolled(browser, app, codes)


@pytest.fixture
async def alice(browser: Browser, clock: MovableClock) -> Enrolled:
    """Sign in alice with a second factor."""
    await browser.login("alice")
    return await enrol(browser, clock)


async def owing(name: str = "alice", next: str = "") -> Browser:
    """Return a browser that has only passed the password step."""
    found = Browser()
    assert (await found.login(name, next=next)).status_code == 302
    return found


async def show(browser: Browser, code: str, next: str = "") -> Any:
    return await browser.post(STEP, {"code": code, "next": next})


@pytest.fixture
def program() -> Program:
    return Program()
