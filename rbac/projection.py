"""What KubeSphere's roles and bindings are in Kubernetes' own terms.

Writes go out as the user, so kube-apiserver must allow them; reads are decided by the same native
roles. A GlobalRole becomes a ClusterRole, its bindings ClusterRoleBindings; `platform-admin` is
`cluster-admin`. A WorkspaceRole becomes a ClusterRole that is bound in each project of its workspace,
and a second one for the workspace object itself. ADR 8 has the reasons.

Promises, about rights over the whole cluster:
- `*` as a verb means what one can do to objects (`VERBS`), for KubeSphere knows no other verbs. It does
  not become `impersonate`, `bind` or `escalate`.
- Nobody but a platform administrator gets the right to write what gives rights (`GRANTING`), since
  kube-apiserver does not check these as it checks its own roles.
- Paths are left out: those of KubeSphere's server are not those of kube-apiserver.

Its server has names of its own for some types (`_CALLED`): who may make `workspaces` there may make the
WorkspaceTemplates that they are made of.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from console.kube.gvr import GLOBAL_ROLE_BINDINGS, GLOBAL_ROLES, GVR, WORKSPACE_ROLES
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections import GlobalRoleBinding, Subject
from console.kube.projections.roles import Role
from rbac.authorizer import is_admin_binding
from rbac.names import GLOBAL_BINDING, GLOBAL_ROLE, ITSELF, WORKSPACE_ROLE, projected_name
from rbac.rules import ALL, Rule, Rules, written

Manifest = dict[str, Any]

LABELS = {"app.kubernetes.io/managed-by": "quarterdeck"}
RBAC = "rbac.authorization.k8s.io"
CLUSTER_ADMIN = "cluster-admin"
READS = ("get", "list", "watch")
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
IAM, TENANT = "iam.kubesphere.io", "tenant.kubesphere.io"
#: Whoever writes these gives rights, or takes over somebody who has them.
GRANTING = frozenset(
    {
        "globalrolebindings",
        "globalroles",
        "groupbindings",
        "groups",
        "rolebases",
        "users",
        "workspacerolebindings",
        "workspaceroles",
    }
)
_ITSELF = ("workspaces", "workspacetemplates")
#: What KubeSphere's server calls a type in its own API group: group and resource, then Kubernetes'.
_CALLED = {
    (TENANT, "workspaces"): "workspacetemplates",
    ("devops.kubesphere.io", "devops"): "devopsprojects",
    (IAM, "users/loginrecords"): "loginrecords",
}


def project_global_role(role: Role, rules: Rules) -> Manifest | None:
    """The ClusterRole that should exist; None if none should."""
    if role.name == "platform-admin":
        return None
    return _role(GLOBAL_ROLE, role, GLOBAL_ROLES, "GlobalRole", platform_rules(rules))


def project_global_binding(source: GlobalRoleBinding, has_role: bool) -> Manifest | None:
    """The ClusterRoleBinding. `has_role`: the role is projected to something."""
    admin = is_admin_binding(source)
    subjects = native_subjects(source.subjects)
    if not subjects or not (admin or (has_role and source.role_kind in ("GlobalRole", ""))):
        return None
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": _metadata(
            projected_name(GLOBAL_BINDING, source.name),
            _owner(GLOBAL_ROLE_BINDINGS, "GlobalRoleBinding", source.name, source.uid),
        ),
        "roleRef": _role_ref(CLUSTER_ADMIN if admin else projected_name(GLOBAL_ROLE, source.role)),
        "subjects": subjects,
    }


def project_workspace_role(role: Role, rules: Rules) -> Manifest | None:
    """The ClusterRole for the projects; templates, which are of no workspace, give nothing."""
    if not role.workspace:
        return None
    return _role(WORKSPACE_ROLE, role, WORKSPACE_ROLES, "WorkspaceRole", _of_resources(rules))


def project_workspace_itself(role: Role, rules: Rules) -> Manifest | None:
    """The ClusterRole for the workspace object, which may be read at most."""
    if not role.workspace:
        return None
    own = [
        Rule(verbs, (TENANT,), (resource,), (role.workspace,))
        for resource in _ITSELF
        if (
            verbs := tuple(
                verb for verb in READS if _reaches(rules, verb, resource, role.workspace)
            )
        )
    ]
    return _role(WORKSPACE_ROLE, role, WORKSPACE_ROLES, "WorkspaceRole", own, ITSELF)


def bind_workspace_role(
    role: Role, subjects: Sequence[Manifest], namespace: str = ""
) -> Manifest | None:
    """The binding in a project, or without one that to the workspace itself."""
    if not subjects:
        return None
    name = projected_name(WORKSPACE_ROLE, role.name)
    owner = _owner(WORKSPACE_ROLES, "WorkspaceRole", role.name, role.uid)
    meta = _metadata(name, owner)
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {**meta, "namespace": namespace} if namespace else meta,
        "roleRef": _role_ref(name if namespace else name + ITSELF),
        "subjects": list(subjects),
    }


def platform_rules(rules: Rules) -> list[Rule]:
    """What of a platform role's rules counts over the whole cluster."""
    return [part for rule in _of_resources(rules) for part in (*_safe(rule), *_called(rule))]


