"""Installed packages have at least the versions that fixed security problems relevant to this
console.

Minimum versions as of October 2026, from the projects' own security notes.
"""

from importlib.metadata import version

import pytest

FLOORS = {"Django": "5.2.18", "daphne": "4.2.2", "Twisted": "24.7", "urllib3": "2.6.3"}


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


@pytest.mark.parametrize(("package", "floor"), FLOORS.items())
def test_installed_version_has_known_fixes(package: str, floor: str) -> None:
    assert numbers(version(package)) >= numbers(floor)
