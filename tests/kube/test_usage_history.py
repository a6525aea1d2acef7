"""The history of container usage."""

import math

from console.kube.gvr import Key
from console.kube.metrics_server import ContainerKey, ResourceUsage
from console.kube.usage_history import KEPT, PATIENCE, ContainerHistory

A = ContainerKey(Key("shop", "web-1"), "app")
B = ContainerKey(Key("team-a", "api-1"), "app")


def used(amount: float) -> ResourceUsage:
    return ResourceUsage(amount, amount * 2)


def known(values: object) -> list[float | None]:
    assert isinstance(values, list)
    return [None if math.isnan(value) else value for value in values]


def test_values_start_with_the_first_reading_of_the_container() -> None:
    history = ContainerHistory()
    history.append({A: used(1)})
    history.append({A: used(2), B: used(5)})
    assert known(history.total([A]).cpu) == [1, 2]
    assert known(history.total([A]).memory) == [2, 4]
    assert known(history.total([B]).cpu) == [5]
    assert known(history.total([A, B]).cpu) == [1, 7]
    assert history.now(B) == used(5)
    assert history.total([]).cpu == [] and history.now(A._replace(name="other")) is None


def test_missing_readings_are_gaps() -> None:
    history = ContainerHistory()
    history.append({A: used(1)})
    history.append_gap(1)
    history.append({})
    assert history.now(A) is None
    history.append({A: used(2)})
    assert known(history.total([A]).cpu) == [1, None, None, 2]


def test_only_the_last_hour_is_kept() -> None:
    history = ContainerHistory()
    for n in range(KEPT + 5):
        history.append({A: used(n)})
    assert known(history.total([A]).cpu) == list(range(5, KEPT + 5))
    history.append_gap(10**9)
    assert history.total([A]).cpu == []


def test_container_that_reuses_a_place_has_no_values_of_another() -> None:
    history = ContainerHistory(most=1)
    history.append({A: used(1)})
    for _ in range(PATIENCE):
        history.append({B: used(9)})
        # There is no room for another container.
        assert history.now(B) is None
    assert known(history.total([A]).cpu)[0] == 1
    history.append({B: used(5)})
    assert known(history.total([B]).cpu) == [5]
    assert history.total([A]).cpu == []
