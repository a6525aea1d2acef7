"""What every page must look like, measured: docs/look.md lists the points and which test proves each.

All pages are walked through once on a phone and once on a desktop, in opposite themes, and each is
measured at the other widths, too. What does not depend on the page is looked at on a sample of them.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.looks.pixels import saturated
from tests.browser.looks.tour import HOST, Tour
from tests.browser.looks.walk import Seen, View, measure, opened, walk

PHONE, DESKTOP = View(390), View(1280, "dark")
PODS = f"{HOST}/pods"
#: One of each sort of page, for the views that not every page is looked at in.
SAMPLE = ("/dashboard", PODS, f"{HOST}/events", "/search?q=cart", "/account")

_WORDS = re.compile(r"[A-Za-z]{2,}(?: [a-z]{2,}){2,}")
_CLOSE = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]")
_LATIN = re.compile(r"[\u4e00-\u9fff][,;:!?]")


@pytest.fixture(scope="module")
def seen(
    demo: str, session: Any, browser: Browser, pages: Tour, with_axe: None
) -> dict[View, list[Seen]]:
    found = {}
    for view, also in ((PHONE, (320,)), (DESKTOP, (768, 2560))):
        with opened(browser, view, session) as page:
            everything = pages.everything
            found[view] = walk(page, demo, everything, view, also=also, by_axe=True)
    return found


@pytest.fixture(scope="module")
def chinese(demo: str, session: Any, browser: Browser, pages: Tour) -> list[Seen]:
    view = View(1280, "light", "zh")
    with opened(browser, view, session) as page:
        return walk(page, demo, pages.everything, view, by_axe=False)


def test_there_are_as_many_pages_as_there_are_links(pages: Tour) -> None:
    assert len(pages.lists) > 50
    assert len(pages.details) > 30
    assert pages.confirmations


def test_axe_finds_nothing(seen: dict[View, list[Seen]]) -> None:
    assert _of(seen, lambda one: one.violations) == []


def test_axe_finds_nothing_in_the_other_theme(
    demo: str, session: Any, browser: Browser, with_axe: None
) -> None:
    for view in (View(390, "dark"), View(1280, "light"), View(1280, "dark", "zh")):
        with opened(browser, view, session) as page:
            assert _of({view: walk(page, demo, SAMPLE, view, by_axe=True)}, _violations) == []


def test_axe_finds_nothing_before_the_login(demo: str, browser: Browser, with_axe: None) -> None:
    for view in (View(390, "dark"), View(1280)):
        with opened(browser, view) as page:
            assert _of({view: walk(page, demo, ["/login"], view, by_axe=True)}, _violations) == []


def test_no_script_fails_and_the_policy_refuses_nothing(seen: dict[View, list[Seen]]) -> None:
    assert _of(seen, lambda one: one.reports) == []


def test_no_page_is_wider_than_its_window(seen: dict[View, list[Seen]]) -> None:
    def wider(one: Seen) -> list[str]:
        return [f"{w}: by {m['wider']}" for w, m in one.measures.items() if m["wider"] > 0]

    assert _of(seen, wider) == []


def test_a_screen_holds_enough_rows(seen: dict[View, list[Seen]]) -> None:
    def rows(view: View) -> int:
        return next(one.here["rowsInView"] for one in seen[view] if one.path == PODS)

    assert rows(DESKTOP) >= 16
    assert rows(PHONE) >= 8


def test_rows_are_as_high_in_both_languages(
    demo: str, session: Any, browser: Browser, seen: dict[View, list[Seen]]
) -> None:
    for view in (View(390, "light", "zh"), View(1280, "dark", "zh")):
        english = next(one for one in seen[View(view.width, view.theme)] if one.path == PODS).here[
            "rowHeights"
        ]
        with opened(browser, view, session) as page:
            (one,) = walk(page, demo, [PODS], view, by_axe=False)
        assert one.here["rowHeights"] == english
        assert len(english) == 1


def test_a_healthy_list_is_almost_grey(demo: str, session: Any, browser: Browser) -> None:
    with opened(browser, View(1280), session) as page:
        page.goto(f"{demo}{PODS}?status=ok")
        page.locator("#results tbody tr").nth(15).wait_for()
        assert saturated(page) <= 0.01


@pytest.mark.parametrize("what", ["primary", "shadows", "cutNames", "paleStems", "raggedNumbers"])
def test_every_page_keeps_the_rule_of(what: str, seen: dict[View, list[Seen]]) -> None:
    """At most one button of ink; shadows under what floats alone; names whole, with a paler suffix;
    numbers on one grid."""
    most = 1 if what == "primary" else 0

    def against(one: Seen) -> list[str]:
        return [f"{w}: {m[what]}" for w, m in one.measures.items() if len(m[what]) > most]

    assert _of(seen, against) == []


def test_only_a_confirmation_has_a_red_button(seen: dict[View, list[Seen]], pages: Tour) -> None:
    red = {one.path for view in seen.values() for one in view if one.here["danger"]}
    assert red == set(pages.confirmations)
    assert all(len(one.here["danger"]) <= 1 for view in seen.values() for one in view)


def test_how_fresh_a_page_is_stays_in_view(seen: dict[View, list[Seen]]) -> None:
    def hidden(one: Seen) -> list[str]:
        return [f"{w}" for w, m in one.measures.items() if m["shell"] and not m["freshness"]]

    assert _of(seen, hidden) == []


def test_no_gap_tears_a_wide_list_apart(seen: dict[View, list[Seen]]) -> None:
    assert _of({DESKTOP: seen[DESKTOP]}, lambda one: one.measures[2560]["gaps"]) == []


@pytest.mark.parametrize("what", ["wideFields", "small", "clipped"])
def test_controls_have_their_size(what: str, seen: dict[View, list[Seen]]) -> None:
    """Fields of forms end at 640 px; nothing to click is under 24 px; no label is cut."""

    def against(one: Seen) -> list[str]:
        return [f"{w}: {m[what]}" for w, m in one.measures.items() if m[what]]

    assert _of(seen, against) == []


def test_every_page_has_one_heading_and_a_title(seen: dict[View, list[Seen]]) -> None:
    def wrong(one: Seen) -> list[str]:
        return [] if one.here["headings"] == 1 and one.here["title"] else [one.here["title"]]

    assert _of(seen, wrong) == []


def test_a_chinese_page_is_chinese(chinese: list[Seen]) -> None:
    """What the cluster wrote stays as it is; `DATA` in measuring.js says what that is."""

    def wrong(one: Seen) -> list[str]:
        rules = (_WORDS, _CLOSE, _LATIN)
        return [text for text in one.here["texts"] if any(rule.search(text) for rule in rules)]

    assert _of({View(1280, "light", "zh"): chinese}, wrong) == []
    assert any("容器组" in text for one in chinese for text in one.here["texts"])


def test_no_chinese_button_is_clipped(chinese: list[Seen]) -> None:
    assert _of({View(1280): chinese}, lambda one: one.here["clipped"]) == []


def test_twice_the_size_loses_nothing(demo: str, session: Any, browser: Browser) -> None:
    """200 % in a window of 1280 px is a window of half the width with pixels of twice the size."""
    with opened(browser, View(1280), session, device_scale_factor=2) as page:
        page.set_viewport_size({"width": 640, "height": 400})
        for path in SAMPLE:
            page.goto(demo + path)
            found = measure(page)
            assert found["wider"] <= 0, path
            assert found["freshness"], path
            assert found["clipped"] == [], path


def _violations(one: Seen) -> Iterable[Any]:
    return one.violations


def _of(seen: dict[View, list[Seen]], wrong: Callable[[Seen], Iterable[Any]]) -> list[str]:
    """One line for each thing that is wrong, with where it is."""
    return [
        f"{one.path} at {view.width}, {view.theme}: {item}"
        for view, ones in seen.items()
        for one in ones
        for item in wrong(one)
    ]
