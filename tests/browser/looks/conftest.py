"""The sample world of `manage.py demo`, standing still, and a person who is signed in to it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tests import npm
from tests.browser.chromium import Chromium
from tests.browser.conftest import ROOT, answers, free_port
from tests.browser.looks import axe
from tests.browser.looks.tour import Tour, tour
from tests.controlplane.plugin import left_out
from tests.controlplane.waiting import eventually

PASSWORD = "P@88w0rd"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address."""
    folder = tmp_path_factory.mktemp("demo")
    port = free_port()
    environment = {**os.environ, "PORT": str(port), "STATE_DIR": str(folder)}
    url, log = f"http://127.0.0.1:{port}", folder / "log.txt"
    with log.open("wb") as file:
        command = [sys.executable, str(ROOT / "manage.py"), "demo", "--churn=0"]
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=file, stderr=file)
        try:
            eventually(lambda: "is ready at" in log.read_text(), "the demo is ready", timeout=120)
            eventually(lambda: answers(url + "/readyz"), "it answers", timeout=60)
            yield url
        finally:
            process.terminate()
            process.wait(timeout=30)
    assert "Traceback" not in log.read_text(), log.read_text()[-4000:]


@pytest.fixture(scope="module")
def session(demo: str, browser: Chromium) -> Any:
    """The cookies of the administrator."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{demo}/login?next=/account")
    sign_in(page)
    state = context.storage_state()
    context.close()
    return state


def sign_in(page: Page, name: str = "admin") -> None:
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]:not([form])")
    page.wait_for_selector(".shell")


@pytest.fixture(scope="module")
def pages(demo: str, session: Any, browser: Chromium) -> Tour:
    """The addresses of every page."""
    context = browser.new_context(storage_state=session)
    page = context.new_page()
    page.goto(f"{demo}/account")
    found = tour(page)
    context.close()
    return found


@pytest.fixture(scope="session")
def with_axe() -> None:
    """Skips where axe-core cannot be installed; `REQUIRE_BROWSER` makes that a failure."""
    try:
        axe.script()
    except (npm.Missing, OSError) as error:
        if os.environ.get("REQUIRE_BROWSER", "0") not in ("", "0"):
            pytest.fail(f"REQUIRE_BROWSER is set, but {error}", pytrace=False)
        left_out("checks of accessibility by axe-core", str(error))
        pytest.skip(str(error))
