"""Splitting bytes into lines, independent of chunk boundaries."""

from hypothesis import given
from hypothesis import strategies as st

from console.logs.ansi import strip_escapes
from console.logs.lines import MAX_LINE_BYTES, LogLine, Splitter

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


def test_progress_bar_longer_than_the_limit_shows_its_last_state() -> None:
    states = b"\r".join(b"%d%%" % number for number in range(1000))
    (line,) = split(f"{STAMP} ".encode() + states + b"\r\n", longest=50)
    assert (line.stamp, line.cut) == (STAMP, 0)
    assert strip_escapes(line.text) == "999%"
    (line,) = split(b"a" * 90 + b"\r" + b"b" * 90 + b"\r", longest=19)
    assert line == LogLine("", b"b" * 50, 40)


def test_download_keeps_overwritten_text() -> None:
    splitter = Splitter(50, keeps_overwritten=True)
    (line,) = splitter.feed(f"{STAMP} ".encode() + b"10%\r" * 20 + b"\n")
    assert line == LogLine(STAMP, (b"10%\r" * 20)[:50], 30)


def test_filters_read_the_same_text_of_a_download_as_of_a_page() -> None:
    long = LogLine(STAMP, b"a" * MAX_LINE_BYTES + b"b" * 1000)
    assert long.text == "a" * MAX_LINE_BYTES
    assert LogLine(STAMP, b"a" * MAX_LINE_BYTES + b"\rshort\r").text == "short"
