"""One world for all tests of this folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.chaos.world import World


@pytest.fixture(scope="package")
def world(control_plane_programs: Mapping[str, Path]) -> Iterator[World]:
    """The control plane, the proxy before it, and objects of each kind. Each test leaves it whole."""
    with World(lambda _text: None) as world:
        yield world
