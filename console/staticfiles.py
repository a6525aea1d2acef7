"""Static files are stored compressed, with their hash in the name; our scripts import each other so."""

from servestatic.storage import CompressedManifestStaticFilesStorage as _Compressed


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
