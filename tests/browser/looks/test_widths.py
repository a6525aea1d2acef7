"""Measure the columns of every list in wide windows, with short and long texts.

The CI run measures the usual lists in English and a sample of the others in both languages, the
deep run all lists in both.
"""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.chromium import Chromium
from tests.browser.looks.tour import HOST
from tests.browser.looks.walk import View, opened
from tests.support.depth import DEEP, choice, some

pytestmark = pytest.mark.timeout(3_600 if DEEP else 300)
WIDTHS = (1280, 1440, 1680, 1920, 2560)
PODS = f"{HOST}/pods"
#: Lists with usage, messages, images, durations, and columns of custom resources.
USUAL = (PODS, *(f"{HOST}/{one}" for one in ("nodes", "events", "deployments", "jobs")))
CHOSEN = (
    f"{PODS}?columns=name,status,node,ip,label:app.kubernetes.io/name,label:tier",
    f"{PODS}?columns=name,namespace,status,ready,restarts,cpu,memory,node,ip,owner,images,age",
    f"{PODS}?status=ok",
)
ADDRESS = "2001:0db8:85a3:1319:8a2e:0370:7344:9ec2"
#: The texts of one row, by their lengths.
TEXTS: dict[str, dict[str, str]] = {
    "as they are": {"name": "", "namespace": "", "node": "", "address": ""},
    "with names of 63 letters": {
        "name": "n" * 63,
        "namespace": "p" * 30,
        "node": "ip-10-244-113-201.eu-central-1.compute.internal",
        "address": ADDRESS,
    },
    "with names of 253 letters": {
        "name": "n" * 253,
        "namespace": "p" * 63,
        "node": "w" * 253,
        "address": ADDRESS,
    },
}
_MEASURING = (Path(__file__).parent / "widths.js").read_text()
_KINDS = "all => all.map((link) => link.getAttribute('href'))"
_STARTS = """() => [...document.querySelectorAll('#results thead th')]
  .map((head) => Math.round(head.getBoundingClientRect().left))"""


def measured(page: Page, demo: str, path: str) -> list[str]:
    """Return the layout errors of the list at all widths, one line per error."""
    found = []
    page.goto(f"{demo}{path}{'&' if '?' in path else '?'}limit=20")
    page.evaluate("document.fonts.ready.then(() => true)")
    # Names of 253 letters scroll in most windows, and are therefore measured once.
    for texts, given in TEXTS.items() if DEEP or path == PODS else [*TEXTS.items()][:2]:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            wrong: list[str] | None = page.evaluate(_MEASURING, given)
            if wrong is None:
                return []
            found += [f"{path} {texts} at {width}: {one}" for one in wrong]
    return found


@pytest.fixture(scope="module")
def lists(demo: str, session: Any, browser: Chromium) -> list[str]:
    with opened(browser, View(1280), session) as page:
        page.goto(f"{demo}{HOST}/resources")
        found: list[str] = page.locator(".resources a").evaluate_all(_KINDS)
    assert len(found) > 50
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_row_of_a_list_is_one_line_that_uses_the_width(
    demo: str, session: Any, browser: Chromium, lists: list[str], language: str
) -> None:
    """Only long texts are cut, and only if no other column has more room than it needs."""
    others = [one for one in lists if one not in USUAL]
    usual = [*USUAL, *CHOSEN] if DEEP or language == "en" else [PODS]
    paths = [*usual, *some(f"widths {language}", others, 4)]
    wrong = []
    with opened(browser, View(1280, language=language), session) as page:
        for path in paths:
            wrong += measured(page, demo, path)
    assert not wrong, "\n".join(wrong)


def test_lists_have_the_same_columns_without_javascript(
    demo: str, session: Any, browser: Chromium
) -> None:
    """Narrow windows differ: only scripts can hide columns that don't fit."""
    wrong, starts = [], []
    for script in (False, True):
        with opened(browser, View(1280), session, java_script_enabled=script) as page:
            page.set_viewport_size({"width": 1920, "height": 900})
            page.goto(demo + PODS)
            page.evaluate("document.fonts.ready.then(() => true)")
            if script:
                page.evaluate("quarterdeck.freeze()")
            starts.append(page.evaluate(_STARTS))
            for path in USUAL if DEEP else (PODS, choice("script", USUAL[1:])):
                wrong += [] if script else measured(page, demo, path)
    assert not wrong, "\n".join(wrong)
    assert starts[0] == starts[1]
