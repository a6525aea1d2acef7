"""Static files are stored compressed, with their hash in the name; our scripts import each other so, and
a stylesheet holds those that it imports."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from servestatic.storage import CompressedManifestStaticFilesStorage as _Compressed

#: The storage that has a file, and its path there.
Source = tuple[Storage, str]
_IMPORT = re.compile(
    r'^@import url\("(?P<file>[^"]+)"\) layer\((?P<layer>[\w-]+)\);$', re.MULTILINE
)


class StaticFilesStorage(_Compressed):  # type: ignore[misc]
    #: Django's own switch for this reads scripts of other packages, too, whose comments name no files.
    patterns = (
        *_Compressed.patterns,
        (
            "js/*.js",
            (
                (r"""(?P<matched>from "(?P<url>\.[^"]+)")""", 'from "%(url)s"'),
                (r"""(?P<matched>import\("(?P<url>\.[^"]+)"\))""", 'import("%(url)s")'),
            ),
        ),
    )

    def post_process(
        self, paths: Mapping[str, Source], dry_run: bool = False, **options: Any
    ) -> Iterator[tuple[str, str | None, bool | Exception]]:
        """A browser shows nothing before it has all stylesheets, and asks for those that one imports
        only when it has read that one: so they are held in it."""
        sheets: dict[str, Source] = {}
        for name in () if dry_run else [name for name in paths if name.endswith(".css")]:
            whole = _whole(name, paths)
            if whole != _read(name, paths):
                self.delete(name)
                self._save(name, ContentFile(whole.encode()))
                sheets[name] = self, name
        yield from super().post_process({**paths, **sheets}, dry_run=dry_run, **options)


def _read(name: str, paths: Mapping[str, Source]) -> str:
    storage, path = paths[name]
    with storage.open(path) as file:
        return str(file.read(), "utf-8")


def _whole(name: str, paths: Mapping[str, Source]) -> str:
    """A stylesheet with those that it imports in their place. What is not there stays as it is named, and
    so do the files that those name; where they are not found from here, too, Django says so."""

    def held(found: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(name), found["file"]))
        if file not in paths:
            return found[0]
        return f"@layer {found['layer']} {{\n{_whole(file, paths)}}}"

    return _IMPORT.sub(held, _read(name, paths))
