"""Records of files in the output of `stat`, whose names a tenant chooses."""

import stat
from datetime import UTC, datetime

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from console.files.listing import FileEntry, read_entries
from console.files.query import read_file_name, read_query
from console.logs.query import BadQuery

PREFIX = "/srv/./"


def record(name: bytes, mode: str = "81a4", target: bytes = b"") -> bytes:
    path = PREFIX.encode() + name
    quoted = b"'" + path + b"'" + (b" -> '" + target + b"'" if target else b"")
    return b"///" + f"{mode}/12/1700000000/1000/50/UNKNOWN/staff/".encode() + path + b"//" + quoted


def read(*records: bytes, complete: bool = True) -> list[FileEntry]:
    data = b"".join(one + b"\n" for one in records)
    return read_entries(data, PREFIX, "/srv", complete=complete)


def test_metadata_of_a_file_is_read() -> None:
    when = datetime.fromtimestamp(1700000000, UTC)
    [found] = read(record(b"a.txt"))
    assert found == FileEntry("a.txt", "/srv/a.txt", 0o100644, 12, when, "1000:staff")
    assert (found.permissions, found.size_text, found.is_file) == ("-rw-r--r--", "12", True)
    [link] = read(record(b"link", "a1ff", b"/etc/x"))
    assert (link.is_link, link.target, link.size_text) == (True, "/etc/x", "")
    assert read(record(b"d", "41ed"))[0].is_folder


#: Names that look like other records, options, markup or other folders.
NAMES = [
    b"new\nline", b"\n", b"-rf", b"<img src=x>", b"$(id)", b"a'b", b"' -> 'x", b"\x1b[31m", b"..", b"a\\",
    b"//".replace(b"/", b"%2f"), "‮txt".encode(), b" ",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_unusual_names_are_read_unchanged(name: bytes) -> None:
    found = read(record(b"first"), record(name), record(b"last"))
    assert [one.name for one in found] == ["first", name.decode(), "last"]


@given(st.lists(st.binary(min_size=1, max_size=20)))
def test_any_names_are_read_unchanged(names: list[bytes]) -> None:
    names = [name.replace(b"/", b"") or b"x" for name in names]
    found = read(*map(record, names))
    assert [one.name for one in found] == [name.decode(errors="replace") for name in names]


def test_name_that_is_not_utf_8_has_no_path() -> None:
    [found] = read(record(b"a\xff"))
    assert (found.name, found.path) == ("a\ufffd", "")


@given(st.binary(max_size=200))
def test_invalid_output_is_ignored(data: bytes) -> None:
    for found in read_entries(b"///" + data, PREFIX, "/srv", complete=True):
        assert found.path in ("", f"/srv/{found.name}") and "/" not in found.name


def test_file_outside_of_the_folder_is_ignored() -> None:
    good = record(b"a")
    assert read(good.replace(b"/srv/./a", b"/etc/passwd")) == []
    assert read(good.replace(b"/srv/./a", b"/srv/./b/c")) == []
    assert len(read(good, good + b"incomplete", complete=False)) == 1
    assert stat.S_ISREG(read(good)[0].mode)


@pytest.mark.parametrize(
    "path", ["etc", "/../etc", "/a/./b", "/a/..", "..", "/a\x00b", "/" + "a" * 5000]
)
def test_invalid_paths_are_refused(path: str) -> None:
    query = QueryDict(mutable=True)
    query["path"] = path
    with pytest.raises(BadQuery):
        read_query(query)


def test_paths_are_normalized() -> None:
    assert read_query(QueryDict("")).path == "/"
    assert read_query(QueryDict("path=//a///b/")).path == "/a/b"
    assert read_query(QueryDict("path=/...%20-x")).path == "/... -x"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\nb", "a\x00", "\u202etxt", "a" * 256, "é" * 200]
)
def test_invalid_file_names_are_refused(name: str) -> None:
    with pytest.raises(BadQuery):
        read_file_name(name)
