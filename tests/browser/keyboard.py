"""Use the console with the keyboard."""

import re
import time

from playwright.sync_api import Locator, Page, expect

from tests.browser.console import live

FOCUS = "() => document.activeElement?.closest('[data-key]')?.dataset.key ?? ''"


def tab_to(
    page: Page, wanted: Locator, most: int = 120, *, by: str = "Tab", ring: Locator | None = None
) -> None:
    """Press Tab until the element has the focus. The focus must be visible around `ring` or the
    element. The element is located again at each step, because live content can be re-rendered.
    """
    for _press in range(most):
        page.keyboard.press(by)
        if wanted.evaluate("element => element === element.getRootNode().activeElement"):
            expect(ring or wanted).to_have_css("outline-style", "solid")
            expect(wanted).to_be_in_viewport()
            return
    raise AssertionError(f"{most} tabs did not lead to {wanted}")


def step_to(page: Page, key: str) -> None:
    """Move from row to row with `j`."""
    live(page)
    expect(page.locator(f'#results tr[data-key="{key}"]')).to_be_visible()
    for _press in range(60):
        page.keyboard.press("j")
        if page.evaluate(FOCUS) == key:
            return
    raise AssertionError(f"j did not lead to {key}")


def jump(page: Page, text: str, option: Locator) -> None:
    """Use the palette: its key, a few words, arrow keys, and Enter."""
    point(page, text, option)
    page.keyboard.press("Enter")


def point(page: Page, text: str, option: Locator) -> None:
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-q")).to_be_focused()
    page.keyboard.type(text)
    # The list may still belong to an earlier text until the response for this one has arrived.
    expect(page.locator("#palette-found")).to_have_attribute("data-query", text)
    expect(option).to_be_visible()
    for _press in range(40):
        if option.get_attribute("aria-selected") == "true":
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"the arrows did not lead to {option}")


def go_to(page: Page, letter: str, place: re.Pattern[str]) -> None:
    """Press `g` and the letter with the same timestamp, so that a slow machine doesn't cause a
    timeout between the keys.
    """
    keyboard, now = page.context.new_cdp_session(page), time.time()
    for key in ("g", letter):
        told = {"key": key, "code": f"Key{key.upper()}", "timestamp": now}
        keyboard.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": key, **told})
        keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **told})
    page.wait_for_url(place)
