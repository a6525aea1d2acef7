"""Rules for every template."""

import re

from django.template.loader import get_template

from console.logs.ansi import CLASSES
from tests.unit.templates.files import (
    ALL,
    PARTIALS,
    classes_in,
    line_of,
    scripts,
    selectors_with,
    source,
    stylesheets,
)

FORBIDDEN = {
    "an inline style": r"\sstyle\s*=",
    "a style element": r"<style\b",
    "an inline event handler": r"<[^>]*\son\w+\s*=",
    "hx-on, which evaluates code": r"\bhx-on\b",
    "a trigger filter, which evaluates code": r"hx-trigger=\"[^\"]*\[",
    "js: values, which evaluate code": r"hx-(vals|headers|vars)=['\"]\s*(js|javascript):",
    "a filter that turns escaping off": r"\|\s*safe(seq)?\b",
    "a block that turns escaping off": r"autoescape\s+off",
    "a javascript: address": r"javascript:",
    "text in a script": r"<script\b[^>]*>[^<\s]",
}
REQUEST_BOUND = re.compile(r"\brequest\b|csrf|hx-swap-oob|\bmessages\.|\{% extends")


def test_templates_compile() -> None:
    broken = []
    for name in ALL:
        try:
            get_template(name)
        except Exception as error:  # noqa: BLE001 - a tag's compilation may raise anything
            broken.append(f"{name}: {error!r}")
    assert not broken, "\n".join(broken)


def test_templates_do_not_evaluate_or_disable_escaping() -> None:
    wrong = [
        f"{name}:{line_of(text, found)}: {what}: {found.group()}"
        for name in ALL
        for text in [source(name)]
        for what, pattern in FORBIDDEN.items()
        for found in re.finditer(pattern, text)
    ]
    assert not wrong, "\n".join(wrong)


def test_templates_start_with_a_comment_and_stay_short() -> None:
    opening = re.compile(r"({% extends [^%]*%}\n)?{% comment %}")
    wrong = [f"{name} says nothing of itself" for name in ALL if not opening.match(source(name))]
    lengths = {name: len(source(name).splitlines()) for name in ALL}
    wrong += [f"{name} has {lines} lines" for name, lines in lengths.items() if lines > 60]
    assert not wrong, "\n".join(wrong)


def test_scripts_have_the_nonce() -> None:
    nonce = re.compile(r'nonce="({{|{% given) request.csp_nonce (}}|%})"')
    wrong = [
        f"{name}: {tag}"
        for name in ALL
        for tag in re.findall(r"<script\b[^>]*>", source(name))
        if not nonce.search(tag)
    ]
    assert not wrong, "\n".join(wrong)


def test_partials_do_not_use_the_request() -> None:
    """Otherwise the websocket could not send them."""
    comment = re.compile(r"{% comment %}.*?{% endcomment %}", re.DOTALL)
    wrong = [
        f"{name}: {word}"
        for name in PARTIALS
        for word in REQUEST_BOUND.findall(comment.sub("", source(name)))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_class_has_a_rule_and_every_rule_is_used() -> None:
    used = {name for template in ALL for name in classes_in(source(template))}
    written = re.findall(r'className ?[:=] (?:[\w.]+ \? )?"([\w -]+)"', scripts())
    used.update(name for value in written for name in value.split())
    used.update(CLASSES)
    used.update(
        name
        for value in re.findall(r'with (?:\w+=\S+ )*class="([^"]*)"', "\n".join(map(source, ALL)))
        for name in value.split()
    )
    selectors = re.sub(r"\{[^{}]*\}", "{}", stylesheets())
    defined = set(
        re.findall(r"\.([a-z][\w-]*)", re.sub(r"url\([^)]*\)|@import[^;]*;", "", selectors))
    )
    # Classes set by third-party scripts.
    markers = {"htmx-request", "xterm-viewport"}
    assert used - defined - {"clock", "moment"} == set(), "no stylesheet knows these"
    assert defined - used - markers == set(), "no template uses these"


#: The width of the narrowest supported phone, without side margins.
PHONE = 22.0
_WIDE_ALONE = re.compile(r"@media[^{]*\(min-width[^{]*{(?:[^{}]*{[^{}]*})*[^{}]*}")
#: Declarations with a fixed minimum width.
_WIDTH = re.compile(
    r"(?:minmax\(|(?<![\w(-])(?:min-)?(?:width|inline-size):\s*)(\d*\.?\d+)rem[^;}]*"
)


def test_no_fixed_width_exceeds_a_phone_screen() -> None:
    """Including rarely visited pages and states that no browser test covers."""
    css = _WIDE_ALONE.sub("", stylesheets())
    found = list(_WIDTH.finditer(css))
    assert len(found) > 20
    wide = [one[0] for one in found if float(one[1]) > PHONE]
    assert not wide, "\n".join(wide)


#: Elements that the script focuses, so users don't have to find them, and inputs whose frame has
#: the ring.
_WITHOUT_RING = {
    ".main:focus-visible, .dialog:focus-visible", ".docked > .main",
    ".pick > :focus-visible", ".joined > :is(.input, select):focus-visible",
}  # fmt: skip


def test_every_focusable_element_has_a_visible_focus_ring() -> None:
    """Including rules for pointers, which would apply to the keyboard as well."""
    bare = r"outline(-style|-width)?:\s*(0|none|transparent)\b"
    assert selectors_with(bare) == _WITHOUT_RING


def test_added_elements_do_not_restyle_unrelated_siblings() -> None:
    """`* + x` restyles all children of every element that gets a new child, such as all rows of a
    list.
    """
    assert not re.findall(r"[^,{};]*(?:^|[\s>+~,(])\*\s*[+~]\s*[^{}]*{", stylesheets())
