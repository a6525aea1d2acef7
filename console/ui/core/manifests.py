"""Masking and safe reading of objects as returned by Kubernetes.

Secret values are masked before any other code sees an object. kubectl copies the whole object
into an annotation, so that annotation is masked as well.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from console.kube.projections.common import valid_time
from console.ui.core.text import escape_invisible

MASK = "••••••"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def mask_values(manifest: dict[str, Any], paths: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """Mask the values at the given paths in place and return `manifest`.

    A mapping keeps its keys and gets masked values. Any other value is masked as a whole.
    """
    for path in paths:
        _mask(manifest, path)
        _mask(manifest, ("metadata", "annotations", LAST_APPLIED))
    return manifest


def _mask(value: Any, path: tuple[str, ...]) -> None:
    *parents, last = path
    for name in parents:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict) and value.get(last):
        found = value[last]
        value[last] = dict.fromkeys(found, MASK) if isinstance(found, dict) else MASK


#: Maximum characters of a text in a panel. The YAML tab shows the full text.
LONGEST = 1000


def mapping(value: Any, *path: str) -> Mapping[str, Any]:
    """Return the mapping at `path`, or an empty one if the value is missing or not a mapping."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def mappings_at(value: Any, *path: str) -> list[Mapping[str, Any]]:
    """Return the mappings in the list at `path`."""
    *parents, last = path
    found = mapping(value, *parents).get(last)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text(value: Any) -> str:
    """Return a string or number as one line of text, or "" for values of other types."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        return ""
    found = escape_invisible(" ".join(str(value)[: LONGEST + 1].split()))
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 1]}…"


def texts(value: Any) -> list[str]:
    """Return the non-empty texts of a list."""
    return [found for item in value if (found := text(item))] if isinstance(value, list) else []


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def time_text(value: Any) -> str:
    """Return an RFC 3339 time as a text in UTC, or ""."""
    found = time(value)
    return f"{found:%Y-%m-%d %H:%M:%S} UTC" if found is not None else ""


def time(value: Any) -> datetime | None:
    """Parse an RFC 3339 time and return it in UTC, or None."""
    try:
        return valid_time(datetime.fromisoformat(value)) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None
