"""Users, a configuration file and a clock; an app that makes codes as RFC 6238 says."""

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
    """An authenticator app, written from RFC 4226 and 6238 and not with the console's library."""

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
    """Of a browser in which somebody is signed in, or has to set one up."""
    app = app_of((await browser.get(path)).content.decode(), clock)
    answer = await browser.post(path, {"current": PASSWORD, "code": app.code()})
    assert answer.status_code == 200, answer.content.decode()
    codes = recovery_codes(answer.content.decode())
    # Its step is used up.
    clock.move(seconds=30)
    return Enrolled(browser, app, codes)


@pytest.fixture
async def alice(browser: Browser, clock: MovableClock) -> Enrolled:
    """alice, who has a second factor and is signed in."""
    await browser.login("alice")
    return await enrol(browser, clock)


async def owing(name: str = "alice", next: str = "") -> Browser:
    """A browser that has shown the right password, and nothing else."""
    found = Browser()
    assert (await found.login(name, next=next)).status_code == 302
    return found


async def show(browser: Browser, code: str, next: str = "") -> Any:
    return await browser.post(STEP, {"code": code, "next": next})


@pytest.fixture
def program() -> Program:
    return Program()
