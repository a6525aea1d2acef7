"""Themes, print, system colors, keyboard focus, overlays, and pasted URLs."""

import re
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import Chromium
from tests.browser.console import live
from tests.browser.looks import axe
from tests.browser.looks.tour import HOST
from tests.browser.looks.walk import View, measure, opened
from tests.support.depth import fewer

PODS = f"{HOST}/pods"
#: The same page with a few rows, because rendering many rows takes most of the time.
FEW = f"{PODS}?q=etcd"
#: The page of an object.
ONE = f"{HOST}/projects/web/deployments/image-resizer"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
GROUNDS = ("canvas", "surface", "sunken", "hover", "raised")
TEXTS = ("ink", "ink-2", "ink-3", "accent", "error-text", "warn-text", "change")
#: WCAG 1.4.11: graphics that are needed to understand or use the page.
MARKS = ("error", "warn", "progress", "ok", "idle", "control")

_CONTRAST = """(pairs) => pairs.map(([front, back]) => {
  const probe = document.body.appendChild(document.createElement("i"));
  const light = (name) => {
    probe.style.color = `var(--${name})`;
    const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3);
    const linear = (part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = parts.map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = [light(front), light(back)].sort((one, other) => one - other);
  probe.remove();
  return (high + 0.05) / (low + 0.05);
})"""

#: Return whether the focused element has a visible focus indicator, is in view, and is not covered.
_FOCUSED = """() => {
  const element = document.activeElement;
  if (element === document.body) return null;
  const style = getComputedStyle(element);
  const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
  const points = [[left + width / 2, top + height / 2], [left + 3, top + 3], [right - 3, bottom - 3]];
  const over = points.map(([x, y]) => document.elementFromPoint(x, y)).filter(Boolean);
  return {
    name: `${element.tagName} ${element.className} ${element.textContent.trim().slice(0, 30)}`,
    ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    seen: over.some((one) => element.contains(one) || one.contains(element)),
    top,
  };
}"""

