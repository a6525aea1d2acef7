"""What an informer means for Python's collector of garbage."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from console.kube.gvr import PODS
from console.kube.informer import MANY
from tests.informers import preloaded


class Ring:
    """One that only the collector can take away."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _collects_when_told() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def pods(count: int) -> list[dict[str, object]]:
    return [{"metadata": {"name": f"p{number}", "namespace": "shop"}} for number in range(count)]


def test_a_long_first_list_is_not_looked_through_again_and_keeps_no_garbage() -> None:
    garbage, frozen = weakref.ref(Ring()), gc.get_freeze_count()
    preloaded(PODS, pods(MANY))
    assert gc.get_freeze_count() > frozen + MANY
    assert garbage() is None


def test_a_short_one_is_left_to_the_collector() -> None:
    """Informers come and go: what is garbage then, and what they had, would stay for ever."""
    frozen = gc.get_freeze_count()
    preloaded(PODS, pods(10))
    # What was frozen before may end meanwhile.
    assert gc.get_freeze_count() <= frozen
