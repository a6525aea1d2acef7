"""Amounts that objects use of quotas, and quotas before and after."""

from decimal import Decimal
from typing import Any

import pytest

from console.kube.gvr import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    SERVICES,
    STATEFUL_SETS,
)
from console.kube.quantity import parse_amounts
from console.ui.usage.quota_previews import QuotaChange, QuotaLimits, quota_previews
from console.wizards.quota_needs import needs_of
from tests.ui.support import FakeAccess

Obj = dict[str, Any]


def pods(spec: Obj, **more: Any) -> Obj:
    return {"spec": {**more, "template": {"spec": spec}}}


def amounts(**texts: str) -> dict[str, Decimal]:
    return parse_amounts({name.replace("_", "."): text for name, text in texts.items()})


CONTAINER = {"resources": {"requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"cpu": "1"}}}


def test_a_deployment_uses_the_amounts_of_all_its_replicas() -> None:
    found = needs_of(DEPLOYMENTS, pods({"containers": [CONTAINER, CONTAINER]}, replicas=3))
    assert found["count/deployments.apps"] == found["count/replicasets.apps"] == 1
    assert found["pods"] == found["count/pods"] == 3
    assert found["requests.cpu"] == found["cpu"] == Decimal("1.5")
    assert found["requests.memory"] == 3 * 2 * 64 * 2**20
    assert found["limits.cpu"] == 6
    assert "limits.memory" not in found


def test_init_containers_and_sidecars_count_like_in_the_scheduler() -> None:
    sidecar = {"restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}
    init = {"resources": {"requests": {"cpu": "2"}}}
    spec = {"containers": [CONTAINER], "initContainers": [sidecar, init]}
    assert needs_of(PODS, {"spec": spec})["requests.cpu"] == Decimal("2.1")
    assert needs_of(PODS, {"spec": spec})["pods"] == 1


def test_defaults_of_limit_ranges_apply_to_missing_amounts_only() -> None:
    usual = {"type": "Container", "default": {"memory": "128Mi"}, "defaultRequest": {"cpu": "50m"}}
    ranges = [{"spec": {"limits": [usual, {"type": "Pod", "max": {"cpu": "9"}}]}}]
    found = needs_of(PODS, {"spec": {"containers": [CONTAINER, {}]}}, ranges)
    assert found["requests.cpu"] == Decimal("0.3")
    assert found["limits.memory"] == 2 * 128 * 2**20
    assert found["requests.memory"] == (64 + 128) * 2**20


def test_a_missing_request_equals_the_limit_and_extended_resources_count() -> None:
    limits = {"resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "3"}}}
    found = needs_of(PODS, {"spec": {"containers": [limits]}})
    assert found["requests.nvidia.com/gpu"] == 2 and found["requests.cpu"] == 3


@pytest.mark.parametrize(
    ("gvr", "spec", "expected"),
    [
        (DAEMON_SETS, {}, 5),
        (JOBS, {"parallelism": 4, "completions": 3}, 3),
        (JOBS, {"parallelism": 4}, 4),
        (JOBS, {"suspend": True}, 0),
        (DEPLOYMENTS, {"replicas": 0}, 0),
        (DEPLOYMENTS, {"replicas": "many"}, 1),
        (DEPLOYMENTS, {"replicas": -2}, 0),
    ],
)
def test_the_number_of_pods_depends_on_the_kind(gvr: Any, spec: Obj, expected: int) -> None:
    found = needs_of(gvr, pods({"containers": [CONTAINER]}, **spec), nodes=5)
    assert found.get("pods", 0) == expected


def test_a_cron_job_counts_the_pods_of_one_run() -> None:
    job = pods({"containers": [CONTAINER]}, parallelism=2)
    assert needs_of(CRON_JOBS, {"spec": {"jobTemplate": job}})["pods"] == 2


def test_claims_and_services_count_by_class_and_type() -> None:
    claim = {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "5Gi"}}}}
    found = needs_of(PERSISTENT_VOLUME_CLAIMS, claim)
    size = 5 * 2**30
    assert found["requests.storage"] == size and found["persistentvolumeclaims"] == 1
    assert found["fast.storageclass.storage.k8s.io/requests.storage"] == size
    workload = pods({"containers": []}, replicas=2, volumeClaimTemplates=[claim])
    assert needs_of(STATEFUL_SETS, workload)["requests.storage"] == 2 * size
    service = {"spec": {"type": "LoadBalancer", "ports": [{}, {}]}}
    found = needs_of(SERVICES, service)
    assert found["services"] == found["services.loadbalancers"] == 1
    assert found["services.nodeports"] == 2
    del service["spec"]["type"]
    assert "services.nodeports" not in needs_of(SERVICES, service)


@pytest.mark.parametrize(
    "content", [None, [], "x", {"spec": 1}, {"spec": {"template": {"spec": 2}}}]
)
def test_invalid_content_counts_as_an_object_without_pods(content: Any) -> None:
    assert needs_of(DEPLOYMENTS, content).get("pods") in (None, 1)
    odd = pods({"containers": [{"resources": {"requests": {"cpu": "x", "memory": [1]}}}, 7]})
    assert needs_of(DEPLOYMENTS, odd)["pods"] == 1


def test_a_quota_shows_only_changed_resources_and_their_level() -> None:
    kinds = FakeAccess().cluster.kinds
    limits = QuotaLimits("q", amounts(pods="10", limits_cpu="4"), amounts(pods="8"))
    [quota] = quota_previews(kinds, [limits], amounts(pods="2", requests_cpu="1"))
    [change] = quota.changes
    assert change.after == 10 and change.level == "warn" and not quota.is_exceeded
    assert (change.width, change.added_width) == (80.0, 20.0)
    [quota] = quota_previews(kinds, [limits], amounts(pods="3"))
    assert quota.is_exceeded and quota.changes[0].texts["over"] == "1"
    assert quota_previews(kinds, [limits], amounts(services="1")) == []


def test_an_exceeded_quota_is_no_error_of_a_change_that_frees_capacity() -> None:
    change = QuotaChange("pods", "Pods", Decimal(12), Decimal(-1), Decimal(10))
    assert not change.is_exceeded and change.level == ""
    assert QuotaChange("pods", "Pods", Decimal(0), Decimal(1), Decimal(0)).is_exceeded
