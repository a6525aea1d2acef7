"""How bad a share of what there is is: a word of severities, for bars and marks."""

from typing import Literal

#: Percent from which it is nearly full, and full.
NEARLY, FULL = 80, 100


def pressure(share: int | None) -> Literal["", "warn", "error"]:
    """`share`: percent, None where it is not known."""
    if share is None or share < NEARLY:
        return ""
    return "error" if share >= FULL else "warn"
