"""Contrast according to WCAG 2.2, computed from the color tokens."""

import re

import pytest

from tests.unit.templates.files import STATIC, selectors_with, stylesheets

GROUNDS = ("surface", "canvas", "sunken", "hover")
PAIRS = [
    *((text, ground, 4.5) for text in ("ink", "ink-2", "ink-3", "accent") for ground in GROUNDS),
    *((text, "surface", 4.5) for text in ("error-text", "warn-text", "change")),
    *((mark, ground, 3.0) for mark in ("error", "warn", "progress", "ok", "idle") for ground in GROUNDS),
    *(("control", ground, 3.0) for ground in GROUNDS),
    ("on-danger", "danger", 4.5),
    ("ink", "change-tint", 4.5),
    ("ink", "accent-tint", 4.5),
    ("ink", "warn-tint", 4.5),
    ("ink-2", "warn-tint", 4.5),
    ("error-text", "error-tint", 4.5),
    ("error", "error-tint", 3.0),
    ("error", "change-tint", 3.0),
    ("surface", "ink", 4.5),
    *((f"ansi-{ink}", "sunken", 4.5) for ink in ("red", "green", "yellow", "blue", "magenta", "cyan")),
]  # fmt: skip
#: Named colors that might be used in CSS.
_NAMED = {"white": "#fff", "black": "#000"}


def _tokens() -> dict[str, tuple[str, str]]:
    """Return the color tokens as (light, dark)."""
    text = (STATIC / "css" / "tokens.css").read_text()
    both = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", text)
    one = re.findall(r"--([\w-]+): (#\w{6});", text)
    return {name: (light, dark) for name, light, dark in both} | {n: (c, c) for n, c in one}


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_matches_wcag_examples() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_all_token_combinations_are_readable() -> None:
    tokens, wrong = _tokens(), []
    for front, back, least in PAIRS:
        for at, theme in enumerate(("light", "dark")):
            found = contrast(tokens[front][at], tokens[back][at])
            if found < least:
                wrong.append(f"{front} on {back} in the {theme} theme: {found:.2f}")
    assert not wrong, "\n".join(wrong)


def test_colors_set_by_a_rule_are_readable() -> None:
    """Including states that no browser test covers: rules that set both background and text color."""
    tokens, wrong = _tokens(), []
    painted = 0
    for rule in re.findall(r"{([^{}]*)}", stylesheets()):
        said = dict(re.findall(r"(?:^|;)\s*(background|color):\s*([^;]+)", rule))
        both = [_colours(said.get(name, ""), tokens) for name in ("color", "background")]
        if not all(both):
            continue
        painted += 1
        wrong += [
            f"{found:.2f} in the {theme} theme: {' '.join(rule.split())}"
            for theme, *pair in zip(("light", "dark"), *both, strict=True)
            if (found := contrast(*pair)) < 4.5
        ]
    assert painted > 15
    assert not wrong, "\n".join(wrong)


#: Shapes, and rows that are about to be replaced.
_FADED = {".bar-requested", ".lines > .area", ".list.htmx-request .table tbody"}


def test_no_text_is_semi_transparent() -> None:
    """Including states that no browser test covers, because opacity changes the contrast."""
    faded = r"(?:^|[;\s])(?:opacity:(?!\s*[01]\s*(?:;|$))|filter:)"
    assert selectors_with(faded) == _FADED


def _colours(text: str, tokens: dict[str, tuple[str, str]]) -> tuple[str, ...]:
    """Return the colors in the light and the dark theme, or nothing if the value is no color."""
    token = re.fullmatch(r"var\(--([\w-]+)\)", text)
    if token is not None:
        return tokens.get(token[1], ())
    found = re.fullmatch(r"light-dark\((#\w{6}), (#\w{6})\)", text)
    short = re.fullmatch(r"#(\w)(\w)(\w)", _NAMED.get(text, text))
    text = f"#{''.join(2 * one for one in short.groups())}" if short is not None else text
    one = re.fullmatch(r"#\w{6}", text)
    return found.groups() if found is not None else (text, text) if one is not None else ()
