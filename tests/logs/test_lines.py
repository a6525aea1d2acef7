"""Bytes as lines, however they are cut."""

from hypothesis import given
from hypothesis import strategies as st

from console.logs.lines import Line, Splitter

STAMP = "2026-11-24T10:12:38.114000001Z"


def split(*pieces: bytes, longest: int = 1000) -> list[Line]:
    splitter = Splitter(longest)
    found = [line for piece in pieces for line in splitter.feed(piece)]
    return [*found, *splitter.end()]


def test_a_line_has_its_moment_and_its_text() -> None:
    data = f"{STAMP} hello\n{STAMP} \nno moment\n".encode()
    assert split(data) == [Line(STAMP, b"hello"), Line(STAMP, b""), Line("", b"no moment")]


def test_what_is_no_text_is_replaced() -> None:
    (line,) = split(b"a\xff\xc3(\x00b")
    assert line.text == "a\ufffd\ufffd(\x00b"


def test_a_line_that_is_too_long_is_cut_and_says_so() -> None:
    first, second = split(f"{STAMP} ".encode() + b"x" * 50 + b"\nrest\n", longest=10)
    assert first == Line(STAMP, b"x" * 10, 40)
    assert second == Line("", b"rest")


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_how_it_is_cut_into_pieces_changes_nothing(data: bytes, places: list[int]) -> None:
    cuts = sorted({0, len(data), *(place for place in places if place < len(data))})
    pieces = [data[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]
    assert split(*pieces, longest=20) == split(data, longest=20)
    assert b"\n".join(line.raw for line in split(*pieces)) == data.removesuffix(b"\n")
