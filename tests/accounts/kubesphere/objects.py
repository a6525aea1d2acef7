"""Objects of a KubeSphere 3.4 installation with three workspaces.

Names, labels, annotations and structures are KubeSphere's. The users are invented.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import yaml

from tests.accounts.conftest import PASSWORD, hashed
from tests.accounts.kubesphere.roles import (
    WORKSPACE,
    cluster_roles,
    global_roles,
    made,
    of_projects,
    role_bases,
    roles_of_workspace,
    workspace_templates,
)
from tests.rbac.objects import IAM, TENANT

Manifest = dict[str, Any]

USER, GROUP = "iam.kubesphere.io/user-ref", "iam.kubesphere.io/group-ref"
RBAC = "rbac.authorization.k8s.io"
THEN = "2023-11-02T08:00:00Z"
#: Departments have generated names.
TEAM, WHOLE = "engineersx7k2p", "everyoneq9z4t"
#: Manager and projects of each workspace.
WORKSPACES = {
    "demo": ("pat", ("shop",)),
    "labs": ("bram", ("bench", "trial")),
    "system-workspace": ("admin", ("kubesphere-controls-system",)),
}
#: Members of `labs`, by their role in the workspace.
LABS = {"viewer": "cleo", "self-provisioner": "dirk", "regular": "elke"}
#: New users that KubeSphere has not reconciled. Their passwords are still in plain text.
PLAIN = ("kim", "mo")
_CONFIG = {"authentication": {"oauthOptions": {"accessTokenMaxAge": "90m", "clients": []}}}
#: KubeSphere's own configuration.
CONFIG_MAP: Manifest = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "kubesphere-config", "namespace": "kubesphere-system"},
    "data": {"kubesphere.yaml": yaml.safe_dump(_CONFIG)},
}


def _hash() -> str:
    """Return a bcrypt hash with Go's prefix."""
    return "$2a$" + hashed(PASSWORD)[4:]


def user(name: str, state: str = "Active", **more: Any) -> Manifest:
    annotations = {
        "iam.kubesphere.io/last-password-change-time": THEN,
        "kubesphere.io/creator": "admin",
    }
    meta: Manifest = {
        "annotations": {**annotations, **more.pop("annotations", {})},
        "finalizers": ["finalizers.kubesphere.io/users"],
        "labels": {"kubefed.io/managed": "false", **more.pop("labels", {})},
    }
    password = {"password": _hash()} if more.pop("password", True) else {}
    spec = {"email": f"{name}@kubesphere.example", "lang": "en", **password, **more}
    status = {"state": state, "lastTransitionTime": THEN, "lastLoginTime": THEN}
    return made("User", name, meta, spec=spec, status=status)


def users() -> Iterator[Manifest]:
    yield user("admin", description="KubeSphere admin")
    yield user("jane", displayName="Jane", groups=[TEAM])
    yield user("pat")
    yield user("new", annotations={"iam.kubesphere.io/uninitialized": "true"})
    gone = user("dora", "Disabled")
    gone["status"]["reason"] = "left the company"
    yield gone
    locked = user("leo", "AuthLimitExceeded")
    locked["status"] |= {
        "lastTransitionTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "reason": "Failed login attempts exceed 10 in last 10m0s",
    }
    yield locked
    origin = {"identify-provider": "corp", "origin-uid": "lee"}
    labels = {f"{IAM}/{name}": value for name, value in origin.items()}
    yield user("lee", password=False, labels=labels)
    for name in ("ayla", "bram", *LABS.values(), "finn"):
        yield user(name, displayName=name.title())
    yield user("gus", "Disabled")
    yield user("hal", "Disabled", password=False)
    yield user("ivy", annotations={"iam.kubesphere.io/uninitialized": "true"})
    yield user("oli", password=False, labels={**labels, f"{IAM}/origin-uid": "4711"})
    for name in PLAIN:
        spec = {"email": f"{name}@kubesphere.example", "password": PASSWORD}
        yield made("User", name, {"annotations": {"kubesphere.io/creator": "admin"}}, spec=spec)


def login_records() -> Iterator[Manifest]:
    today = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for number, success in enumerate((True, False)):
        spec = {
            "type": "Token",
            "provider": "",
            "sourceIP": "10.0.0.7",
            "userAgent": "Mozilla/5.0",
            "success": success,
            "reason": "authenticated successfully" if success else "incorrect password",
        }
        meta = {"labels": {USER: "jane"}, "annotations": {"written": today}}
        yield made("LoginRecord", f"jane-x{number}abc", meta, spec=spec)


def _binding(kind: str, name: str, role: str, labels: Manifest, *subjects: str) -> Manifest:
    who = [
        {"apiGroup": RBAC, "kind": subject.split()[0], "name": subject.split()[1]}
        for subject in subjects
    ]
    ref = {"apiGroup": IAM, "kind": kind.removesuffix("Binding"), "name": role}
    return made(kind, name, {"labels": labels}, roleRef=ref, subjects=who)


