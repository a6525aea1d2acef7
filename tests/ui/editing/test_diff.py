"""Line differences of two texts, and their computation time."""

from hypothesis import given
from hypothesis import strategies as st

from console.ui.editing.diff import MOST, WIDEST, diff_lines, difference
from tests.support.cputime import at_most

_lines = st.lists(st.sampled_from(["a", "b", "c"]), max_size=12)


@given(_lines, _lines)
def test_removed_and_added_lines_transform_one_text_into_the_other(
    before: list[str], after: list[str]
) -> None:
    found = diff_lines(before, after)
    assert bool(found) is (before != after)
    gone = [line.before for line in found if line.sign == "-"]
    come = {line.after: line.text for line in found if line.sign == "+"}
    left = [text for at, text in enumerate(before, 1) if at not in gone]
    assert [text for at, text in enumerate(after, 1) if at not in come] == left
    assert all(after[at - 1] == text for at, text in come.items() if at)


def test_missing_final_newline_is_not_a_difference() -> None:
    lines = difference("a\nb\n", "a\nc\n").lines
    assert [(one.sign, one.text) for one in lines] == [("", "a"), ("-", "b"), ("+", "c")]
    assert difference("a\n", "a\n").lines == ()


def test_long_texts_are_compared_quickly() -> None:
    before = "".join(f"line {at}\n" for at in range(20_000))
    with at_most(2):
        found = difference(before, before.replace("line 1", "line x"))
    assert len(found.lines) == MOST and found.left_out > 10_000
    [gone, come] = [one.text for one in difference("a", "b" * 10_000).lines]
    assert gone == "a" and len(come) == WIDEST + 1


def test_invisible_characters_are_shown_as_code_points() -> None:
    assert [one.text for one in difference("a", "a\u202eb").lines] == ["a", "a⟨U+202E⟩b"]
