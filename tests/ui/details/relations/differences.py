"""Lines that differ between two revisions."""

import re


def changed_lines(html: str) -> list[tuple[str, str]]:
    """Return sign and text of the different lines."""
    found = re.findall(r'data-change="([+-])".*?<(?:ins|del)>(.*?)</', html)
    return [(sign, line.strip()) for sign, line in found]
