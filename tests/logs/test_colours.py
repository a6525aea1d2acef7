"""ANSI escape sequences: colors become CSS classes, all other sequences are removed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.logs.ansi import StyledText, strip_escapes, styled_text
from tests.logs.escape_sequences import HARMLESS


def text_of(line: str) -> str:
    return "".join(run.text for run in styled_text(line))


@pytest.mark.parametrize(("line", "left"), HARMLESS.items())
def test_terminal_control_sequences_are_removed(line: str, left: str) -> None:
    assert text_of(line) == left == strip_escapes(line)
    assert {run.classes for run in styled_text(line)} <= {""}


@pytest.mark.parametrize(
    ("codes", "classes"),
    [
        ("31", "sgr-red"),
        ("1;31", "sgr-bold sgr-red"),
        ("91", "sgr-red"),
        ("41", "sgr-on-red"),
        ("97;104", "sgr-white sgr-on-blue"),
        ("2;3;4;9", "sgr-dim sgr-italic sgr-struck sgr-underline"),
        ("38;5;1", "sgr-red"),
        ("38;5;9", "sgr-red"),
        ("38;5;46", "sgr-green"),
        ("38;2;200;40;40", "sgr-red"),
        ("48;5;21", "sgr-on-blue"),
        ("38:5:2", "sgr-green"),
        ("8", ""),
        ("5", ""),
        ("31;0", ""),
        ("31;39", ""),
        ("", ""),
        ("38;5", "sgr-black"),
        ("38;2;1", "sgr-black"),
        ("38", ""),
        ("999999999999", ""),
    ],
)
def test_colors_and_weights_become_known_classes(codes: str, classes: str) -> None:
    (run,) = styled_text(f"\x1b[{codes}mtext")
    assert (run.classes, run.text) == (classes, "text")


def test_styles_continue_until_they_change() -> None:
    found = [(run.classes, run.text) for run in styled_text("a\x1b[1;32mb\x1b[22mc\x1b[0md")]
    assert found == [("", "a"), ("sgr-bold sgr-green", "b"), ("sgr-green", "c"), ("", "d")]


def test_invisible_characters_are_shown_as_code_points() -> None:
    assert text_of("a\u202eb") == "a⟨U+202E⟩b"


@given(st.text(alphabet=st.sampled_from("\x1b[]0;:m31\x07\\\x9b\x9dPab \u202e")))
def test_output_never_contains_control_characters(line: str) -> None:
    for run in styled_text(line):
        assert run.text.replace("\t", "").isprintable()
        assert all(name.startswith("sgr-") for name in run.classes.split())


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("10%\r50%\r100%", "100%"),
        ("100%\r", "100%"),
        ("100%\r\x1b[0m\r", "100%"),
        ("\x1b[32m10%\r20%\x1b[0m", "20%"),
        ("\x1b]0;a\rb\x07text", "text"),
        ("first\r\x07second", "second"),
        ("\r", ""),
    ],
)
def test_carriage_return_overwrites_the_line(line: str, left: str) -> None:
    assert text_of(line) == left == strip_escapes(line)


def test_color_before_a_carriage_return_continues() -> None:
    assert styled_text("\x1b[32m10%\r20%\x1b[0m") == [StyledText("sgr-green", "20%")]


@given(st.text(st.sampled_from("ab\r\x07\x1b[31m;"), max_size=30))
def test_styled_text_equals_the_searched_text(line: str) -> None:
    assert text_of(line) == strip_escapes(line)


def test_matches_are_marked_across_colors() -> None:
    found = styled_text("a\x1b[31mbc\x1b[0mdbc\u200b", [(1, 4), (5, 7)])
    assert [(run.classes, run.text, run.hit) for run in found] == [
        ("", "a", False),
        ("sgr-red", "bc", True),
        ("", "d", True),
        ("", "b", False),
        ("", "c⟨U+200B⟩", True),
    ]
