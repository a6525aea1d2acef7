"""axe on every step of every wizard, in both themes."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from console.ui.core.registry import kinds
from console.ui.wizard.wizard import Wizard
from tests.browser.chromium import Chromium
from tests.browser.looks import axe
from tests.browser.looks.walk import View, opened

#: Kinds that a wizard creates, by segment.
WIZARDS = {one.segment: one for one in kinds if one.wizard is not None and one.wizard.creates}


#: Returns a row of the list that a button adds to, if there is one.
_HAS_ROWS = "(adder) => !!adder.closest('.rows, .items')?.querySelector('.entry, .item')"


def steps_of(wizard: Wizard) -> list[str]:
    quick = [] if wizard.quick is None else [wizard.quick.id]
    return [*quick, *(one.id for one in wizard.steps)]


def findings(page: Page, themes: tuple[str, ...] = ("light", "dark")) -> list[str]:
    """Return the violations of the page in each theme. Sections are open, as far as they have
    fields.
    """
    # axe takes the clipped links of the folded rail for elements above the fields.
    axe.shorten(page, whole=False)
    page.evaluate("document.querySelectorAll('main details').forEach((one) => (one.open = true))")
    found = []
    for number, theme in enumerate(themes):
        axe.wear(page, theme)
        rules = axe.COLOURS if number else ()
        found += [f"{page.url} {theme}: {one}" for one in axe.violations(page, of=rules)]
    return found


def add_rows(page: Page) -> None:
    """Add a row to each empty list that is visible."""
    rows = page.locator(".item, .entry")
    for number in range(page.locator(".adder").count()):
        adder, before = page.locator(".adder").nth(number), rows.count()
        if adder.is_visible() and not adder.evaluate(_HAS_ROWS):
            adder.click()
            expect(rows).not_to_have_count(before)


@pytest.mark.parametrize("segment", WIZARDS)
def test_axe_finds_no_violations_in_the_steps(
    demo: str, session: Any, browser: Chromium, with_axe: None, segment: str
) -> None:
    kind = WIZARDS[segment]
    assert kind.wizard is not None
    place = "?namespace=checkout&step=" if kind.view.namespaced else "?step="
    found = []
    with opened(browser, View(1280), session) as page:
        # The sticky buttons would cover fields.
        page.set_viewport_size({"width": 1280, "height": 6000})
        for step in steps_of(kind.wizard):
            page.goto(f"{demo}/clusters/host/new/{segment}{place}{step}")
            page.wait_for_selector("form#draft")
            add_rows(page)
            found += findings(page)
        # Fields with errors, and the review with the same errors.
        with page.expect_navigation():
            page.locator(".foot .primary").click()
        found += findings(page)
        draft = page.url.rpartition("/")[0]
        for step in ("review", "yaml"):
            page.goto(f"{draft}/{step}")
            found += findings(page)
    assert found == []
