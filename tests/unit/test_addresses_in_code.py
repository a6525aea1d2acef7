"""Values in URL queries are quoted; otherwise an `&` or `#` would truncate them."""

import re
from collections.abc import Iterator

from tests.support.packages import PACKAGES
from tests.unit.templates.files import ALL, ROOT, source

_IN_CODE = re.compile(r"[?&][\w-]+=\{(?!quote\()[^}]*\}")
_IN_TEMPLATES = re.compile(r"[?&](?:amp;)?[\w-]+=\{\{(?![^}]*\|urlencode)[^}]*\}\}")
#: Constants, numbers and cluster names, which need no quoting.
_PLAIN = {
    *("?level={level.value}", "?range={label}"),
    *("?undo={{ change.number }}", "?revision={{ revision.number }}", "?cluster={{ member }}"),
}


def _found() -> Iterator[tuple[str, str]]:
    """Yield the location and the expression."""
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
