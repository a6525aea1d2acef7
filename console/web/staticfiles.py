"""Static files storage that compresses files and adds a hash to their names.

It also rewrites import paths in scripts and inlines imported stylesheets.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from servestatic.storage import CompressedManifestStaticFilesStorage as _Compressed

#: Storage that contains a file, and the file's path in it.
Source = tuple[Storage, str]
_IMPORT = re.compile(
    r'^@import url\("(?P<file>[^"]+)"\) layer\((?P<layer>[\w-]+)\);$', re.MULTILINE
)


class StaticFilesStorage(_Compressed):  # type: ignore[misc]
    #: Django's `support_js_module_import_aggregation` also reads third-party scripts, which name
    #: missing files in comments.
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
        """Inline stylesheet imports, then run Django's post-processing.

        Browsers block rendering until all stylesheets are loaded, and discover an import only
        after loading the stylesheet that contains it.
        """
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
    """Return a stylesheet with its imports inlined. Missing files keep their import, and Django
    reports them.
    """

    def held(found: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(name), found["file"]))
        if file not in paths:
            return found[0]
        return f"@layer {found['layer']} {{\n{_whole(file, paths)}}}"

    return _IMPORT.sub(held, _read(name, paths))
