"""The values of a Secret as a page shows them, to be read and copied.

What is copied is the value itself: of one that has characters that cannot be seen, or that is no text,
that is its base64.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.ui.manifests import mapping
from console.ui.text import visible_block


@dataclass(frozen=True, slots=True)
class Value:
    """`text`: as it may be looked at, None if it is no text. `encoded` is base64, "" where the text is
    the value. `size` is in bytes."""

    key: str
    size: int
    text: str | None
    encoded: str


def values(manifest: Mapping[str, Any]) -> list[Value]:
    """Of each key of `data`, in their order."""
    return [_value(key, found) for key, found in sorted(mapping(manifest, "data").items())]


def _value(key: str, encoded: object) -> Value:
    # No bytes at all are null in what Go writes.
    given = encoded if isinstance(encoded, str) else ""
    try:
        content = base64.b64decode(given, validate=True)
    except ValueError:
        return Value(key, len(given), None, given)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return Value(key, len(content), None, given)
    shown = visible_block(text)
    return Value(key, len(content), shown, "" if shown == text else given)
