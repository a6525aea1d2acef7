"""Parse the query string of a container's files: container and path."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils.translation import gettext as _

from console.logs.query import MAX_NAME, BadQuery, read_text

#: Maximum bytes of a path and of a file name in Linux.
MAX_PATH, MAX_FILE_NAME = 4096, 255


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesQuery:
    """`container`: "" for the default container. `path`: absolute and normalized."""

    container: str = ""
    path: str = "/"

    def encoded(self, **others: str) -> str:
        given = {"container": self.container, "path": self.path, **others}
        return urlencode({name: value for name, value in given.items() if value})


def read_query(params: QueryDict) -> FilesQuery:
    """Parse `params`. Raise `BadQuery` for invalid values."""
    path = read_text(params, "path", MAX_PATH)
    return FilesQuery(container=read_text(params, "container", MAX_NAME), path=read_path(path))


def read_path(given: str) -> str:
    """Return the normalized path, `/` by default. Raise `BadQuery` for a path that isn't absolute.

    `..` is not allowed: its meaning depends on symbolic links in the container.
    """
    names = [name for name in given.split("/") if name]
    if given and not given.startswith("/") or not {".", ".."}.isdisjoint(names):
        raise BadQuery(_("path must be absolute and must not contain . or .. as a name."))
    if len(given.encode(errors="replace")) > MAX_PATH:
        raise BadQuery(_("%(name)s is too long.") % {"name": "path"})
    return "/" + "/".join(names)


def read_file_name(given: str) -> str:
    """Return the name of an uploaded file. Raise `BadQuery` for names that are not a single visible
    name.
    """
    if given in ("", ".", "..") or "/" in given or not given.isprintable():
        raise BadQuery(_("The file name is empty or contains characters that are not allowed."))
    if len(given.encode(errors="replace")) > MAX_FILE_NAME:
        raise BadQuery(_("%(name)s is too long.") % {"name": _("File name")})
    return given


def joined(folder: str, name: str) -> str:
    """Return the path of a file in a folder."""
    return f"{folder.rstrip('/')}/{name}"
