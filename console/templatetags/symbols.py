"""SVG shapes of icons and status marks, embedded in pages.

A list contains hundreds of icons, and browsers resolve every reference to an external file
separately.
"""

import re
from collections.abc import Mapping

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

from console.kube.status import Severity

__all__ = ["ICONS", "MARKS"]

_SYMBOL = re.compile(r'<symbol id="([\w-]+)" viewBox="0 0 24 24">(.*?)</symbol>')
_FILE = settings.BASE_DIR / "static" / "vendor" / "lucide" / "icons.svg"

#: 24×24 icons, by name.
ICONS: Mapping[str, SafeString] = {
    name: mark_safe(shapes)  # noqa: S308  a file of the console's own
    for name, shapes in _SYMBOL.findall(_FILE.read_text())
}
#: 12×12 status marks in the state's color.
MARKS: Mapping[str, SafeString] = {
    severity: mark_safe(shapes)  # noqa: S308  written here
    for severity, shapes in {
        Severity.ERROR: '<path fill="currentColor" d="M6 0l6 6-6 6-6-6z"/>',
        Severity.WARN: '<path fill="currentColor" stroke="currentColor" stroke-linejoin="round"'
        ' d="M6 1.25 11.25 10.75H.75z"/>',
        Severity.UNKNOWN: '<circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor"'
        ' stroke-width="1.8" stroke-dasharray="2.6 2.22" stroke-dashoffset="1.3"/>',
        Severity.PROGRESS: '<circle cx="6" cy="6" r="4.7" fill="none" stroke="currentColor"'
        ' stroke-width="1.6"/><path fill="currentColor" d="M6 1.3a4.7 4.7 0 0 0 0 9.4z"/>',
        Severity.ENDING: '<circle cx="6" cy="6" r="4.7" fill="none" stroke="currentColor"'
        ' stroke-width="1.6"/><path fill="none" stroke="currentColor" stroke-width="1.6"'
        ' d="M3.6 6h4.8"/>',
        Severity.OK: '<circle cx="6" cy="6" r="4.5" fill="currentColor"/>',
        Severity.PAUSED: '<path fill="currentColor"'
        ' d="M2.25 1.25h2.5v9.5h-2.5zM7.25 1.25h2.5v9.5h-2.5z"/>',
        Severity.DONE: '<path fill="none" stroke="currentColor" stroke-width="1.9"'
        ' stroke-linecap="round" stroke-linejoin="round" d="M1.5 6.5 4.6 9.6 10.5 2.6"/>',
    }.items()
}
