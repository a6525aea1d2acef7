"""ANSI escape sequences: colors become CSS classes, all other sequences are removed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.logs.ansi import strip_escapes, styled_text

#: Sequences that control a terminal, and the text that remains.
HARMLESS = {
    "\x1b]0;title\x07after": "after",
    "\x1b]2;title\x1b\\after": "after",
    "\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07": "link",
    "\x1b]52;c;ZXZpbA==\x07after": "after",
    "\x1b]1337;File=inline=1:AAAA\x07after": "after",
    "\x1b]4;1;?\x07after": "after",
    "\x1b]never ends": "",
    "\x1bP$qm\x1b\\after": "after",
    "\x1bX sos \x1b\\after": "after",
    "\x1b^pm\x1b\\after": "after",
    "\x1b_apc\x1b\\after": "after",
    "\x90dcs\x9cafter": "after",
    "\x9d0;title\x9cafter": "after",
    "a\x1b[2Jb": "ab",
    "a\x1b[1;1Hb": "ab",
    "a\x1b[6nb": "ab",
    "a\x1b[cb": "ab",
    "a\x1b[?1049hb": "ab",
    "a\x1b[20tb": "ab",
    "a\x9b2Jb": "ab",
    "a\x1b(Bb": "ab",
    "a\x1bcb": "ab",
    "a\x1b#8b": "ab",
    "a\x1b[>4;2mb": "ab",
    "a\x1b[": "a",
    "a\x1b": "a",
    "a\rb\x08\x07\x00\x7fc": "abc",
    "a\x85b": "ab",
    "tab\there": "tab\there",
}


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
