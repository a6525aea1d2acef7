"""Reading objects that may hold anything anywhere.

A custom resource need not have a schema, and whoever may write a status writes what they like into it:
what is not of the kind that is looked for counts as absent. Every text comes out safe to look at.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from console.kube.projections.moments import moment
from console.ui.text import visible

#: Characters of one text that a panel shows; the whole one is in the YAML.
LONGEST = 1000


def mapping(value: Any, *path: str) -> Mapping[str, Any]:
    """What is at `path` if that is an object, else an empty one."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def listed(value: Any, *path: str) -> list[Mapping[str, Any]]:
    """The objects of the list at `path`."""
    *parents, last = path
    found = mapping(value, *parents).get(last)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text(value: Any) -> str:
    """A text or a number in one line; "" for anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        return ""
    found = visible(" ".join(str(value)[: LONGEST + 1].split()))
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 1]}…"


def texts(value: Any) -> list[str]:
    """The texts of a list."""
    return [found for item in value if (found := text(item))] if isinstance(value, list) else []


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def time(value: Any) -> datetime | None:
    """A moment in UTC (RFC 3339)."""
    try:
        return moment(datetime.fromisoformat(value)) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None
