"""Fixtures for task tests: a console and a browser for all tasks, with one signed-in context per
look.

If SCREENSHOTS is set to a directory, a screenshot of each task is written to it (`make
screenshots`).
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import Chromium
from tests.browser.console import Cluster, Console, Embedded, running, sign_in, started
from tests.browser.tasks import sample_objects
from tests.browser.tasks.sample_objects import Scene
from tests.support.depth import choice, fewer

HEIGHTS = {1280: 800, 1680: 1000, 390: 844}
PHONE = 390
#: Widths of the tasks. The wizards are also tested at 1680 pixels.
WIDTHS = (1280, PHONE)


@dataclass(frozen=True)
class Look:
    """Theme, language, and width. `lang` is the language code in the names of screenshots, en or
    zh.
    """

    theme: str
    lang: str
    width: int

    @property
    def phone(self) -> bool:
        return self.width == PHONE

    def __str__(self) -> str:
        return f"{self.theme}-{self.lang}-{self.width}"


LOOKS = [Look(*parts) for parts in product(("light", "dark"), ("en", "zh"), WIDTHS)]
#: Two looks that differ in every value.
GATE = (LOOKS[0], LOOKS[-1])
_COOKIES = {"en": "en", "zh": "zh-hans"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """In the CI run, each task runs in one of two looks that differ in every value, and tests
    without scripts run at one width. Both are selected by the test's name.
    """
    name = f"{metafunc.module.__name__}.{metafunc.function.__name__}"
    if "look" in metafunc.fixturenames:
        looks = fewer(LOOKS, choice(name, GATE))
        metafunc.parametrize("look", looks, ids=str, indirect=True, scope="package")
    if "plain" in metafunc.fixturenames:
        metafunc.parametrize("plain", fewer(WIDTHS, choice(name, WIDTHS)), indirect=True)


@pytest.fixture(scope="package", params=["embedded", pytest.param("real", marks=pytest.mark.deep)])
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """Start the embedded cluster with sample data, or an empty real control plane."""
    with started(request, tmp_path_factory.mktemp("cluster"), world=True) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def console(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    folder = tmp_path_factory.mktemp("console")
    with running(cluster, folder, controllers=False) as console:
        yield console


@pytest.fixture(scope="package")
def scene(console: Console) -> Scene:
    embedded = isinstance(console.cluster, Embedded)
    return sample_objects.found(console) if embedded else sample_objects.made(console)


@pytest.fixture(scope="package")
def look(request: pytest.FixtureRequest) -> Look:
    found: Look = request.param
    return found


@dataclass
class Person:
    """A user at the dashboard of the console, in one look."""

    page: Page
    look: Look
    console: Console

    def picture(self, task: str) -> None:
        """Save a screenshot as `task-theme-language-width.png`, if screenshots are enabled."""
        folder = os.environ.get("SCREENSHOTS")
        if not folder or not isinstance(self.console.cluster, Embedded):
            return
        path = Path(folder) / f"{task}-{self.look}.png"
        # Move the pointer away and wait until highlighted changes have faded.
        self.page.mouse.move(0, 0)
        self.page.wait_for_timeout(300)
        self.page.screenshot(path=path, animations="disabled", caret="initial")
        if shutil.which("pngquant"):
            subprocess.run(
                ["pngquant", "--force", "--ext", ".png", "--strip", "64", str(path)], check=True
            )


@contextmanager
def somebody(
    browser: Chromium, console: Console, look: Look, *, scripts: bool = True
) -> Iterator[Person]:
    context = browser.new_context(
        locale="en-GB",
        viewport={"width": look.width, "height": HEIGHTS[look.width]},
        has_touch=look.phone,
        is_mobile=look.phone,
        java_script_enabled=scripts,
    )
    context.set_default_timeout(20_000)
    cookies = {"theme": look.theme, "quarterdeck-lang": _COOKIES[look.lang]}
    context.add_cookies(
        [{"name": name, "value": value, "url": console.url} for name, value in cookies.items()]
    )
    page = context.new_page()
    sign_in(page, console)
    page.wait_for_url("**/pods")
    yield Person(page, look, console)
    context.close()


@pytest.fixture(scope="package")
def _signed_in(browser: Chromium, console: Console, look: Look) -> Iterator[Person]:
    with somebody(browser, console, look) as person:
        yield person


@pytest.fixture
def without_scripts(browser: Chromium, console: Console, look: Look) -> Iterator[Person]:
    """Open the list of pods in a browser without JavaScript."""
    with somebody(browser, console, look, scripts=False) as person:
        yield person


@pytest.fixture
def person(_signed_in: Person) -> Iterator[Person]:
    """Open the dashboard. The test fails if the browser reports an error, including CSP violations."""
    page = _signed_in.page
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: (
            problems.append(message.text) if "Content Security Policy" in message.text else None
        ),
    )
    page.goto(_signed_in.console.url + "/dashboard")
    yield _signed_in
    assert problems == []
