"""What an installation of KubeSphere 3.4 with one workspace leaves in a cluster, in our own words.

Names, labels, annotations and shapes are KubeSphere's; the users are ours.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from tests.accounts.conftest import PASSWORD, hashed
from tests.rbac.objects import IAM, TENANT, rule

Manifest = dict[str, Any]

USER, GROUP = "iam.kubesphere.io/user-ref", "iam.kubesphere.io/group-ref"
WORKSPACE = "kubesphere.io/workspace"
RBAC = "rbac.authorization.k8s.io"
THEN = "2023-11-02T08:00:00Z"
#: Departments have generated names.
TEAM, WHOLE = "engineersx7k2p", "everyoneq9z4t"


def _hash() -> str:
    """As Go writes it."""
    return "$2a$" + hashed(PASSWORD)[4:]


def _made(kind: str, name: str, meta: Manifest, **more: Any) -> Manifest:
    return {
        "apiVersion": f"{IAM}/v1alpha2",
        "kind": kind,
        "metadata": {"name": name, **meta},
        **more,
    }


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
    return _made("User", name, meta, spec=spec, status=status)


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
        yield _made("LoginRecord", f"jane-x{number}abc", meta, spec=spec)


def _template(name: str, title: str, module: str, kind: str, *rules: Manifest) -> Manifest:
    meta = {
        "labels": {f"{IAM}/role-template": "true"},
        "annotations": {
            f"{IAM}/module": module,
            f"{IAM}/role-template-rules": '{"users": "view"}',
            "kubesphere.io/alias-name": title,
        },
    }
    return _made(kind, name, meta, rules=list(rules))


def global_roles() -> Iterator[Manifest]:
    everything = [rule("*", "*", "*"), rule("*", "", paths="*")]
    yield _made("GlobalRole", "platform-admin", _built_in("platform-admin"), rules=everything)
    create = rule("create watch", "workspaces workspacetemplates", TENANT)
    yield _made("GlobalRole", "platform-self-provisioner", _built_in("x"), rules=[create])
    yield _made("GlobalRole", "platform-regular", _built_in("x"), rules=[])
    yield _made("GlobalRole", "anonymous", {}, rules=[rule("get list", "apps", "openpitrix.io")])
    reads = rule("get list watch", "nodes clusters storageclasses", "core cluster.kubesphere.io")
    rego = {"annotations": {f"{IAM}/rego-override": "package authz\ndefault allow = false"}}
    yield _made("GlobalRole", "authenticated", rego, rules=[reads])
    register = rule("create list", "users", IAM)
    yield _made("GlobalRole", "pre-registration", {}, rules=[register])
    view = rule("get list watch", "users globalroles loginrecords", IAM)
    manage = rule("*", "users users/password", IAM)
    yield _template("role-template-view-users", "Users View", "Access", "GlobalRole", view)
    yield _template("role-template-manage-users", "Users", "Access", "GlobalRole", manage)
    parts = '["role-template-view-users","role-template-manage-users"]'
    custom = {"annotations": {f"{IAM}/aggregation-roles": parts, "kubesphere.io/creator": "admin"}}
    yield _made("GlobalRole", "people-managers", custom, rules=[view, manage])


def _built_in(name: str) -> Manifest:
    return {"annotations": {"kubesphere.io/creator": "system", "kubesphere.io/description": name}}


def _binding(kind: str, name: str, role: str, labels: Manifest, *subjects: str) -> Manifest:
    who = [
        {"apiGroup": RBAC, "kind": subject.split()[0], "name": subject.split()[1]}
        for subject in subjects
    ]
    ref = {"apiGroup": IAM, "kind": kind.removesuffix("Binding"), "name": role}
    return _made(kind, name, {"labels": labels}, roleRef=ref, subjects=who)


def global_binding(name: str, role: str, subject: str) -> Manifest:
    kind, _, who = subject.partition(" ")
    labels = {USER: who} if kind == "User" else {}
    return _binding("GlobalRoleBinding", name, role, labels, subject)


def global_bindings() -> Iterator[Manifest]:
    yield global_binding("admin-platform-admin", "platform-admin", "User admin")
    yield global_binding("pat-people-managers", "people-managers", "User pat")
    for name in ("jane", "new", "dora", "leo", "lee"):
        yield global_binding(f"{name}-platform-regular", "platform-regular", f"User {name}")
    yield global_binding("authenticated", "authenticated", "Group system:authenticated")
    yield global_binding("anonymous", "anonymous", "Group system:unauthenticated")


def workspace_roles() -> Iterator[Manifest]:
    of = {"labels": {WORKSPACE: "demo"}}
    reads = "get list watch"
    yield _made("WorkspaceRole", "demo-admin", of, rules=[rule("*", "*", "*")])
    yield _made("WorkspaceRole", "demo-viewer", of, rules=[rule(reads, "*", "*")])
    own = rule(reads, "workspaces workspacemembers", f"{TENANT} {IAM}")
    yield _made("WorkspaceRole", "demo-regular", of, rules=[own])
    projects = rule("create", "namespaces federatednamespaces", f"core {TENANT}")
    yield _made("WorkspaceRole", "demo-self-provisioner", of, rules=[projects])
    view = rule(reads, "pods deployments", "core apps")
    yield _template("role-template-view-projects", "Projects", "Projects", "WorkspaceRole", view)


def workspace_bindings() -> Iterator[Manifest]:
    kind, of = "WorkspaceRoleBinding", {WORKSPACE: "demo"}
    yield _binding(kind, "demo-admin", "demo-admin", {**of, USER: "pat"}, "User pat")
    group = {**of, GROUP: TEAM}
    yield _binding(kind, f"{TEAM}-demo-viewer-8xk", "demo-viewer", group, f"Group {TEAM}")


def workspaces() -> Iterator[Manifest]:
    spec = {"template": {"spec": {"manager": "pat"}}, "placement": {"clusterSelector": {}}}
    template = _made(
        "WorkspaceTemplate", "demo", {"annotations": {"kubesphere.io/creator": "admin"}}
    )
    yield {**template, "apiVersion": f"{TENANT}/v1alpha2", "spec": spec}
    meta = {"finalizers": ["finalizers.tenant.kubesphere.io"]}
    workspace = _made("Workspace", "demo", meta, spec={"manager": "pat"})
    yield {**workspace, "apiVersion": f"{TENANT}/v1alpha1"}


def groups() -> Iterator[Manifest]:
    of = {WORKSPACE: "demo"}
    yield _made("Group", WHOLE, {"generateName": "everyone", "labels": of}, spec={}, status={})
    labels = {**of, f"{IAM}/group-parent": WHOLE}
    yield _made("Group", TEAM, {"generateName": "engineers", "labels": labels}, spec={}, status={})


def memberships() -> Iterator[Manifest]:
    ref = {"apiGroup": f"{IAM}/v1alpha2", "kind": "Group", "name": TEAM}
    meta = {
        "labels": {WORKSPACE: "demo", GROUP: TEAM, USER: "jane"},
        "finalizers": ["finalizers.kubesphere.io/groupsbindings"],
    }
    yield _made("GroupBinding", f"{TEAM}-jane-7gk2x", meta, groupRef=ref, users=["jane"])


def role_bases() -> Iterator[Manifest]:
    """What new workspaces and projects are given."""
    meta = {"name": "viewer", "annotations": {"kubesphere.io/creator": "system"}}
    rules = [rule("get list watch", "*", "*")]
    role = {"apiVersion": f"{RBAC}/v1", "kind": "Role", "metadata": meta, "rules": rules}
    scope = {"labels": {"scope.kubesphere.io/namespace": ""}}
    yield _made("RoleBase", "viewer", scope, role=role)


def everything() -> list[Manifest]:
    return [
        *workspaces(), *global_roles(), *workspace_roles(), *role_bases(), *users(),
        *global_bindings(), *groups(), *memberships(), *workspace_bindings(), *login_records(),
    ]  # fmt: skip


def project(workspace_uid: str) -> list[Manifest]:
    """The one project of the workspace, with its roles and who made it."""
    owner = {
        "apiVersion": f"{TENANT}/v1alpha1", "kind": "Workspace", "name": "demo",
        "uid": workspace_uid, "controller": True, "blockOwnerDeletion": True,
    }  # fmt: skip
    labels = {WORKSPACE: "demo", "kubesphere.io/namespace": "shop"}
    space = {
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": "shop", "labels": labels, "ownerReferences": [owner],
            "annotations": {"kubesphere.io/creator": "jane"},
        },
    }  # fmt: skip
    role: Manifest = {"apiVersion": f"{RBAC}/v1", "kind": "Role"}
    reads = rule("get list watch", "*", "*")
    write = rule("*", "*", "apps batch")
    roles = {"admin": [rule("*", "*", "*")], "operator": [reads, write], "viewer": [reads]}
    natives = [
        {**role, "metadata": {"name": name, "namespace": "shop"}, "rules": rules}
        for name, rules in roles.items()
    ]
    bound = {
        "apiVersion": f"{RBAC}/v1", "kind": "RoleBinding",
        "metadata": {"name": "jane-admin", "namespace": "shop", "labels": {USER: "jane"}},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "admin"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "jane"}],
    }  # fmt: skip
    return [space, *natives, bound]
