"""Whole pages: what is long in them is not drawn through their templates, but put in at the end.

Templates join what they draw at each of their levels, and a single letter beyond Latin-1 makes all of a
page twice as wide and slow to encode. The lines of a list are nearly all of its page, and mostly ASCII.
"""

import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from console.ui.gaps import leaving

#: Stands where a part is. Nobody outside of this process knows it, so no text contains it.
_MARK = f"aside-{secrets.token_hex(16)}"
#: Those of the page that is being drawn, in their order.
_aside: ContextVar[list[str] | None] = ContextVar("aside", default=None)


def put_aside(html: SafeString) -> SafeString:
    """What to draw in its place: a mark within `page`, else `html` itself, as in what is kept."""
    aside = _aside.get()
    if aside is None or leaving():
        return html
    aside.append(html)
    return SafeString(_MARK)


def page(request: HttpRequest, template: str, context: Mapping[str, Any]) -> bytes:
    """The content of an answer, as `render` would draw it."""
    aside: list[str] = []
    token = _aside.set(aside)
    try:
        around = render_to_string(template, context, request)
    finally:
        _aside.reset(token)
    pieces = [b""] * (2 * len(aside) + 1)
    pieces[::2] = [text.encode() for text in around.split(_MARK)]
    pieces[1::2] = [text.encode() for text in aside]
    return b"".join(pieces)
