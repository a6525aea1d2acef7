"""Fixtures for the chaos tests: a shared environment."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.chaos.world import World
from tests.support.depth import number


@pytest.fixture(scope="package")
def world(control_plane_programs: Mapping[str, Path]) -> Iterator[World]:
    """Start the control plane, the proxy, and the objects of each kind. Each test must remove its
    faults.
    """
    # A list of 30 objects already needs several reads.
    with World(lambda _text: None, number(30, 100)) as world:
        yield world
