"""Thresholds that map a usage percentage to a severity, for bars and marks."""

from typing import Literal

#: Percentages for a warning and for an error.
NEARLY, FULL = 80, 100


def usage_severity(share: int | None) -> Literal["", "warn", "error"]:
    """Return the severity for a percentage. `share` is None if unknown."""
    if share is None or share < NEARLY:
        return ""
    return "error" if share >= FULL else "warn"
