"""In-memory file system of one container.

Errors are `OSError`s with the error numbers of the real operations. The content of a volume is
read again on each access, so that containers see changes of a ConfigMap.
"""

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from posixpath import normpath

#: Maximum number of written bytes and created files per container.
MOST_BYTES, MOST_FILES = 2 * 1024 * 1024, 2_000
_LONGEST_NAME, _LONGEST_PATH = 255, 4096

Content = Callable[[], bytes]


def failure(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class File:
    """A file. If `made` is set, the file is read-only and its content is computed on each read."""

    data: bytes = b""
    made: Content | None = None
    mode: int = 0o644
    changed: datetime = field(default_factory=_now)

    def content(self) -> bytes:
        return self.made() if self.made else self.data


@dataclass(slots=True)
class Folder:
    children: "dict[str, Node]" = field(default_factory=dict)
    mode: int = 0o755
    changed: datetime = field(default_factory=_now)

    def entries(self) -> "Mapping[str, Node]":
        return self.children


@dataclass(slots=True)
class Volume(Folder):
    """A read-only folder. `read` returns its content by path relative to the folder."""

    read: "Callable[[], Mapping[str, bytes | Node]]" = dict

    def entries(self) -> "Mapping[str, Node]":
        found: dict[str, Node] = {}
        for path, what in self.read().items():
            folder, *rest = path.split("/")
            at = found
            for name in rest:
                inner = at.setdefault(folder, Folder(changed=self.changed))
                if not isinstance(inner, Folder):
                    break
                at, folder = inner.children, name
            else:
                at[folder] = self._node(what)
        return found

    def _node(self, what: "bytes | Node") -> "Node":
        return File(what, changed=self.changed) if isinstance(what, bytes) else what


@dataclass(frozen=True, slots=True)
class Device:
    """A device: `null`, `zero`, `random` or `tty`."""

    name: str
    mode: int = 0o666
    changed: datetime = field(default_factory=_now)


@dataclass(frozen=True, slots=True)
class Binary:
    """An executable program with the command name `name`."""

    name: str
    mode: int = 0o755
    changed: datetime = field(default_factory=_now)


Node = File | Folder | Device | Binary


def absolute(folder: str, path: str) -> str:
    """Return the absolute path without `.` and `..`."""
    found = normpath(f"/{path}" if path.startswith("/") else f"{folder}/{path}")
    return f"/{found.lstrip('/')}"


class Files:
    """File system with absolute paths (see `absolute`)."""

    def __init__(self) -> None:
        self.root = Folder()
        self._bytes = self._files = 0

    # Looking ------------------------------------------------------------------------------------

    def find(self, path: str) -> Node | None:
        at: Node = self.root
        for name in path.strip("/").split("/") if path != "/" else ():
            if not isinstance(at, Folder):
                return None
            found = at.entries().get(name)
            if found is None:
                return None
            at = found
        return at

    def node(self, path: str) -> Node:
        found = self.find(path)
        if found is None:
            raise failure(errno.ENOENT, path)
        return found

    def folder(self, path: str) -> Folder:
        found = self.node(path)
        if not isinstance(found, Folder):
            raise failure(errno.ENOTDIR, path)
        return found

    def read(self, path: str) -> bytes:
        """Return the content of a file. The content of a device is empty."""
        found = self.node(path)
        if isinstance(found, Folder):
            raise failure(errno.EISDIR, path)
        if isinstance(found, Binary):
            return b"\x7fELF\x02\x01\x01\0"
        return found.content() if isinstance(found, File) else b""

    def walk(self, path: str) -> Iterator[tuple[str, Node]]:
        """Yield the node and all nodes below it."""
        found = self.node(path)
        yield path, found
        if isinstance(found, Folder):
            for name in sorted(found.entries()):
                yield from self.walk(f"{path.rstrip('/')}/{name}")

    # Changing -----------------------------------------------------------------------------------

    def put(self, path: str, node: Node) -> None:
        """Add a node and its parent folders while the container is created."""
        *folders, name = path.strip("/").split("/")
        at = self.root
        for folder in folders:
            inner = at.children.setdefault(folder, Folder())
            if not isinstance(inner, Folder):
                raise failure(errno.ENOTDIR, path)
            at = inner
        at.children[name] = node

    def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        found = self.find(path)
        if isinstance(found, Folder):
            raise failure(errno.EISDIR, path)
        if isinstance(found, Device):
            return
        if isinstance(found, Binary) or (found and found.made):
            raise failure(errno.EACCES, path)
        parent, name = self._parent(path)
        held = found.data if found else b""
        grown = len(data) if append else len(data) - len(held)
        if self._bytes + grown > MOST_BYTES or (not found and self._files >= MOST_FILES):
            raise failure(errno.ENOSPC, path)
        self._bytes += grown
        if not found:
            self._files += 1
            found = parent.children[name] = File()
        found.data, found.changed = (held + data if append else data), _now()

    def make_folder(self, path: str) -> None:
        if self.find(path):
            raise failure(errno.EEXIST, path)
        parent, name = self._parent(path)
        if self._files >= MOST_FILES:
            raise failure(errno.ENOSPC, path)
        self._files += 1
        parent.children[name] = Folder()

    def remove(self, path: str) -> None:
        """Remove a file or an empty folder."""
        found = self.node(path)
        if isinstance(found, Folder) and found.entries():
            raise failure(errno.ENOTEMPTY, path)
        if isinstance(found, Volume) or path == "/":
            raise failure(errno.EBUSY, path)
        parent, name = self._parent(path)
        del parent.children[name]
        self._files -= 1
        if isinstance(found, File):
            self._bytes -= len(found.data)

    def _parent(self, path: str) -> tuple[Folder, str]:
        """Return the parent folder and the name. Raise an error if the parent is missing or
        read-only.
        """
        above, _, name = path.rpartition("/")
        if len(os.fsencode(name)) > _LONGEST_NAME or len(path) > _LONGEST_PATH:
            raise failure(errno.ENAMETOOLONG, path)
        at: Node = self.root
        for step in above.strip("/").split("/") if above else ():
            if not isinstance(at, Folder):
                raise failure(errno.ENOTDIR, path)
            if isinstance(at, Volume):
                raise failure(errno.EROFS, path)
            found = at.entries().get(step)
            if found is None:
                raise failure(errno.ENOENT, path)
            at = found
        if not isinstance(at, Folder):
            raise failure(errno.ENOTDIR, path)
        if isinstance(at, Volume):
            raise failure(errno.EROFS, path)
        return at, name
