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


GROUP = "rbac.authorization.k8s.io"
IAM, TENANT = "iam.kubesphere.io", "tenant.kubesphere.io"


def rule(
    verbs: str, resources: str, groups: str = "core", names: str = "", paths: str = ""
) -> Manifest:
    """Return a PolicyRule from space-separated words. `core` stands for the core API group."""
    if paths:
        return {"verbs": verbs.split(), "nonResourceURLs": paths.split()}
    found: Manifest = {
        "verbs": verbs.split(),
        "apiGroups": ["" if group == "core" else group for group in groups.split()],
        "resources": resources.split(),
    }
    return {**found, "resourceNames": names.split()} if names else found


def native_role(name: str, *rules: Manifest, namespace: str = "", **more: Any) -> Manifest:
    """Return a Role, or a ClusterRole if there is no namespace."""
    kind = "Role" if namespace else "ClusterRole"
    meta = _metadata(name, namespace)
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": meta, "rules": [*rules], **more}


def native_binding(
    name: str, role: str, *subjects: str, namespace: str = "", kind: str = ""
) -> Manifest:
    """Return a RoleBinding, or a ClusterRoleBinding if there is no namespace.

    `subjects` have the form `User ann`, `Group ops` or `ServiceAccount shop/default`. `kind` is
    the kind of the role (default: ClusterRole).
    """
    ref = {"apiGroup": GROUP, "kind": kind or "ClusterRole", "name": role}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": _metadata(name, namespace),
        "roleRef": ref,
        "subjects": [_subject(text) for text in subjects],
    }


def admins(*names: str) -> list[Manifest]:
    """Return the binding that makes these users cluster administrators."""
    return [native_binding("admins", "cluster-admin", *(f"User {name}" for name in names))]


def admin_role() -> Manifest:
    return native_role("cluster-admin", rule("*", "*", "*"), rule("*", "", paths="*"))


def global_role(name: str, *rules: Manifest, **metadata: Any) -> Manifest:
    return _iam("GlobalRole", name, metadata, rules=[*rules])


def workspace_role(name: str, workspace: str, *rules: Manifest, **metadata: Any) -> Manifest:
    labels = {"kubesphere.io/workspace": workspace} if workspace else {}
    return _iam("WorkspaceRole", name, {"labels": labels, **metadata}, rules=[*rules])


def workspace_binding(name: str, workspace: str, role: str, *subjects: str) -> Manifest:
    labels = {"labels": {"kubesphere.io/workspace": workspace}}
    ref = {"apiGroup": IAM, "kind": "WorkspaceRole", "name": role}
    who = [_subject(text) for text in subjects]
    return _iam("WorkspaceRoleBinding", name, labels, roleRef=ref, subjects=who)


def workspace(name: str, uid: str = "") -> Manifest:
    meta = {**_metadata(name), "uid": uid or f"uid-{name}"}
    return {"apiVersion": f"{TENANT}/v1alpha1", "kind": "Workspace", "metadata": meta, "spec": {}}


def project(name: str, workspace: str = "", *, uid: str = "", **metadata: Any) -> Manifest:
    """Return a namespace. `uid` is the UID of the owning Workspace, if not the default."""
    owner = {
        "apiVersion": f"{TENANT}/v1alpha1",
        "kind": "Workspace",
        "name": workspace,
        "uid": uid or f"uid-{workspace}",
        "controller": True,
    }
    of_workspace: Manifest = {
        "labels": {"kubesphere.io/workspace": workspace},
        "ownerReferences": [owner],
    }
    meta = {**_metadata(name), **(of_workspace if workspace else {}), **metadata}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def _iam(kind: str, name: str, metadata: Manifest, **more: Any) -> Manifest:
    meta = {**_metadata(name), **metadata}
    return {"apiVersion": f"{IAM}/v1alpha2", "kind": kind, "metadata": meta, **more}


def _metadata(name: str, namespace: str = "") -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"name": name, **place, "uid": f"uid-{name}", "resourceVersion": "30"}


def _subject(text: str) -> Manifest:
    kind, _, name = text.partition(" ")
    if kind != "ServiceAccount":
        return {"kind": kind, "name": name, "apiGroup": GROUP}
    namespace, _, account = name.partition("/")
    return {"kind": kind, "name": account, **({"namespace": namespace} if namespace else {})}
