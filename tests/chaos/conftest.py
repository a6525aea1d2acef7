"""One world for all tests of this folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.chaos.world import World
from tests.depth import number


@pytest.fixture(scope="package")
def world(control_plane_programs: Mapping[str, Path]) -> Iterator[World]:
    """The control plane, the proxy before it, and objects of each kind. Each test leaves it whole."""
    # A list of 30 takes several reads, too.
    with World(lambda _text: None, number(30, 100)) as world:
        yield world
