"""What every page must look like, measured: docs/look.md lists the points and which test proves each.

One page of each sort is looked at in two of four ways, pods in all of them, in which each theme,
language and width meets each other one. The others are looked at once, on a phone or a desktop, in one
theme and one language, which their addresses decide: each that is made of what no other is, each kind's
list or the page of one object, some of the rest. Of all pages the texts are read in Chinese, and the
width is measured on a phone. axe looks until it has seen each sort of element in each theme. The deep run
looks at every page in all eight ways, also axe.
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
from tests.depth import DEEP, choice, fewer, some
from tests.kinds.reading import is_english

VIEWS = tuple(
    View(width, theme, language)
    for language in ("en", "zh")
    for theme in ("light", "dark")
    for width in (390, 1280)
)
#: All pages are looked at before the first test.
pytestmark = pytest.mark.timeout(7_200 if DEEP else 600)
PODS = f"{HOST}/pods"
NAMESPACES = f"{HOST}/namespaces"
#: Each theme, language and width meets each other one.
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
_CUSTOM = re.compile(r"customresourcedefinitions|\.cert-manager\.io|\.shop\.example")
#: What objects of the demo have in their fields.
_VALUES = {
    *("Allow", "Certificates", "Node", "None"),
    "Has no rights beyond those of the workspaces that it is invited to.",
}
_LATIN = re.compile(r"[\u4e00-\u9fff][,;:!?]")


def ways(path: str) -> Sequence[View]:
    """How the gate looks at one of `SAMPLE`: at pods in all, at the others in two that differ in two."""
    return PAIRWISE if path == PODS else choice(path, [*combinations(PAIRWISE, 2)])


def sorts_of(path: str, pages: Tour) -> set[str]:
    """Its view and tab, and the sorts of its elements."""
    match = resolve(urlsplit(path).path)
    return {f"{match.view_name} {match.kwargs.get('tab', '')}", *pages.read[path]["sorts"]}


def looked_at(pages: Tour) -> list[str]:
    """Pages besides `SAMPLE`, those of most sorts first. In the gate those with one that none before
    has, so one of each view and template, and of the others some by their names: of each kind its list
    or the page of an object, of tabs, forms and what asks an eighth, of the rest a quarter."""
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
    # Pages of all kinds, and the forms of all actions, are made of the same templates: four in nine of
    # them are measured at one more width than a phone's and their own, what is made of its own at two.
    alike = {*pages.lists, *pages.details, *pages.tabs, *pages.confirmations, *pages.forms}
    some_width = (*[(390,)] * 5, *((390, width) for width in (320, 768, 1280, 2560)))
    both = ((320, 390, 768), (320, 390, 2560))
    widths = {path: choice(path, some_width if path in alike else both) for path in others}
    widths = {} if DEEP else widths
    known: dict[str, set[str]] = {"light": set(), "dark": set()}
    for view in VIEWS if DEEP else PAIRWISE:
        with opened(browser, view, session) as page:
            # A language's widths are measured from one of its views, of Chinese those at the ends.
            all_widths = tuple(HEIGHTS) if DEEP or view.language == "en" else (320, 2560)
            once = dict.fromkeys(SAMPLE, () if view.width == 390 else all_widths)
            # In the gate axe sees each sort of element in each theme.
            sorts = None if DEEP else known
            sample = [path for path in SAMPLE if DEEP or view in ways(path)]
            found += walk(page, demo, sample, view, widths=once, whole=(PODS,), known=sorts)
            here = [path for path in others if DEEP or choice(path, PAIRWISE) == view]
            found += walk(page, demo, here, view, widths=widths, known=sorts)
    return found


def test_there_are_as_many_pages_as_there_are_links(pages: Tour) -> None:
    assert len(pages.lists) > 50
    assert len(pages.details) > 30
    assert pages.confirmations


def test_axe_finds_nothing(seen: list[Seen]) -> None:
    assert _of(seen, lambda one: one.violations or ()) == []
    # Else it has looked nowhere.
    assert sum(one.violations is not None for one in seen) > 2 * len(SAMPLE)


@pytest.mark.parametrize(
    "view", fewer([View(390, "dark", "zh"), View(1280)], View(390, "dark", "zh"))
)
def test_axe_finds_nothing_before_the_login(
    demo: str, browser: Chromium, with_axe: None, view: View
) -> None:
    with opened(browser, view) as page:
        [login] = walk(page, demo, ["/login"], view, widths={})
        assert login.violations == []
        for width, found in login.measures.items():
            assert found["wider"] <= 0, width
            assert found["small"] + found["clipped"] + found["placed"] == [], width


def test_no_script_fails_and_the_policy_refuses_nothing(seen: list[Seen]) -> None:
    assert _of(seen, lambda one: one.reports) == []


def test_no_page_is_wider_than_its_window(seen: list[Seen]) -> None:
    def wider(one: Seen) -> list[str]:
        return [
            f"{w}: by {m['wider']}, with long names by {m['named']} {m['outside']}"
            for w, m in one.measures.items()
            if m["wider"] > 0 or m["named"] > 0 or m["outside"]
        ]

    assert _of(seen, wider) == []


def test_nothing_is_cut_squeezed_beyond_the_window_or_upon_another(seen: list[Seen]) -> None:
    """Texts and controls of every page, on a phone also where whatever has a name has a long one."""

    def against(one: Seen) -> list[str]:
        return [f"{w}: {found}" for w, m in one.measures.items() for found in m["placed"]]

    assert _of(seen, against) == []


def test_nor_is_anything_of_pages_that_were_looked_at_nowhere_on_a_phone(
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


def test_a_screen_holds_enough_rows(seen: list[Seen]) -> None:
    rows = [(one.view.width, one.here["rowsInView"]) for one in seen if one.path == PODS]
    assert {width for width, _ in rows} == {390, 1280}
    assert [found for found in rows if found[1] < {390: 8, 1280: 16}[found[0]]] == []


def test_rows_are_as_high_in_both_languages(seen: list[Seen]) -> None:
    for width in (390, 1280):
        ones = [one for one in seen if (one.path, one.view.width) == (PODS, width)]
        assert {one.view.language for one in ones} == {"en", "zh"}
        heights = {tuple(one.here["rowHeights"]) for one in ones}
        assert len(heights) == 1, heights
        assert len(heights.pop()) == 1


def test_a_healthy_list_is_almost_grey(demo: str, session: Any, browser: Chromium) -> None:
    with opened(browser, View(1280), session) as page:
        page.goto(f"{demo}{PODS}?status=ok")
        page.locator("#results tbody tr").nth(15).wait_for()
        assert saturated(page) <= 0.01


@pytest.mark.parametrize(
    "what",
    [
        *("primary", "current", "shadows", "cutNames", "paleStems", "raggedNumbers"),
        *("astray", "ofOthers", "collapsed", "twoIcons", "forReaders"),
    ],
)
def test_every_page_keeps_the_rule_of(what: str, seen: list[Seen]) -> None:
    """At most one button of ink and one place of the menu where one is; shadows under what floats
    alone; names whole, with a paler suffix; numbers on one grid. On a phone a row is two lines of the
    same parts in each list. Of a value the fields of its kind alone are asked for; spaces of what is
    code or a log are kept; a button has one picture; what is for readers of the screen takes no room."""
    most = 1 if what in ("primary", "current") else 0

    def against(one: Seen) -> list[str]:
        return [f"{w}: {m[what]}" for w, m in one.measures.items() if len(m[what]) > most]

    assert _of(seen, against) == []


def test_only_a_confirmation_has_a_red_button(seen: list[Seen], pages: Tour) -> None:
    asking = {one.path for one in seen} & set(pages.confirmations)
    assert asking
    assert {one.path for one in seen if one.here["danger"]} == asking
    assert all(len(one.here["danger"]) <= 1 for one in seen)


def test_how_fresh_a_page_is_stays_in_view(seen: list[Seen]) -> None:
    def hidden(one: Seen) -> list[str]:
        return [f"{w}" for w, m in one.measures.items() if m["shell"] and not m["freshness"]]

    assert _of(seen, hidden) == []


def test_no_gap_tears_a_wide_list_apart(seen: list[Seen]) -> None:
    widest = [one for one in seen if 2560 in one.measures]
    assert _of(widest, lambda one: one.measures[2560]["gaps"]) == []


@pytest.mark.parametrize("what", ["wideFields", "small", "clipped"])
def test_controls_have_their_size(what: str, seen: list[Seen]) -> None:
    """Fields of forms end at 640 px; nothing to click is under 24 px; no label is cut."""

    def against(one: Seen) -> list[str]:
        return [f"{w}: {m[what]}" for w, m in one.measures.items() if m[what]]

    assert _of(seen, against) == []


def test_no_first_tab_leaves_a_third_of_a_laptops_width_empty(
    seen: list[Seen], pages: Tour
) -> None:
    first = [one for one in seen if one.path in set(pages.details) and 1280 in one.measures]
    assert len(first) > 15
    unused = [(one.path, one.measures[1280]["unused"]) for one in first]
    assert [one for one in unused if one[1] > 1 / 3] == []


def test_every_page_has_one_heading_and_a_title(seen: list[Seen]) -> None:
    def wrong(one: Seen) -> list[str]:
        return [] if one.here["headings"] == 1 and one.here["title"] else [one.here["title"]]

    assert _of(seen, wrong) == []


def test_a_chinese_page_is_chinese(pages: Tour) -> None:
    """What the cluster wrote stays as it is; `DATA` in reading.js says what that is."""
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
        # What custom types call their columns is in no catalogue.
        if is_english(words) and words not in _VALUES and not _CUSTOM.search(path)
    }
    assert left == {}


def test_twice_the_size_loses_nothing(demo: str, session: Any, browser: Chromium) -> None:
    """200 % in a window of 1280 px is a window of half the width with pixels of twice the size."""
    with opened(browser, View(1280), session, device_scale_factor=2) as page:
        page.set_viewport_size({"width": 640, "height": 400})
        for path in (PODS, *some("twice", [one for one in SAMPLE if one != PODS], 2)):
            page.goto(demo + path)
            found = measure(page)
            assert found["wider"] <= 0, path
            assert found["freshness"], path
            assert found["clipped"] == [], path


def _of(seen: Iterable[Seen], wrong: Callable[[Seen], Iterable[Any]]) -> list[str]:
    """One line for each thing that is wrong, with where it is."""
    return [
        f"{one.path} at {one.view.width}, {one.view.theme}, {one.view.language}: {item}"
        for one in seen
        for item in wrong(one)
    ]
