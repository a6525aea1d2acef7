"""The texts that match a search, shown beside each result."""

from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.ui.core.registry import kinds
from console.ui.search.matches import AROUND, MOST, matches_of
from console.ui.search.query import parse_search
from tests.support.informers import preloaded
from tests.ui.search.builtin_kinds import KINDS
from tests.ui.support import pod


def matches(text: str, **fields: Any) -> list[tuple[str, str, str, str]]:
    item = pod("web-1", **fields)
    item["metadata"]["labels"] = {"app": "Web", "tier": "front" + "x" * 50}
    (entry,) = preloaded(PODS, [item]).store.snapshot().entries.values()
    kind = kinds.by_type(PODS)
    assert kind is not None and entry.key == Key("shop", "web-1")
    found = matches_of(kind, entry, parse_search(KINDS, text))
    return [(one.field, one.before, one.matched, one.after) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eb-", [("name", "w", "eb-", "1")]),
        ("pods web", [("name", "", "web", "-1")]),
        ("WEB app", [("name", "", "web", "-1"), ("label", "", "app", "=Web")]),
        ("app=Web", [("label", "", "app=", "Web")]),
        ("=web", [("label", "app", "=Web", "")]),
        ("nothing", []),
    ],
)
def test_first_matching_text_of_each_word_is_shown(text: str, expected: list[object]) -> None:
    assert matches(text) == expected


def test_column_that_matches_is_named() -> None:
    (found,) = matches("10.9.8", **{}) or [("", "", "", "")]
    assert found == ("", "", "", "")
    item = pod("web-1")
    item["status"]["podIP"] = "10.9.8.7"
    (entry,) = preloaded(PODS, [item]).store.snapshot().entries.values()
    kind = kinds.by_type(PODS)
    assert kind is not None
    (match,) = matches_of(kind, entry, parse_search(KINDS, "10.9.8"))
    assert (match.field, match.matched, match.after) == ("ip", "10.9.8", ".7")


def test_long_texts_are_shortened_around_the_match_and_the_number_is_limited() -> None:
    (match,) = matches("front")
    assert match[3] == "x" * AROUND + "…"
    assert len(matches("w e b - 1 a p p t i r")) <= MOST


def test_characters_that_change_their_length_are_not_cut_apart() -> None:
    item = pod("web-1")
    item["metadata"]["labels"] = {"street": "groß-weg", "markup": "<b>\u202e"}
    (entry,) = preloaded(PODS, [item]).store.snapshot().entries.values()
    kind = kinds.by_type(PODS)
    assert kind is not None
    (match,) = matches_of(kind, entry, parse_search(KINDS, "weg"))
    assert (match.before, match.matched, match.after) == ("", "", "street=groß-weg")
    (match,) = matches_of(kind, entry, parse_search(KINDS, "markup"))
    assert "\u202e" not in match.after
