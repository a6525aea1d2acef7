"""List a folder of a container and describe single files.

`find` and `stat` of busybox, toybox and GNU accept the same arguments. Each file is a record that
starts with `///` in a new line. Names can't contain a slash, so a record can't be forged by a name.
"""

import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from console.files.commands import ContainerPlace, MissingProgram, run_program
from console.files.query import joined
from console.ui.core.amounts import bytes_text

#: Maximum number of entries that are shown, and of bytes that are read.
MAX_ENTRIES, MAX_LISTING = 2000, 1024 * 1024
_START = b"///"
#: Mode (hexadecimal), size, time, numeric and symbolic owner and group, path, and link target.
_FORMAT = "///%f/%s/%Y/%u/%g/%U/%G/%n//%N"
_UNKNOWN = (b"", b"?", b"UNKNOWN")
_MAX_TIME = 2**40


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file. `path`: "" if its name isn't valid UTF-8, so that no request can name it. `target`: of
    a symbolic link, "" if unknown.
    """

    name: str
    path: str
    mode: int
    size: int
    modified: datetime | None
    owner: str
    target: str = ""

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    @property
    def permissions(self) -> str:
        return stat.filemode(self.mode)

    @property
    def size_text(self) -> str:
        return bytes_text(Decimal(self.size)) if self.is_file else ""


@dataclass(frozen=True, slots=True)
class FolderListing:
    """`cut`: the folder has more entries. `problem`: translated error, "" if there was none."""

    entries: Sequence[FileEntry]
    cut: bool = False
    problem: str = ""


async def list_folder(place: ContainerPlace, path: str) -> FolderListing:
    """List the entries of a folder: folders first, then by name.

    Raise `FileError` if the container has no suitable programs or doesn't answer.
    """
    # With `/.`, a symbolic link to a folder is followed, and a file is an error.
    inside = f"{path.rstrip('/')}/."
    limits = ("-mindepth", "1", "-maxdepth", "1")
    command = ("find", inside, *limits, "-exec", "stat", "-c", _FORMAT, "{}", "+")
    report = await run_program(place, command, most=MAX_LISTING)
    entries = read_entries(report.output, f"{inside}/", path, complete=not report.cut)
    problem = ""
    if not report.cut:
        if report.run.ending is not None and report.run.ending.missing:
            raise MissingProgram("find")
        if report.run.ending is None or report.run.ending.code != 0:
            problem = report.run.failure_text
    entries.sort(key=lambda one: (not one.is_folder, one.name))
    return FolderListing(entries[:MAX_ENTRIES], report.cut or len(entries) > MAX_ENTRIES, problem)


async def describe(place: ContainerPlace, path: str) -> FileEntry | None:
    """Return the file that `path` leads to, or None if it doesn't exist or can't be read."""
    report = await run_program(place, ("stat", "-L", "-c", _FORMAT, path))
    if report.run.ending is not None and report.run.ending.missing:
        raise MissingProgram("stat")
    folder = path.rpartition("/")[0]
    found = read_entries(report.output, f"{folder}/", folder, complete=True)
    return found[0] if found else None


def read_entries(data: bytes, prefix: str, folder: str, *, complete: bool) -> list[FileEntry]:
    """Parse the records of files whose paths start with `prefix`. Ignore invalid records, and the
    last record if the output isn't `complete`.
    """
    first, *records = (b"\n" + data).split(b"\n" + _START)
    del first
    if records and complete:
        records[-1] = records[-1].removesuffix(b"\n")
    elif records:
        records.pop()
    found = (_read(record, prefix.encode(), folder) for record in records)
    return [one for one in found if one is not None]


def _read(record: bytes, prefix: bytes, folder: str) -> FileEntry | None:
    try:
        mode, size, modified, *owner, rest = record.split(b"/", 7)
        when, bits, length = int(modified), int(mode, 16), int(size)
        user_id, group_id, user, group = owner
    except ValueError:
        return None
    raw, _slashes, shown = rest.partition(b"//") if rest.startswith(prefix) else (b"", b"", b"")
    name = raw.removeprefix(prefix)
    if not name or b"/" in name or not 0 <= bits < 2**16 or length < 0:
        return None
    try:
        text = name.decode()
        path = joined(folder, text)
    except UnicodeDecodeError:
        text, path = name.decode(errors="replace"), ""
    quoted = b"'" + raw + b"' -> '"
    target = shown.removeprefix(quoted).removesuffix(b"'") if shown.startswith(quoted) else b""
    names = ((user, user_id), (group, group_id))
    words = [
        (number if word in _UNKNOWN else word).decode(errors="replace") for word, number in names
    ]
    return FileEntry(
        name=text,
        path=path,
        mode=bits,
        size=length,
        modified=datetime.fromtimestamp(when, UTC) if 0 <= when < _MAX_TIME else None,
        owner=":".join(words),
        target=target.decode(errors="replace"),
    )
