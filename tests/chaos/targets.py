"""The kinds of objects that schedules write, as small as the API allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import CLUSTER_ROLE_BINDINGS, GLOBAL_ROLES, GVR, PODS
from console.kube.projections import DECODERS

__all__ = ["NAMESPACES", "TARGETS", "Target"]

#: Empty for cluster-scoped kinds.
NAMESPACES = ("chaos-a", "chaos-b")
CONFIGMAPS = GVR("", "v1", "configmaps")


@dataclass(frozen=True)
class Target:
    """A kind, the namespaces for its objects, and their content besides metadata."""

    gvr: GVR
    kind: str
    namespaces: tuple[str, ...]
    content: Mapping[str, Any]

    def body(self, name: str, padding: int = 0) -> dict[str, Any]:
        """Return a new object. `padding` is a number of bytes that gives it a realistic size."""
        metadata = {"name": name, "annotations": {"chaos/padding": "x" * padding}}
        head = {"apiVersion": self.gvr.group_version, "kind": self.kind, "metadata": metadata}
        return {**head, **self.content}


_POD = {"spec": {"containers": [{"name": "main", "image": "none"}]}}
_BINDING = {
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "chaos-nothing",
    },
    "subjects": [],
}
_ALL = (
    Target(PODS, "Pod", NAMESPACES, _POD),
    Target(CONFIGMAPS, "ConfigMap", NAMESPACES, {"data": {"key": "value"}}),
    Target(CLUSTER_ROLE_BINDINGS, "ClusterRoleBinding", ("",), _BINDING),
    # A custom resource, which kube-apiserver serves with different code.
    Target(GLOBAL_ROLES, "GlobalRole", ("",), {"rules": []}),
)
TARGETS = tuple(target for target in _ALL if target.gvr in DECODERS)
