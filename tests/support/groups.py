"""Groups of a workspace and their members."""

from typing import Any

from tests.rbac.fakes import Manifest
from tests.rbac.objects import IAM


def group(name: str, workspace: str = "acme", parent: str = "", **metadata: Any) -> Manifest:
    labels = {"kubesphere.io/workspace": workspace} if workspace else {}
    labels |= {"iam.kubesphere.io/group-parent": parent} if parent else {}
    meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": "5", "labels": labels}
    return {"apiVersion": f"{IAM}/v1alpha2", "kind": "Group", "metadata": {**meta, **metadata}}


def members(name: str, of: str, *users: str, workspace: str = "acme", **metadata: Any) -> Manifest:
    labels = {"kubesphere.io/workspace": workspace} if workspace else {}
    meta = {"name": name, "uid": f"uid-{name}", "resourceVersion": "6", "labels": labels}
    return {
        "apiVersion": f"{IAM}/v1alpha2",
        "kind": "GroupBinding",
        "metadata": {**meta, **metadata},
        "groupRef": {"apiGroup": IAM, "kind": "Group", "name": of},
        "users": list(users),
    }
