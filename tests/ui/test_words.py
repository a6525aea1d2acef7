"""Every word that a projection can say is in the catalogue's list."""

import ast
from pathlib import Path

from django.utils import translation

from console.kube import projections
from console.kube.status import Severity
from console.ui.words import SEVERITY_WORDS, STATUS_WORDS, translate


def _spoken() -> set[str]:
    """The second argument of each `Status(...)` in the projections' source."""
    found: set[str] = set()
    for path in Path(projections.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Status":
                found |= {
                    leaf.value
                    for leaf in ast.walk(node.args[1])
                    if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
                }
    return found


def test_every_word_of_a_projection_is_listed() -> None:
    spoken = _spoken()
    assert "Crash loop" in spoken
    assert spoken <= STATUS_WORDS


def test_every_severity_has_a_word() -> None:
    assert set(SEVERITY_WORDS) == set(Severity)


def test_words_are_translated_when_they_are_shown() -> None:
    word = translate("Crash loop")
    with translation.override("en"):
        assert str(word) == "Crash loop"