def _called(rule: Rule) -> Iterator[Rule]:
    """What the rule says by names of KubeSphere's server. A `*` has all names in it already."""
    verbs = VERBS if ALL in rule.verbs else tuple(verb for verb in rule.verbs if verb in VERBS)
    for (group, said), meant in _CALLED.items():
        named = said in rule.resources and not {meant, ALL} & set(rule.resources)
        does = verbs
        if "/" in said:
            # These are looked at, and are not called as what they are of.
            does = tuple(verb for verb in verbs if verb in READS)
            named = named and not rule.resource_names
        if does and named and {group, ALL} & set(rule.api_groups):
            yield Rule(does, (group,), (meant,), rule.resource_names)


def _safe(rule: Rule) -> Iterator[Rule]:
    verbs = VERBS if ALL in rule.verbs else tuple(verb for verb in rule.verbs if verb in VERBS)
    reads = tuple(verb for verb in verbs if verb in READS)
    granting = tuple(name for name in rule.resources if _may_grant(name))
    others = tuple(name for name in rule.resources if name not in granting)
    risky = tuple(group for group in rule.api_groups if group in (ALL, IAM))
    harmless = tuple(group for group in rule.api_groups if group not in risky)
    for allowed, groups, resources in (
        (verbs, rule.api_groups, others),
        (verbs, harmless, granting),
        (reads, risky, granting),
    ):
        if allowed and groups and resources:
            yield Rule(allowed, groups, resources, rule.resource_names)


def leaves_out(rules: Rules) -> bool:
    """True if they say that somebody may write what gives rights."""
    return any(
        any(verb not in READS for verb in rule.verbs)
        and any(group in (ALL, IAM) for group in rule.api_groups)
        and any(_may_grant(resource) for resource in rule.resources)
        for rule in rules
    )


def _may_grant(resource: str) -> bool:
    first = resource.partition("/")[0]
    return first == ALL or first in GRANTING


def _of_resources(rules: Rules) -> list[Rule]:
    """Those that kube-apiserver takes in a role and that can match something."""
    return [
        Rule(rule.verbs, rule.api_groups, rule.resources, rule.resource_names)
        for rule in rules
        if rule.verbs and rule.api_groups and rule.resources
    ]


def _reaches(rules: Rules, verb: str, resource: str, name: str) -> bool:
    return any(
        rule.reaches(verb, TENANT, resource)
        and (not rule.resource_names or name in rule.resource_names)
        for rule in rules
    )


def native_subjects(subjects: Iterable[Subject]) -> list[Manifest]:
    """Users and groups that can be a person's; see `refused_subjects`."""
    return [
        {"apiGroup": RBAC, "kind": subject.kind, "name": subject.name}
        for subject in subjects
        if _is_acceptable(subject)
    ]


def refused_subjects(subjects: Iterable[Subject]) -> list[Subject]:
    """Names of Kubernetes' own and kinds that nobody signs in as: a role of the platform gives them
    nothing."""
    return [subject for subject in subjects if not _is_acceptable(subject)]


def _is_acceptable(subject: Subject) -> bool:
    if subject.kind not in ("User", "Group"):
        return False
    try:
        Identity(subject.name)
    except InvalidIdentity:
        return False
    return True


def _role(
    level: str, role: Role, gvr: GVR, kind: str, rules: Sequence[Rule], suffix: str = ""
) -> Manifest | None:
    if not rules:
        return None
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": _metadata(
            projected_name(level, role.name) + suffix, _owner(gvr, kind, role.name, role.uid)
        ),
        "rules": written(rules),
    }


def _metadata(name: str, owner: Manifest) -> Manifest:
    return {"name": name, "labels": dict(LABELS), "ownerReferences": [owner]}


def _owner(gvr: GVR, kind: str, name: str, uid: str) -> Manifest:
    return {
        "apiVersion": gvr.group_version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
    }


def _role_ref(name: str) -> Manifest:
    return {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
