"""Manifests of users and bindings, as kube-apiserver returns them."""

from typing import Any

Manifest = dict[str, Any]


def user(
    name: str,
    *,
    password: str | None = None,
    state: str | None = "Active",
    email: str | None = None,
    uid: str = "",
    **metadata: Any,
) -> Manifest:
    spec: Manifest = {"email": email if email is not None else f"{name}@example.com"}
    if password is not None:
        spec["password"] = password
    found: Manifest = {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "User",
        "metadata": {
            "name": name,
            "uid": uid or f"uid-{name}",
            "resourceVersion": "10",
            **metadata,
        },
        "spec": spec,
    }
    if state is not None:
        found["status"] = {"state": state}
    return found


def binding(
    name: str,
    *subjects: tuple[str, str],
    role: str = "platform-admin",
    uid: str = "",
    kind: str = "GlobalRole",
) -> Manifest:
    group = "iam.kubesphere.io"
    return {
        "apiVersion": f"{group}/v1alpha2",
        "kind": "GlobalRoleBinding",
        "metadata": {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": "20"},
        "roleRef": {"apiGroup": group, "kind": kind, "name": role},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": subject, "name": who}
            for subject, who in subjects
        ],
    }
