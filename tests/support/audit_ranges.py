"""The time range on pages of the audit trail."""

import re

#: Links to other ranges, fields of the form, and the displayed start.
_RANGE = re.compile(
    r"""\b(from|to)=[\dT%:A-]+|name="(from|to)" value="[^"]*"|(?<=range-form"><time )datetime=[^>]*"""
)


def without_range(html: str) -> str:
    """Return the page without its time range, which ends at the time of the request."""
    return _RANGE.sub("", html)
