"""Splitting bytes into lines, independent of chunk boundaries."""

from hypothesis import given
from hypothesis import strategies as st

from console.logs.lines import LogLine, Splitter

STAMP = "2026-11-24T10:12:38.114000001Z"


def split(*pieces: bytes, longest: int = 1000) -> list[LogLine]:
    splitter = Splitter(longest)
    found = [line for piece in pieces for line in splitter.feed(piece)]
    return [*found, *splitter.end()]


def test_line_consists_of_timestamp_and_text() -> None:
    data = f"{STAMP} hello\n{STAMP} \nno moment\n".encode()
    assert split(data) == [LogLine(STAMP, b"hello"), LogLine(STAMP, b""), LogLine("", b"no moment")]


def test_invalid_utf_8_is_replaced() -> None:
    (line,) = split(b"a\xff\xc3(\x00b")
    assert line.text == "a\ufffd\ufffd(\x00b"


def test_long_line_is_truncated_and_marked() -> None:
    first, second = split(f"{STAMP} ".encode() + b"x" * 50 + b"\nrest\n", longest=10)
    assert first == LogLine(STAMP, b"x" * 10, 40)
    assert second == LogLine("", b"rest")


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_chunk_boundaries_do_not_change_the_lines(data: bytes, places: list[int]) -> None:
    cuts = sorted({0, len(data), *(place for place in places if place < len(data))})
    pieces = [data[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]
    assert split(*pieces, longest=20) == split(data, longest=20)
    assert b"\n".join(line.raw for line in split(*pieces)) == data.removesuffix(b"\n")