#: Return whether the element is on top at its position.
_UNCOVERED = """(selector) => {
  const one = document.querySelector(selector);
  const { left, top, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""

#: Return touch targets that are lower than 40 px.
_LOW = """() => [...document.querySelectorAll(
    ".button, .tool, .input, .chip, .chip > a, .freshness, .tabs > a, .rail-link, .menu-item, .sort")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .map((one) => `${one.className} ${one.getBoundingClientRect().height}`)
  .filter((one) => Number(one.split(" ").at(-1)) < 37.9)"""


@pytest.fixture(scope="module")
def _desk(session: Any, browser: Chromium) -> Iterator[Page]:
    with opened(browser, View(1280), session) as page:
        yield page


@pytest.fixture
def page(_desk: Page, session: Any) -> Page:
    """Yield the shared page. Each test opens a URL first."""
    _desk.emulate_media(media="null", color_scheme="light")
    _desk.context.clear_cookies()
    _desk.context.add_cookies(session["cookies"])
    return _desk


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colors_have_enough_contrast(
    demo: str, page: Page, theme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=theme)
    page.goto(f"{demo}/account")
    pairs = [(text, ground, 4.5) for text in TEXTS for ground in GROUNDS]
    pairs += [(mark, ground, 3.0) for mark in MARKS for ground in GROUNDS]
    pairs += [("on-danger", "danger", 4.5), ("surface", "ink", 4.5), ("ink", "accent-tint", 4.5)]
    measured = page.evaluate(_CONTRAST, [[a, b] for a, b, _ in pairs])
    found = zip(pairs, measured, strict=True)
    assert [(a, b, there) for (a, b, least), there in found if there < least] == []


def test_the_theme_follows_the_system_unless_one_is_selected(demo: str, page: Page) -> None:
    def ground() -> str:
        color: str = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        return color

    page.goto(f"{demo}/account")
    light = ground()
    page.emulate_media(color_scheme="dark")
    dark = ground()
    assert light != dark
    page.locator(".avatar").click()
    page.locator("#account-menu").get_by_role("button", name="Light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert ground() == light
    page.emulate_media(color_scheme="light")
    page.locator(".avatar").click()
    page.locator("#account-menu").get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert ground() == dark


def test_printing_shows_rows_without_controls(demo: str, page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(demo + PODS)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    ink = page.evaluate("getComputedStyle(document.querySelector('.stem')).color")
    assert ink == "rgb(24, 34, 48)"
    expect(page.locator("#results tbody tr").first).to_be_visible()
    for selector in (".topbar", ".rail", ".filters", ".pager", "#results .actions", ".tick"):
        expect(page.locator(selector).first).to_be_hidden()
    controls = page.locator("button, input, select, .button, .tool").locator("visible=true")
    expect(controls).to_have_count(0)
    # A sticky header would cover the rows of each printed page.
    place = "(one) => getComputedStyle(one).position"
    assert page.locator("#results th").first.evaluate(place) == "static"
    heads = page.locator("#results thead th").locator("visible=true")
    expect(heads).to_have_count(
        page.locator("#results tbody tr").first.locator("> *").locator("visible=true").count()
    )
    page.emulate_media(media="null")
    page.goto(demo + ONE)
    page.emulate_media(media="print")
    expect(page.locator("#main h1")).to_be_visible()
    expect(controls).to_have_count(0)


def test_headers_and_freshness_indicator_of_a_list_stay_in_view(demo: str, page: Page) -> None:
    """The bar with the freshness indicator, the menu, and the column headers."""
    page.goto(demo + PODS)
    page.locator("#results tbody .tick input").first.check()
    expect(page.locator(".bulk")).to_be_in_viewport()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    tops = [
        page.locator(one).first.evaluate(
            "(one) => [scrollY > 500, one.getBoundingClientRect().top]"
        )
        for one in (".topbar", ".rail", "#results thead th[data-col=name]")
    ]
    assert tops[0] == [True, 0]
    assert all(43 <= top <= 45 for _, top in tops[1:]), tops
    assert page.evaluate(_UNCOVERED, "#results thead th[data-col=name] .sort")
    assert page.evaluate(_UNCOVERED, ".freshness")


def test_forced_colors_keep_status_marks_visible(
    demo: str, session: Any, browser: Chromium
) -> None:
    with opened(browser, View(1280), session, forced_colors="active") as page:
        page.goto(demo + FEW)
        mark = page.locator("#results tbody .mark").first
        expect(mark).to_be_visible()
        # A mark uses the text color, which the system sets.
        drawn = mark.evaluate(
            "(one) => [getComputedStyle(one).color, getComputedStyle(one.parentElement).color]"
        )
        assert drawn[0] == drawn[1]
        current = page.locator(".rail-link[aria-current=page]")
        bar = "(one) => getComputedStyle(one, '::before').backgroundColor"
        assert current.evaluate(bar) != page.locator("html").evaluate(
            "(one) => getComputedStyle(one).backgroundColor"
        )
        page.keyboard.press("Tab")
        assert page.evaluate(_FOCUSED)["ring"]


@pytest.mark.parametrize(
    ("path", "width"),
    [
        *((PODS, 1280), ("/account", 390)),
        # The same rules apply to sticky elements and focus rings.
        *(
            pytest.param(*one, marks=pytest.mark.deep)
            for one in ((PODS, 390), ("/dashboard", 1280))
        ),
    ],
)
def test_keyboard_focus_is_always_visible(
    demo: str, session: Any, browser: Chromium, path: str, width: int
) -> None:
    with opened(browser, View(width), session) as page:
        page.goto(demo + path)
        page.evaluate("document.fonts.ready")
        wrong, stops = [], 0
        for _ in range(90):
            page.keyboard.press("Tab")
            found = page.evaluate(_FOCUSED)
            if found is None:
                break
            stops += 1
            if not (found["ring"] and found["seen"]):
                wrong.append(found)
        assert wrong == []
        assert stops > 10
        # Also backwards, where sticky elements could cover the focus.
        for _ in range(30):
            page.keyboard.press("Shift+Tab")
            found = page.evaluate(_FOCUSED)
            assert found is None or (found["ring"] and found["seen"]), found


def test_only_rows_of_lists_have_a_peek_button(demo: str, session: Any, browser: Chromium) -> None:
    with opened(browser, View(2560), session) as page:
        for path, expected in ((FEW, "Peek at"), (ONE, "Actions for")):
            page.goto(demo + path)
            buttons = page.locator("tbody .actions").first.locator("button.square:visible")
            expect(buttons.first).to_have_accessible_name(re.compile(f"^{expected} "))


def test_pods_of_a_workload_fit_into_their_panel(
    demo: str, session: Any, browser: Chromium
) -> None:
    with opened(browser, View(1280), session) as page:
        page.goto(demo + ONE)
        for width in (1280, 1440, 1680, 2560):
            page.set_viewport_size({"width": width, "height": 900})
            box = page.locator(".table.embedded").bounding_box()
            panel = page.locator(".panel:has(> .table.embedded)").bounding_box()
            assert box and panel
            assert box["x"] + box["width"] < panel["x"] + panel["width"], width


def test_escape_returns_the_focus_to_the_row(demo: str, page: Page) -> None:
    page.goto(demo + FEW)
    page.keyboard.press("j")
    page.keyboard.press("j")
    key = page.evaluate("document.activeElement.dataset.key")
    page.keyboard.press(".")
    expect(page.locator(".menu:popover-open")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".menu:popover-open")).to_have_count(0)
    assert key in page.evaluate("document.activeElement.closest('tr').dataset.key")
    page.keyboard.press("o")
    expect(page.locator("#detail")).to_be_visible()
    live(page)
    page.keyboard.press("Escape")
    expect(page.locator("#results")).to_be_visible()


@pytest.mark.parametrize(
    "view", fewer([View(w, t) for w in (390, 1280) for t in THEMES], View(390, "dark"))
)
def test_axe_finds_no_violations_in_overlays(
    demo: str, session: Any, browser: Chromium, view: View, with_axe: None
) -> None:
    with opened(browser, view, session) as page:
        page.goto(demo + FEW)
        openers = [".avatar", "[popovertarget=scope-menu]", "[popovertarget=add-filter]"]
        openers += ["#results .actions [popovertarget]"]
        openers += ["[popovertarget=rail]"] if view.width < 1024 else []
        for opener in openers:
            page.locator(opener).first.click()
            opens = page.locator(":popover-open")
            expect(opens).to_be_visible()
            # The content behind is half covered, so axe would measure only the rows that happen to
            # be visible.
            assert axe.violations(page, within=f"#{opens.get_attribute('id')}") == [], opener
            page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.locator("#help")).to_be_visible()
        assert axe.violations(page, within="#help") == [], "help"
        page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("option").first).to_be_visible()
        assert axe.violations(page, within="#palette") == [], "palette"


@pytest.mark.parametrize("language", fewer(["en", "zh"], "en"))
def test_overlays_fit_a_phone_and_have_large_touch_targets(
    demo: str, session: Any, browser: Chromium, language: str
) -> None:
    """Includes long names, and no animation if reduced motion is set."""
    phone = View(390, language=language)
    with opened(browser, phone, session, has_touch=True, is_mobile=True) as page:

        def fits(what: str) -> None:
            found = measure(page)
            assert max(found["wider"], found["named"]) <= 0, what
            assert found["small"] + found["clipped"] + found["placed"] == [], what
            assert page.evaluate(_LOW) == [], what

        for path in (f"{FEW}&label=tier%3Dcontrol-plane", ONE):
            page.goto(demo + path)
            fits(path)
            openers = page.locator("[popovertarget]:visible")
            targets = openers.evaluate_all(
                "all => all.map((one) => one.getAttribute('popovertarget'))"
            )
            # Only the menu of the first row.
            for target in {re.sub("^menu-.*", "menu-", one): one for one in targets[::-1]}.values():
                page.locator(f"[popovertarget='{target}']").first.click()
                opens = page.locator(":popover-open")
                expect(opens).to_be_visible()
                fits(target)
                moves = "(one) => getComputedStyle(one).animationName"
                assert opens.evaluate(moves) == "none", target
                page.keyboard.press("Escape")
                expect(opens).to_have_count(0)
        page.goto(demo + FEW)
        for key, opens in (
            ("?", page.locator("#help")),
            ("Control+k", page.locator("#palette")),
        ):
            page.keyboard.press(key)
            expect(opens).to_be_visible()
            fits(key)
            page.keyboard.press("Escape")
            expect(opens).to_be_hidden()
        page.locator("#results tbody .tick input").first.check()
        expect(page.locator(".bulk")).to_be_visible()
        fits("what is chosen")
        page.evaluate("window.quarterdeck.toast('w'.repeat(300))")
        expect(page.locator(".toast")).to_be_in_viewport()
        fits("what is said in passing")


def test_selected_columns_are_labeled_on_a_phone(
    demo: str, session: Any, browser: Chromium
) -> None:
    before = "(one) => getComputedStyle(one, '::before').content"
    for language, head in (("en", '"Node"'), ("zh", '"节点"')):
        with opened(browser, View(390, language=language), session) as page:
            page.goto(f"{demo}{FEW}&columns=name,node,label:app")
            row = page.locator("#results tbody tr").first
            expect(row.locator("[data-col=node]")).to_be_visible()
            assert row.locator("[data-col=node]").evaluate(before) == head
            assert row.locator("[data-col='label:app']").evaluate(before) == '"app"'


def test_too_many_columns_scroll_inside_the_table(demo: str, page: Page) -> None:
    labels = ",".join(f"label:app.kubernetes.io/label-with-a-long-name-{n}" for n in range(8))
    page.goto(f"{demo}{FEW}&columns=name,namespace,status,ready,node,{labels},age")
    page.evaluate("document.fonts.ready")
    table = page.locator("#results > table")
    expect(table).to_have_attribute("data-fit", "scroll")
    found = measure(page)
    assert found["wider"] <= 0
    assert found["outside"] == []
    assert table.evaluate("(one) => one.scrollWidth > one.clientWidth")


def test_a_pasted_url_restores_the_same_view(demo: str, page: Page) -> None:
    page.goto(f"{demo}{PODS}?namespace=checkout")
    page.fill("#q", "cart")
    expect(page).to_have_url(re.compile("q=cart"))
    page.locator("thead th[data-col=name] a").click()
    expect(page).to_have_url(re.compile("sort="))
    expect(page.locator("thead th[data-col=name]")).to_have_attribute("aria-sort", re.compile("."))
    other = page.context.new_page()
    other.goto(page.url)
    assert _picture(other) == _picture(page)
    assert "checkout" in _picture(other)


def _picture(page: Page) -> str:
    """Return the visible text of the page without ages, which change over time."""
    text: str = page.evaluate(
        """() => {
          const copy = document.querySelector("main").cloneNode(true);
          copy.querySelectorAll(".age, svg").forEach((one) => one.remove());
          const fields = [...copy.querySelectorAll("input:not([type=hidden])")];
          const values = fields.map(({ name, value }) => `${name}=${value}`);
          return [copy.textContent.replace(/\\s+/g, " "), ...values].join("|");
        }"""
    )
    return text