def global_binding(name: str, role: str, subject: str) -> Manifest:
    kind, _, who = subject.partition(" ")
    labels = {USER: who} if kind == "User" else {}
    return _binding("GlobalRoleBinding", name, role, labels, subject)


def global_bindings() -> Iterator[Manifest]:
    yield global_binding("admin-platform-admin", "platform-admin", "User admin")
    yield global_binding("pat-people-managers", "people-managers", "User pat")
    yield global_binding("ayla-self", "platform-self-provisioner", "User ayla")
    rest = ("jane", "new", "dora", "leo", "lee", "bram", *LABS.values(), "finn", "gus", *PLAIN)
    for name in rest:
        yield global_binding(f"{name}-platform-regular", "platform-regular", f"User {name}")
    yield global_binding("authenticated", "authenticated", "Group system:authenticated")
    yield global_binding("anonymous", "anonymous", "Group system:unauthenticated")


def workspace_roles() -> Iterator[Manifest]:
    for name in WORKSPACES:
        yield from roles_of_workspace(name)
    yield from workspace_templates()


def workspace_binding(workspace: str, role: str, subject: str) -> Manifest:
    kind, _, who = subject.partition(" ")
    labels = {WORKSPACE: workspace, USER if kind == "User" else GROUP: who}
    name = f"{workspace}-admin" if role == "admin" else f"{who}-{workspace}-{role}"
    return _binding("WorkspaceRoleBinding", name, f"{workspace}-{role}", labels, subject)


def workspace_bindings() -> Iterator[Manifest]:
    for name, (manager, _) in WORKSPACES.items():
        yield workspace_binding(name, "admin", f"User {manager}")
    yield workspace_binding("demo", "viewer", f"Group {TEAM}")
    for role, name in LABS.items():
        yield workspace_binding("labs", role, f"User {name}")


def workspaces() -> Iterator[Manifest]:
    for name, (manager, _) in WORKSPACES.items():
        spec = {"template": {"spec": {"manager": manager}}, "placement": {"clusterSelector": {}}}
        notes = {"annotations": {"kubesphere.io/creator": "admin"}}
        template = made("WorkspaceTemplate", name, notes)
        yield {**template, "apiVersion": f"{TENANT}/v1alpha2", "spec": spec}
        meta = {"finalizers": ["finalizers.tenant.kubesphere.io"]}
        workspace = made("Workspace", name, meta, spec={"manager": manager})
        yield {**workspace, "apiVersion": f"{TENANT}/v1alpha1"}


def groups() -> Iterator[Manifest]:
    of = {WORKSPACE: "demo"}
    yield made("Group", WHOLE, {"generateName": "everyone", "labels": of}, spec={}, status={})
    labels = {**of, f"{IAM}/group-parent": WHOLE}
    yield made("Group", TEAM, {"generateName": "engineers", "labels": labels}, spec={}, status={})


def memberships() -> Iterator[Manifest]:
    ref = {"apiGroup": f"{IAM}/v1alpha2", "kind": "Group", "name": TEAM}
    meta = {
        "labels": {WORKSPACE: "demo", GROUP: TEAM, USER: "jane"},
        "finalizers": ["finalizers.kubesphere.io/groupsbindings"],
    }
    yield made("GroupBinding", f"{TEAM}-jane-7gk2x", meta, groupRef=ref, users=["jane"])


def everything() -> list[Manifest]:
    return [
        *workspaces(), *global_roles(), *workspace_roles(), *cluster_roles(), *role_bases(), *users(),
        *global_bindings(), *groups(), *memberships(), *workspace_bindings(), *login_records(),
    ]  # fmt: skip


def projects(workspace: str, uid: str) -> Iterator[Manifest]:
    """Yield the projects of the workspace with their roles and creators."""
    manager, names = WORKSPACES[workspace]
    creator = "jane" if workspace == "demo" else manager
    owner = {
        "apiVersion": f"{TENANT}/v1alpha1", "kind": "Workspace", "name": workspace,
        "uid": uid, "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    api = f"{RBAC}/v1"
    for name in names:
        labels = {WORKSPACE: workspace, "kubesphere.io/namespace": name}
        yield {
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {
                "name": name, "labels": labels, "ownerReferences": [owner],
                "annotations": {"kubesphere.io/creator": creator},
            },
        }  # fmt: skip
        for role, rules in of_projects():
            meta: Manifest = {"name": role, "namespace": name}
            yield {"apiVersion": api, "kind": "Role", "metadata": meta, "rules": rules}
        meta = {"name": f"{creator}-admin", "namespace": name, "labels": {USER: creator}}
        yield {
            "apiVersion": api, "kind": "RoleBinding", "metadata": meta,
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "admin"},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": creator}],
        }  # fmt: skip
