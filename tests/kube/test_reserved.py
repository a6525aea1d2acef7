"""The resources reserved by a pod, as computed by the scheduler."""

from typing import Any

import msgspec
import pytest

from console.kube.projections.pod import decode
from console.kube.projections.reserved import Reserved

MI = 2**20


def container(cpu: Any = "", memory: Any = "", **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}, **more}


def limited(cpu: str, memory: str, /, **requests: str) -> dict[str, Any]:
    limits = {"cpu": cpu, "memory": memory}
    return {"name": "c", "resources": {"limits": limits, "requests": requests}}


def reserved(*containers: Any, phase: str = "Running", **spec: Any) -> Reserved | None:
    body = {
        "metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "1"},
        "spec": {"containers": containers, **spec},
        "status": {"phase": phase},
    }
    return decode(msgspec.json.encode(body))[0].reserved


SIDECAR = container("100m", "50Mi", restartPolicy="Always")

CASES: list[tuple[str, Reserved | None, Reserved]] = [
    ("nothing", reserved({"name": "c"}), Reserved()),
    ("no containers", reserved(), Reserved()),
    (
        "a sum",
        reserved(container("250m", "64Mi"), container("1", "1Gi")),
        Reserved(1250, 1088 * MI),
    ),
    ("rounded up", reserved(container("1n", "1500m")), Reserved(1, 2)),
    ("numbers", reserved(container(2, 1024)), Reserved(2000, 1024)),
    ("nonsense", reserved(container("many", "-5"), container("1e999", "")), Reserved(10**21, 0)),
    ("nulls", reserved({"resources": {"requests": None, "limits": None}}), Reserved()),
    (
        "a request that is left out is the limit",
        reserved(limited("2", "1Mi", cpu="500m")),
        Reserved(500, MI, 2000, MI),
    ),
    (
        "init containers run one by one before the others",
        reserved(
            container("1", "100Mi"),
            initContainers=[container("3", "10Mi"), container("2", "200Mi")],
        ),
        Reserved(3000, 200 * MI),
    ),
    (
        "sidecars stay",
        reserved(container("1", "100Mi"), initContainers=[SIDECAR]),
        Reserved(1100, 150 * MI),
    ),
    (
        "what starts after a sidecar runs beside it",
        reserved(container("1", "1Mi"), initContainers=[SIDECAR, container("2", "1Mi")]),
        Reserved(2100, 51 * MI),
    ),
    (
        "the pod's own word goes before the sum",
        reserved(container("1", "1Mi"), resources={"requests": {"cpu": "4"}}),
        Reserved(4000, MI),
    ),
    (
        "overhead",
        reserved(limited("1", "10Mi"), overhead={"cpu": "250m", "memory": "120Mi"}),
        Reserved(1250, 130 * MI, 1250, 130 * MI),
    ),
    (
        "overhead makes no limit",
        reserved(container("1", "10Mi"), overhead={"cpu": "250m"}),
        Reserved(1250, 10 * MI),
    ),
]


@pytest.mark.parametrize(
    ("found", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_reserved_resources_match_the_scheduler(found: Reserved | None, expected: Reserved) -> None:
    assert found == expected


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_finished_pod_reserves_nothing(phase: str) -> None:
    assert reserved(container("1", "1Mi"), phase=phase) is None
