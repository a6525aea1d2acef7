"""Whether a workload has fewer pods than it wants, by what Kubernetes' controllers say of it. Pure."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Manifest = Mapping[str, Any]


def lacks_pods(kind: str, manifest: Manifest) -> bool:
    """True also for a kind that nothing is known of."""
    if manifest["metadata"].get("deletionTimestamp"):
        return False
    lacks = _LACKS.get(kind)
    return lacks is None or lacks(manifest.get("spec") or {}, manifest.get("status") or {})


def _replicas(spec: Manifest, status: Manifest) -> bool:
    return _number(status, "replicas", 0) < _number(spec, "replicas", 1)


def _nodes(spec: Manifest, status: Manifest) -> bool:
    wanted = _number(status, "desiredNumberScheduled", 0)
    return _number(status, "currentNumberScheduled", 0) < wanted


def _job(spec: Manifest, status: Manifest) -> bool:
    if spec.get("suspend") or any(
        condition.get("type") in ("Complete", "Failed") and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    ):
        return False
    return _number(status, "active", 0) < _number(spec, "parallelism", 1)


def _number(part: Manifest, name: str, default: int) -> int:
    value = part.get(name)
    return value if isinstance(value, int) else default


_LACKS: Mapping[str, Callable[[Manifest, Manifest], bool]] = MappingProxyType(
    {"ReplicaSet": _replicas, "StatefulSet": _replicas, "DaemonSet": _nodes, "Job": _job}
)
