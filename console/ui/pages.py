"""Rendering of whole pages whose long parts bypass the page templates.

Nested templates join their output at each level, and a single character beyond Latin-1 doubles
the memory of the joined string and slows down its encoding. The rows of a list are most of its
page and mostly ASCII, so they are encoded separately and inserted at the end.
"""

import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from console.ui.gaps import in_cached_fragment

#: Marks the position of a part. The random value ensures that no other text contains the marker.
_PART_MARK = f"aside-{secrets.token_hex(16)}"
#: Parts of the page that is being rendered, in order.
_aside: ContextVar[list[str] | None] = ContextVar("aside", default=None)


def streamed_part(html: SafeString) -> SafeString:
    """Return a marker for `html` while `render_page` renders, or `html` unchanged in a cached fragment."""
    aside = _aside.get()
    if aside is None or in_cached_fragment():
        return html
    aside.append(html)
    return SafeString(_PART_MARK)


def render_page(request: HttpRequest, template: str, context: Mapping[str, Any]) -> bytes:
    """Return the encoded response content, equal to the output of `render`."""
    aside: list[str] = []
    token = _aside.set(aside)
    try:
        around = render_to_string(template, context, request)
    finally:
        _aside.reset(token)
    pieces = [b""] * (2 * len(aside) + 1)
    pieces[::2] = [text.encode() for text in around.split(_PART_MARK)]
    pieces[1::2] = [text.encode() for text in aside]
    return b"".join(pieces)
