"""Measurements of the visual design of every page. docs/look.md lists the rules and the test of
each.

In the CI run, one page of each type is checked in two of four views, and pods in all four;
together the views combine each theme, language, and width with each other. Other pages are
checked once, in a view that depends on their address: each page with unique elements, each
kind's list or the page of one object, and a sample of the rest. The texts of all pages are
checked in Chinese and their width on a phone. axe runs until it has seen each sort of element in
each theme. The deep run checks every page in all eight views, also with axe.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.urls import resolve

from tests.browser.chromium import Chromium
from tests.browser.looks.pixels import saturated
from tests.browser.looks.tour import HOST, Tour
from tests.browser.looks.walk import HEIGHTS, Seen, View, measure, opened, walk
from tests.kinds.untranslated_text import is_english
from tests.support.depth import DEEP, choice, fewer, some

VIEWS = tuple(
    View(width, theme, language)
    for language in ("en", "zh")
    for theme in ("light", "dark")
    for width in (390, 1280)
)
#: All pages are measured before the first test.
pytestmark = pytest.mark.timeout(7_200 if DEEP else 600)
PODS = f"{HOST}/pods"
NAMESPACES = f"{HOST}/namespaces"
#: Each combination of two values of theme, language, and width occurs.
PAIRWISE = (
    View(1280, "light", "en"),
    View(390, "light", "zh"),
    View(390, "dark", "en"),
    View(1280, "dark", "zh"),
)
SAMPLE = (
    "/dashboard",
    PODS,
    NAMESPACES,
    f"{HOST}/events",
    "/search?q=cart",
    "/account",
    "/workspaces/shop",
)

_WORDS = re.compile(r"[A-Za-z]{2,}(?: [a-z]{2,}){2,}")
_CLOSE = re.compile(r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9][\u4e00-\u9fff]")
# Types without a declared kind have the server's columns.
_CUSTOM = re.compile(
    r"customresourcedefinitions|\.cert-manager\.io|\.shop\.example|/host/endpoints\b"
    r"|events\.events\.k8s\.io"
)
#: Values in the fields of demo objects.
_VALUES = {
    *(
        "Allow",
        "Certificate",
        "Certificates",
        "Endpoints",
        "Events",
        "Failed",
        "Group",
        "Node",
        "None",
        "Prefix",
        "Service",
        "StatefulSet",
        "User",
        "Workspace shop",
    ),
    "Has no permissions outside the workspaces that the user is invited to.",
}
_LATIN = re.compile(r"[\u4e00-\u9fff][,;:!?]")


def ways(path: str) -> Sequence[View]:
    """Return the views in which the CI run checks a page of `SAMPLE`: all for pods, and two that
    differ in two values for the others.
    """
    return PAIRWISE if path == PODS else choice(path, [*combinations(PAIRWISE, 2)])


def sorts_of(path: str, pages: Tour) -> set[str]:
    """Return the view, the tab, and the sorts of elements of a page."""
    match = resolve(urlsplit(path).path)
    return {f"{match.view_name} {match.kwargs.get('tab', '')}", *pages.read[path]["sorts"]}


def looked_at(pages: Tour) -> list[str]:
    """Return the pages to check besides `SAMPLE`, those with the most sorts first.

    The CI run takes each page with a sort that no earlier page has, and a sample of the others:
    for each kind its list or the page of an object, an eighth of the tabs and forms, and a
    quarter of the rest.
    """
    made = {path: sorts_of(path, pages) for path in pages.everything}
    lists = {path for path in pages.lists if choice(f"look {path}", range(4)) == 0}
    chosen = {*lists, *(first for path, first in pages.firsts.items() if path not in lists)}
    eighth = {*pages.tabs, *pages.confirmations, *pages.forms}
    for path in made.keys() - {*pages.lists, *pages.details}:
        if choice(f"look {path}", range(8 if path in eighth else 4)) == 0:
            chosen.add(path)
    known = {sort for path in SAMPLE for sort in made.pop(path)}
    found = []
    for path, sorts in sorted(made.items(), key=lambda one: -len(one[1])):
        if DEEP or path in chosen or sorts - known:
            found.append(path)
            known |= sorts
    return found


@pytest.fixture(scope="module")
def seen(demo: str, session: Any, browser: Chromium, pages: Tour, with_axe: None) -> list[Seen]:
    found = []
    others = looked_at(pages)
    # Pages of all kinds and forms of all actions use the same templates: four in nine of them are
    # measured at one more width besides a phone's and their own, pages with a separate template at
    # two more.
    alike = {*pages.lists, *pages.details, *pages.tabs, *pages.confirmations, *pages.forms}
    some_width = (*[(390,)] * 5, *((390, width) for width in (320, 768, 1280, 2560)))
    both = ((320, 390, 768), (320, 390, 2560))
    widths = {path: choice(path, some_width if path in alike else both) for path in others}
    widths = {} if DEEP else widths
    known: dict[str, set[str]] = {"light": set(), "dark": set()}
    for view in VIEWS if DEEP else PAIRWISE:
        with opened(browser, view, session) as page:
            # Widths of a language are measured in one of its views; for Chinese those at both ends.
            all_widths = tuple(HEIGHTS) if DEEP or view.language == "en" else (320, 2560)
            once = dict.fromkeys(SAMPLE, () if view.width == 390 else all_widths)
            # In the CI run, axe sees each sort of element in each theme.
            sorts = None if DEEP else known
            sample = [path for path in SAMPLE if DEEP or view in ways(path)]
            found += walk(page, demo, sample, view, widths=once, whole=(PODS,), known=sorts)
            here = [path for path in others if DEEP or choice(path, PAIRWISE) == view]
            found += walk(page, demo, here, view, widths=widths, known=sorts)
    return found


def test_the_tour_finds_all_kinds_of_pages(pages: Tour) -> None:
    assert len(pages.lists) > 50
    assert len(pages.details) > 30
    assert pages.confirmations


def test_axe_finds_no_violations(seen: list[Seen]) -> None:
    assert _of(seen, lambda one: one.violations or ()) == []
    # Make sure that axe has actually run.
    assert sum(one.violations is not None for one in seen) > 2 * len(SAMPLE)


@pytest.mark.parametrize(
    "view", fewer([View(390, "dark", "zh"), View(1280)], View(390, "dark", "zh"))
)
def test_axe_finds_no_violations_on_the_sign_in_page(
    demo: str, browser: Chromium, with_axe: None, view: View
) -> None:
    with opened(browser, view) as page:
        [login] = walk(page, demo, ["/login"], view, widths={})
        assert login.violations == []
        for width, found in login.measures.items():
            assert found["wider"] <= 0, width
            assert found["small"] + found["clipped"] + found["placed"] == [], width


def test_pages_report_no_script_errors_or_policy_violations(seen: list[Seen]) -> None:
    assert _of(seen, lambda one: one.reports) == []


def test_no_page_is_wider_than_the_window(seen: list[Seen]) -> None:
    def wider(one: Seen) -> list[str]:
        return [
            f"{w}: by {m['wider']}, with long names by {m['named']} {m['outside']}"
            for w, m in one.measures.items()
            if m["wider"] > 0 or m["named"] > 0 or m["outside"]
        ]

    assert _of(seen, wider) == []


def test_no_element_is_cut_off_or_overlaps_another(seen: list[Seen]) -> None:
    """Covers texts and controls of every page, on a phone also with long names."""

    def against(one: Seen) -> list[str]:
        return [f"{w}: {found}" for w, m in one.measures.items() for found in m["placed"]]

    assert _of(seen, against) == []


def test_remaining_pages_have_no_layout_errors_on_a_phone(
    demo: str, session: Any, browser: Chromium, pages: Tour, seen: list[Seen]
) -> None:
    rest = set(pages.everything) - {one.path for one in seen if 390 in one.measures}
    wide = []
    for view in (view for view in PAIRWISE if view.width == 390):
        with opened(browser, view, session) as page:
            for path in sorted(
                path for path in rest if choice(path, ("en", "zh")) == view.language
            ):
                page.goto(demo + path)
                found = measure(page)
                by = max(found["wider"], found["named"])
                wide += [f"{path}: {view.language} by {by}"] if by > 0 else []
                wide += [f"{path}: {view.language} {one}" for one in found["placed"]]
    assert not wide, "\n".join(wide)


def test_enough_rows_fit_on_a_screen(seen: list[Seen]) -> None:
    rows = [(one.view.width, one.here["rowsInView"]) for one in seen if one.path == PODS]
    assert {width for width, _ in rows} == {390, 1280}
    assert [found for found in rows if found[1] < {390: 8, 1280: 16}[found[0]]] == []


def test_rows_have_the_same_height_in_both_languages(seen: list[Seen]) -> None:
    for width in (390, 1280):
        ones = [one for one in seen if (one.path, one.view.width) == (PODS, width)]
        assert {one.view.language for one in ones} == {"en", "zh"}
        heights = {tuple(one.here["rowHeights"]) for one in ones}
        assert len(heights) == 1, heights
        assert len(heights.pop()) == 1


def test_a_healthy_list_uses_almost_no_color(demo: str, session: Any, browser: Chromium) -> None:
    with opened(browser, View(1280), session) as page:
        page.goto(f"{demo}{PODS}?status=ok")
        page.locator("#results tbody tr").nth(15).wait_for()
        assert saturated(page) <= 0.01


@pytest.mark.parametrize(
    "what",
    [
        *("primary", "current", "shadows", "cutNames", "paleStems", "raggedNumbers"),
        *("astray", "collapsed", "twoIcons", "forReaders"),
    ],
)
def test_every_page_follows_the_design_rule(what: str, seen: list[Seen]) -> None:
    """At most one primary button and one current menu entry; shadows only under floating elements;
    names are complete, with a paler suffix; numbers are aligned. On a phone, rows have two lines
    with the same parts in each list. Forms ask only for fields of the selected kind; whitespace
    in code and logs is kept; a button has one icon; text for screen readers takes no space.
    """
    most = 1 if what in ("primary", "current") else 0

    def against(one: Seen) -> list[str]:
        return [f"{w}: {m[what]}" for w, m in one.measures.items() if len(m[what]) > most]

    assert _of(seen, against) == []


def test_only_confirmations_have_a_red_button(seen: list[Seen], pages: Tour) -> None:
    asking = {one.path for one in seen} & set(pages.confirmations)
    assert asking
    assert {one.path for one in seen if one.here["danger"]} == asking
    assert all(len(one.here["danger"]) <= 1 for one in seen)


def test_the_freshness_indicator_stays_in_view(seen: list[Seen]) -> None:
    def hidden(one: Seen) -> list[str]:
        return [f"{w}" for w, m in one.measures.items() if m["shell"] and not m["freshness"]]

    assert _of(seen, hidden) == []


def test_wide_lists_have_no_large_gaps(seen: list[Seen]) -> None:
    widest = [one for one in seen if 2560 in one.measures]
    assert _of(widest, lambda one: one.measures[2560]["gaps"]) == []


@pytest.mark.parametrize("what", ["wideFields", "small", "clipped"])
def test_controls_have_the_required_size(what: str, seen: list[Seen]) -> None:
    """Form fields are at most 640 px wide; click targets are at least 24 px; no label is cut."""

    def against(one: Seen) -> list[str]:
        return [f"{w}: {m[what]}" for w, m in one.measures.items() if m[what]]

    assert _of(seen, against) == []


def test_detail_pages_use_two_thirds_of_a_laptop_screen(seen: list[Seen], pages: Tour) -> None:
    first = [one for one in seen if one.path in set(pages.details) and 1280 in one.measures]
    assert len(first) > 15
    unused = [(one.path, one.measures[1280]["unused"]) for one in first]
    assert [one for one in unused if one[1] > 1 / 3] == []


def test_every_page_has_one_heading_and_a_title(seen: list[Seen]) -> None:
    def wrong(one: Seen) -> list[str]:
        return [] if one.here["headings"] == 1 and one.here["title"] else [one.here["title"]]

    assert _of(seen, wrong) == []


def test_chinese_pages_contain_no_english_text(pages: Tour) -> None:
    """Texts from the cluster are not translated; `DATA` in reading.js defines which texts these
    are.
    """
    chinese = {path: pages.read[path]["texts"] for path in pages.everything}
    wrong = [
        f"{path}: {text}"
        for path, found in chinese.items()
        for text in found
        if any(rule.search(text) for rule in (_WORDS, _CLOSE, _LATIN))
    ]
    assert wrong == []
    assert any("容器组" in text for text in chinese[PODS])
    left = {
        words: path
        for path in pages.everything
        for words in pages.read[path]["words"]
        # Column names of custom types are not translated.
        if is_english(words) and words not in _VALUES and not _CUSTOM.search(path)
    }
    assert left == {}


def test_pages_work_at_200_percent_zoom(demo: str, session: Any, browser: Chromium) -> None:
    """A zoom of 200 % at 1280 px equals a window of half the width with a device pixel ratio of 2."""
    with opened(browser, View(1280), session, device_scale_factor=2) as page:
        page.set_viewport_size({"width": 640, "height": 400})
        for path in (PODS, *some("twice", [one for one in SAMPLE if one != PODS], 2)):
            page.goto(demo + path)
            found = measure(page)
            assert found["wider"] <= 0, path
            assert found["freshness"], path
            assert found["clipped"] == [], path


def _of(seen: Iterable[Seen], wrong: Callable[[Seen], Iterable[Any]]) -> list[str]:
    """Return one line for each problem, with its page and view."""
    return [
        f"{one.path} at {one.view.width}, {one.view.theme}, {one.view.language}: {item}"
        for one in seen
        for item in wrong(one)
    ]
