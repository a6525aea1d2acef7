"""Users, workspaces and workspace members of the sample data.

The custom resource types are defined by the console. The console creates these objects after
their types exist. The workspace roles are those that KubeSphere creates for each workspace.
"""

from collections.abc import Iterator

from devcluster.objects import Obj

IAM, TENANT = "iam.kubesphere.io", "tenant.kubesphere.io"
WORKSPACE_LABEL = "kubesphere.io/workspace"

#: Username, email address, description.
USERS = (
    ("alice", "alice@shop.example", "Looks after the workspace shop"),
    ("bob", "bob@shop.example", "Looks into the workspace shop"),
    ("charlie", "charlie@shop.example", "Is in no workspace yet"),
)
WORKSPACES = {
    "shop": ("checkout", "payments", "shipping", "web"),
    "platform": ("ci", "data", "ingress", "logging", "monitoring"),
}
#: Workspace, role, username.
MEMBERS = (("shop", "admin", "alice"), ("shop", "viewer", "bob"))
QUOTAS = {"shop": {"pods": "160", "requests.cpu": "60", "requests.memory": "120Gi"}}

_EVERYTHING = {"apiGroups": ["*"], "resources": ["*"]}
_READ = ["get", "list", "watch"]
_ROLES: dict[str, list[Obj]] = {
    "admin": [{**_EVERYTHING, "verbs": ["*"]}],
    "viewer": [{**_EVERYTHING, "verbs": _READ}],
    "regular": [
        {"apiGroups": [TENANT], "resources": ["workspaces"], "verbs": _READ},
        {"apiGroups": [IAM], "resources": ["workspacemembers"], "verbs": _READ},
    ],
    "self-provisioner": [
        {"apiGroups": [TENANT], "resources": ["workspaces"], "verbs": _READ},
        {"apiGroups": ["*"], "resources": ["namespaces", "devops"], "verbs": ["create"]},
    ],
}


def workspaces() -> Iterator[Obj]:
    for name in WORKSPACES:
        manager = next(
            (who for home, role, who in MEMBERS if (home, role) == (name, "admin")), "admin"
        )
        yield _object(f"{TENANT}/v1alpha1", "Workspace", name, spec={"manager": manager})


def workspace_patch(workspace: str, uid: str) -> Obj:
    """Return a merge patch that assigns a project to the workspace."""
    owner = {
        "apiVersion": f"{TENANT}/v1alpha1",
        "kind": "Workspace",
        "name": workspace,
        "uid": uid,
        "controller": True,
    }
    return {"metadata": {"labels": {WORKSPACE_LABEL: workspace}, "ownerReferences": [owner]}}


def users(hashed: str) -> Iterator[Obj]:
    for name, email, description in USERS:
        spec = {"email": email, "description": description, "password": hashed}
        yield _object(f"{IAM}/v1alpha2", "User", name, spec=spec)


def roles() -> Iterator[Obj]:
    for workspace in WORKSPACES:
        for role, rules in _ROLES.items():
            yield _of_workspace(workspace, "WorkspaceRole", f"{workspace}-{role}", rules=rules)


def quotas() -> Iterator[Obj]:
    for workspace, hard in QUOTAS.items():
        spec = {"selector": {WORKSPACE_LABEL: workspace}, "quota": {"hard": hard}}
        yield _object("quota.kubesphere.io/v1alpha2", "ResourceQuota", workspace, spec=spec)


def bindings() -> Iterator[Obj]:
    for workspace, role, who in MEMBERS:
        yield _of_workspace(
            workspace,
            "WorkspaceRoleBinding",
            f"{who}-{workspace}-{role}",
            roleRef={"apiGroup": IAM, "kind": "WorkspaceRole", "name": f"{workspace}-{role}"},
            subjects=[{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": who}],
        )


def _of_workspace(workspace: str, kind: str, name: str, **more: object) -> Obj:
    found = _object(f"{IAM}/v1alpha2", kind, name, **more)
    found["metadata"]["labels"] = {WORKSPACE_LABEL: workspace}
    return found


def _object(version: str, kind: str, name: str, **more: object) -> Obj:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **more}
