"""What goes into the query of an address is quoted: with a `&` or `#` a value would end early."""

import re
from collections.abc import Iterator

from tests.unit.templates.files import ALL, ROOT, source
from tests.unit.templates.test_locale import PACKAGES

_IN_CODE = re.compile(r"[?&][\w-]+=\{(?!quote\()[^}]*\}")
_IN_TEMPLATES = re.compile(r"[?&](?:amp;)?[\w-]+=\{\{(?![^}]*\|urlencode)[^}]*\}\}")
#: Words of ours, numbers, and names of clusters, which have nothing to quote.
_PLAIN = {
    *("?level={level.value}", "?range={label}"),
    *("?undo={{ change.number }}", "?revision={{ revision.number }}", "?cluster={{ member }}"),
}


def _found() -> Iterator[tuple[str, str]]:
    """Where it is, and what."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for one in _IN_CODE.findall(path.read_text()):
                yield path.relative_to(ROOT).as_posix(), one
    for name in ALL:
        for one in _IN_TEMPLATES.findall(source(name)):
            yield name, one


def test_values_in_queries_are_quoted() -> None:
    wrong = [f"{where}: {what}" for where, what in _found() if what not in _PLAIN]
    assert not wrong, "\n".join(wrong)
