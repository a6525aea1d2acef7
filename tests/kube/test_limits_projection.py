"""Resource quotas and their usage, limit ranges and priority classes."""

from typing import Any

import pytest

from console.kube.gvr import LIMIT_RANGES, PRIORITY_CLASSES, RESOURCE_QUOTAS
from tests.kube.projecting import DELETED, projected, said


def quota(*pairs: tuple[str, str, str]) -> Any:
    hard = {name: limit for name, _used, limit in pairs}
    used = {name: amount for name, amount, _limit in pairs if amount}
    return projected(RESOURCE_QUOTAS, status={"hard": hard, "used": used})


FULLNESS: list[tuple[list[tuple[str, str, str]], tuple[str, str, str], int]] = [
    ([("pods", "5", "10")], ("ok", "Within quota", ""), 50),
    ([("pods", "90", "100")], ("ok", "Within quota", ""), 90),
    ([("pods", "901", "1000")], ("warn", "Nearly full", "pods: 901/1000"), 90),
    ([("pods", "10", "10")], ("error", "Full", "pods: 10/10"), 100),
    # The quantities are equal but written differently.
    (
        [("requests.cpu", "1100m", "1.1")],
        ("error", "Full", "requests.cpu: 1100m/1.1"),
        100,
    ),
    (
        [("requests.memory", "1000Mi", "1Gi"), ("pods", "1", "10")],
        ("warn", "Nearly full", "requests.memory: 1000Mi/1Gi"),
        97,
    ),
    # The limit was reduced below the current usage.
    ([("pods", "30", "2")], ("error", "Full", "pods: 30/2"), 999),
    # A quota of zero is intended to forbid the resource; it is an error only if the resource is in
    # use.
    ([("services.loadbalancers", "0", "0")], ("ok", "Within quota", ""), 0),
    (
        [("services.loadbalancers", "1", "0")],
        ("error", "Full", "services.loadbalancers: 1/0"),
        100,
    ),
    ([("pods", "", "10")], ("ok", "Within quota", ""), 0),
    ([("pods", "many", "10")], ("ok", "Within quota", ""), 0),
    ([("pods", "1e99999999", "10")], ("ok", "Within quota", ""), 0),
    ([], ("progress", "Waiting", ""), 0),
]


@pytest.mark.parametrize(("pairs", "status", "percent"), FULLNESS)
def test_quota_status_shows_how_full_it_is(
    pairs: list[tuple[str, str, str]], status: tuple[str, str, str], percent: int
) -> None:
    found = quota(*pairs)
    assert said(found) == status
    assert found.used == percent


def test_requests_and_limits_are_separated_as_in_kubectl() -> None:
    found = quota(("limits.cpu", "2", "4"), ("requests.cpu", "1", "4"), ("pods", "3", "10"))
    assert found.requests == ("pods: 3/10", "requests.cpu: 1/4")
    assert found.limits == ("limits.cpu: 2/4",)
    assert found.fullest == "limits.cpu"
    assert said(projected(RESOURCE_QUOTAS, DELETED, status=None))[0] == "ending"


def test_limit_range_defaults_and_bounds_are_kept() -> None:
    container = {
        "type": "Container",
        "default": {"memory": "500Mi", "cpu": "500m"},
        "defaultRequest": {"cpu": "10m"},
        "max": {"cpu": "4"},
    }
    claim = {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": None}
    found = projected(LIMIT_RANGES, spec={"limits": [container, claim]})
    assert found.types == ("Container", "PersistentVolumeClaim")
    assert found.default_limits == ("cpu 500m", "memory 500Mi")
    assert found.default_requests == ("cpu 10m",)
    assert found.most == ("Container cpu 4",)
    assert found.least == ("PersistentVolumeClaim storage 1Gi",)
    assert projected(LIMIT_RANGES, spec=None).types == ()


def test_priority_class_is_kept() -> None:
    found = projected(PRIORITY_CLASSES, value=-5, globalDefault=True, description="batch")
    assert (found.value, found.default, found.description) == (-5, True, "batch")
    assert found.preemption == "PreemptLowerPriority"
    assert projected(PRIORITY_CLASSES, preemptionPolicy="Never").preemption == "Never"
