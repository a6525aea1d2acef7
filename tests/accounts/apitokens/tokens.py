"""Create tokens on the page of the user's account."""

import re
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.accounts.conftest import Browser
from tests.accounts.oauth.conftest import Config


@pytest.fixture(autouse=True)
def config(settings: Settings, tmp_path: Path) -> Config:
    settings.AUTHENTICATION_CONFIG = str(tmp_path / "authentication.yaml")
    return Config(tmp_path / "authentication.yaml")


async def make(browser: Browser, name: str = "ci", scope: str = "full", days: str = "7") -> str:
    answer = await browser.post("/account/tokens", {"name": name, "scope": scope, "days": days})
    assert answer.status_code == 200, answer.content.decode()
    found = re.search(r'<code class="secret">(qdt_[\w-]{43})</code>', answer.content.decode())
    assert found is not None
    return found[1]
