"""Types of GPUs that a cluster's configuration names."""

import re
from dataclasses import dataclass

#: Resources of device plugins: https://kubernetes.io/docs/tasks/administer-cluster/extended-resource-node/
_EXTENDED = re.compile(r"(?!requests\.)[a-z0-9][a-z0-9.-]{0,252}/[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


def is_extended_resource(name: str) -> bool:
    """Return True for the name of a resource that isn't one of Kubernetes, such as
    `nvidia.com/gpu`.
    """
    return bool(_EXTENDED.fullmatch(name)) and "kubernetes.io/" not in name


@dataclass(frozen=True, slots=True)
class GpuKind:
    """A type of GPU: the name of its resource, and its name for users."""

    resource: str
    label: str
    is_default: bool = False
