"""Informers and Python's garbage collector."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from console.kube.gvr import PODS
from console.kube.informer import MANY
from tests.support.informers import preloaded


class Ring:
    """A reference cycle that only the garbage collector frees."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _collects_when_told() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def pods(count: int) -> list[dict[str, object]]:
    return [{"metadata": {"name": f"p{number}", "namespace": "shop"}} for number in range(count)]


def test_long_first_list_is_frozen_without_its_garbage() -> None:
    garbage, frozen = weakref.ref(Ring()), gc.get_freeze_count()
    preloaded(PODS, pods(MANY))
    assert gc.get_freeze_count() > frozen + MANY
    assert garbage() is None


def test_short_first_list_is_not_frozen() -> None:
    """Informers come and go, and frozen garbage would never be freed."""
    frozen = gc.get_freeze_count()
    preloaded(PODS, pods(10))
    # Objects frozen earlier may be freed meanwhile.
    assert gc.get_freeze_count() <= frozen
