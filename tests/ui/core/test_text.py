import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.ui.core.text import dom_id, escape_invisible


def test_visible_text_is_unchanged() -> None:
    assert escape_invisible("容器组 x-1 — “ok”") == "容器组 x-1 — “ok”"


@pytest.mark.parametrize("char", ["\u202e", "\u200b", "\u2066", "\x00", "\x1b", "\u00ad", "\ufeff"])
def test_invisible_characters_are_shown_as_code_points(char: str) -> None:
    assert escape_invisible(f"a{char}b") == f"a⟨U+{ord(char):04X}⟩b"


def test_dom_id_keeps_plain_names() -> None:
    assert dom_id("pods", "shop/web-1") == "pods-shop_2fweb-1"


@given(st.text(), st.text())
def test_dom_ids_differ_when_keys_differ(one: str, other: str) -> None:
    assert (dom_id("pods", one) == dom_id("pods", other)) == (one == other)


@given(st.text(min_size=1))
def test_dom_id_needs_no_escaping_in_a_selector(key: str) -> None:
    found = dom_id("pods", key)
    assert found.isascii()
    assert all(char.isalnum() or char in "-_" for char in found)
