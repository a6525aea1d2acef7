"""The data of a Secret or ConfigMap, and how its values are displayed in the form.
https://kubernetes.io/docs/concepts/configuration/configmap/
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from console.ui.core.manifests import mapping
from console.ui.core.text import has_no_invisible

#: Kubernetes' limit for the total size of all values, in bytes.
LARGEST = 1024 * 1024
#: Maximum size in bytes of a value to edit as text, and of all such values on a page, which has to
#: be sent back.
LONGEST, LONGEST_ALL = 64 * 1024, 400 * 1024
_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
#: Display modes of a value: as text, hidden because it is a secret, or by name only because it is
#: binary, too long, or has non-printable characters.
TEXT, HIDDEN, BINARY, LONG, UNSEEN = "text", "hidden", "binary", "long", "unseen"


@dataclass(frozen=True, slots=True)
class DisplayedValue:
    """A value when the page was rendered. `digest` detects later changes. `text` is "" unless `how`
    is `TEXT`.
    """

    key: str
    size: int
    digest: str
    how: str
    text: str = ""


def is_key(text: str) -> bool:
    return bool(_KEY.fullmatch(text)) and text != "." and not text.startswith("..")


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def decoded_data(manifest: Mapping[str, Any], *, secret: bool) -> dict[str, bytes]:
    """Return the values by key, sorted by key."""
    found = {}
    for key, value in mapping(manifest, "data").items():
        # Go encodes an empty byte slice as null.
        given = value if isinstance(value, str) else ""
        found[key] = _decoded(given) if secret else given.encode()
    for key, value in mapping(manifest, "binaryData").items():
        found[key] = _decoded(value if isinstance(value, str) else "")
    return dict(sorted(found.items()))


def _decoded(given: str) -> bytes:
    try:
        return base64.b64decode(given, validate=True)
    except ValueError:
        return given.encode()


def displayed_values(manifest: Mapping[str, Any], *, secret: bool) -> Iterator[DisplayedValue]:
    left = LONGEST_ALL
    for key, content in decoded_data(manifest, secret=secret).items():
        how = _how(content, left, secret=secret)
        text = content.decode() if how == TEXT else ""
        left -= len(content) if text else 0
        yield DisplayedValue(key, len(content), digest_of(content), how, text)


def _how(content: bytes, left: int, *, secret: bool) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return BINARY
    if secret:
        return HIDDEN
    if len(content) > min(LONGEST, left):
        return LONG
    # Browsers would not return non-printable characters unchanged.
    return TEXT if has_no_invisible(text) else UNSEEN


def data_patch(
    changed: Mapping[str, bytes | None], now: Mapping[str, Any], *, secret: bool
) -> dict[str, dict[str, str | None]]:
    """Return a merge patch for the current object `now`. A value of None removes the key."""
    patch: dict[str, dict[str, str | None]] = {}
    for key, content in changed.items():
        place, value = _placed(content, secret=secret)
        for section in ("data", "binaryData"):
            if section == place:
                patch.setdefault(section, {})[key] = value
            elif key in mapping(now, section):
                patch.setdefault(section, {})[key] = None
    return patch


def _placed(content: bytes | None, *, secret: bool) -> tuple[str, str | None]:
    """Return the section of the object (`data` or `binaryData`) and the encoded value."""
    if content is None:
        return "", None
    if not secret:
        try:
            return "data", content.decode()
        except UnicodeDecodeError:
            pass
    return ("data" if secret else "binaryData"), base64.b64encode(content).decode()
