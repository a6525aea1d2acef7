"""Streamed parts of a page end up in their places in the content."""

from typing import Any

import pytest
from django.http import HttpRequest
from django.utils.safestring import SafeString

from console.ui.fragments import placeholders
from console.ui.fragments.placeholders import collect_placeholders, render_page, streamed_part


def drawn(*_arguments: Any) -> str:
    first, second = (streamed_part(SafeString(text)) for text in ("<b>é</b>", "<i>中文</i>"))
    return f"<p>…</p>{first}<p>&amp;</p>{second}{streamed_part(SafeString(''))}"


@pytest.fixture
def content(monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.setattr(placeholders, "render_to_string", drawn)
    return render_page(HttpRequest(), "any.html", {})


def test_streamed_content_equals_the_rendered_template(content: bytes) -> None:
    assert content.decode() == "<p>…</p><b>é</b><p>&amp;</p><i>中文</i>"
    assert drawn() == content.decode()


def test_cached_fragments_are_not_split_into_streamed_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = []

    def keeping(*_arguments: Any) -> str:
        with collect_placeholders():
            kept.append(drawn())
        return kept[0]

    monkeypatch.setattr(placeholders, "render_to_string", keeping)
    assert render_page(HttpRequest(), "any.html", {}).decode() == kept[0] == drawn()
