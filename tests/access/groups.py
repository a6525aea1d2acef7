"""Groups and their members."""

from typing import Any


def group(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "Group",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"},
    }


def group_binding(name: str, of: str, *users: str) -> dict[str, Any]:
    return {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "GroupBinding",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "1"},
        "groupRef": {"apiGroup": "iam.kubesphere.io", "kind": "Group", "name": of},
        "users": list(users),
    }
