"""Markup marked as safe in Python code is either a literal or rendered by a template, which escapes
its values.
"""

import ast
from collections.abc import Iterator

import pytest

from tests.support.packages import PACKAGES
from tests.unit.templates.files import ROOT

_SAFE = frozenset({"SafeString", "SafeText", "mark_safe", "format_html", "format_html_join"})
#: The console's own files, and rendered templates.
_DRAWN = frozenset(
    {
        *("shapes", "''.join(pieces)", "left"),
        "placeholder(what) or what.html(get_language() or settings.LANGUAGE_CODE)",
    }
)


def made(module: ast.Module) -> Iterator[str]:
    """Return expressions marked as safe that are not literals."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _SAFE:
            # The first two arguments of format_html_join are markup; the remaining values are
            # escaped.
            many = 2 if ast.unparse(node.func).endswith("format_html_join") else 1
            yield from (ast.unparse(one) for one in node.args[:many] if not _is_written(one))


def _is_written(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("SafeString('<b>')", []),
        ("SafeString(_MARK)", []),
        ("mark_safe(name)", ["name"]),
        ("html.mark_safe(f'<b>{name}</b>')", ["f'<b>{name}</b>'"]),
        ("format_html('<b>{}</b>', name)", []),
        ("format_html('<b>' + name)", ["'<b>' + name"]),
        ("format_html_join(name, '<b>{}</b>', names)", ["name"]),
    ],
)
def test_non_literal_markup_is_detected(code: str, found: list[str]) -> None:
    assert list(made(ast.parse(code))) == found


def test_safe_markup_is_always_literal() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {what}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for what in made(ast.parse(path.read_text()))
        if what not in _DRAWN
    ]
    assert not wrong, "\n".join(wrong)
