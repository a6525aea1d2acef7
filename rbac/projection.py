"""Projection of KubeSphere roles and bindings to native Kubernetes objects.

Writes are sent with the user's identity, so kube-apiserver must allow them. Reads are decided
with the same native roles. A GlobalRole becomes a ClusterRole and its bindings become
ClusterRoleBindings; `platform-admin` becomes `cluster-admin`. A WorkspaceRole becomes a
ClusterRole that is bound in each project of its workspace, and a second ClusterRole for the
workspace object. See ADR 8 for the reasons.

Guarantees for cluster-wide permissions:
- The verb `*` becomes the list of object verbs (`VERBS`), because KubeSphere has no other verbs.
  It never includes `impersonate`, `bind` or `escalate`.
- Only platform administrators may write the types that grant permissions (`GRANTING`), because
  kube-apiserver does not prevent privilege escalation for these types as it does for its own
  roles.
- Non-resource URLs are left out, because the URLs of KubeSphere's server differ from those of
  kube-apiserver.

KubeSphere's server uses different names for some types (`_KUBESPHERE_NAMES`): for example, permission to
create `workspaces` there includes the WorkspaceTemplates from which workspaces are created.
"""

from collections.abc import Iterable, Iterator, Sequence

from console.kube.apply import Manifest
from console.kube.gvr import GLOBAL_ROLE_BINDINGS, GLOBAL_ROLES, GVR, WORKSPACE_ROLES
from console.kube.identity import Identity, InvalidIdentity
from console.kube.projections import GlobalRoleBinding, Subject
from console.kube.projections.roles import Role
from rbac.authorizer import is_admin_binding
from rbac.levels import TYPES, Level, subject_manifest
from rbac.names import GLOBAL_BINDING, GLOBAL_ROLE, WORKSPACE_ROLE, WORKSPACE_SUFFIX, projected_name
from rbac.rules import ALL, AccessQuestion, Rule, Rules, any_allows, rules_to_json

LABELS = {"app.kubernetes.io/managed-by": "quarterdeck"}
CLUSTER_ADMIN = "cluster-admin"
READS = ("get", "list", "watch")
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
IAM, TENANT = "iam.kubesphere.io", "tenant.kubesphere.io"
#: Write access to these types allows a user to grant permissions or to take over a user who has
#: them.
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
#: Type names used by KubeSphere's server: API group and resource, and the resource name in
#: Kubernetes.
_KUBESPHERE_NAMES = {
    (TENANT, "workspaces"): "workspacetemplates",
    ("devops.kubesphere.io", "devops"): "devopsprojects",
    (IAM, "users/loginrecords"): "loginrecords",
}


def project_global_role(role: Role, rules: Rules) -> Manifest | None:
    """Return the ClusterRole of a GlobalRole, or None if there should be none."""
    if role.name == "platform-admin":
        return None
    return _role(GLOBAL_ROLE, role, GLOBAL_ROLES, "GlobalRole", platform_rules(rules))


def project_global_binding(source: GlobalRoleBinding, has_role: bool) -> Manifest | None:
    """Return the ClusterRoleBinding of a GlobalRoleBinding, or None if there should be none.
    `has_role` is True if the role has a ClusterRole.
    """
    admin = is_admin_binding(source)
    subjects = native_subjects(source.subjects)
    if not subjects or not (admin or (has_role and source.role_kind in ("GlobalRole", ""))):
        return None
    meta = _metadata(
        projected_name(GLOBAL_BINDING, source.name),
        owner_reference(GLOBAL_ROLE_BINDINGS, "GlobalRoleBinding", source.name, source.uid),
    )
    role = CLUSTER_ADMIN if admin else projected_name(GLOBAL_ROLE, source.role)
    return TYPES[Level.CLUSTER].binding(meta, role, subjects)


def project_workspace_role(role: Role, rules: Rules) -> Manifest | None:
    """Return the ClusterRole for the workspace's projects. Templates belong to no workspace and
    grant nothing.
    """
    if not role.workspace:
        return None
    return _role(WORKSPACE_ROLE, role, WORKSPACE_ROLES, "WorkspaceRole", resource_rules(rules))


def project_workspace_object(role: Role, rules: Rules) -> Manifest | None:
    """Return the ClusterRole for the workspace object, which grants at most read access."""
    if not role.workspace:
        return None
    own = [
        Rule(verbs, (TENANT,), (resource,), (role.workspace,))
        for resource in _ITSELF
        if (
            verbs := tuple(
                verb
                for verb in READS
                if any_allows(rules, AccessQuestion(verb, TENANT, resource, name=role.workspace))
            )
        )
    ]
    return _role(WORKSPACE_ROLE, role, WORKSPACE_ROLES, "WorkspaceRole", own, WORKSPACE_SUFFIX)


def bind_workspace_role(
    role: Role, subjects: Sequence[Manifest], namespace: str = ""
) -> Manifest | None:
    """Return the binding in a project or, without `namespace`, the binding to the workspace object."""
    if not subjects:
        return None
    name = projected_name(WORKSPACE_ROLE, role.name)
    owner = owner_reference(WORKSPACE_ROLES, "WorkspaceRole", role.name, role.uid)
    meta, cluster = _metadata(name, owner), TYPES[Level.CLUSTER]
    if not namespace:
        return cluster.binding(meta, name + WORKSPACE_SUFFIX, list(subjects))
    meta["namespace"] = namespace
    return TYPES[Level.PROJECT].binding(meta, name, list(subjects), of=cluster)


def platform_rules(rules: Rules) -> list[Rule]:
    """Return the subset of a platform role's rules that counts cluster-wide."""
    return [
        part for rule in resource_rules(rules) for part in (*_safe(rule), *_renamed_rules(rule))
    ]


def _renamed_rules(rule: Rule) -> Iterator[Rule]:
    """Yield rules for the Kubernetes types that the rule names as KubeSphere's server does. A `*`
    already includes all names.
    """
    verbs = VERBS if ALL in rule.verbs else tuple(verb for verb in rule.verbs if verb in VERBS)
    for (group, said), meant in _KUBESPHERE_NAMES.items():
        named = said in rule.resources and not {meant, ALL} & set(rule.resources)
        does = verbs
        if "/" in said:
            # A subresource name maps to a separate type that is only readable. Its objects don't
            # have the names of the parent objects.
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


def has_granting_rules(rules: Rules) -> bool:
    """Return True if the rules allow writing types that grant permissions. The projection leaves
    these out.
    """
    return any(
        any(verb not in READS for verb in rule.verbs)
        and any(group in (ALL, IAM) for group in rule.api_groups)
        and any(_may_grant(resource) for resource in rule.resources)
        for rule in rules
    )


def _may_grant(resource: str) -> bool:
    first = resource.partition("/")[0]
    return first == ALL or first in GRANTING


def resource_rules(rules: Rules) -> list[Rule]:
    """Return the resource rules that kube-apiserver accepts in a role and that can match a request."""
    return [
        Rule(rule.verbs, rule.api_groups, rule.resources, rule.resource_names)
        for rule in rules
        if rule.verbs and rule.api_groups and rule.resources
    ]


def native_subjects(subjects: Iterable[Subject]) -> list[Manifest]:
    """Return the users and groups as native subjects, without the refused ones (see
    `refused_subjects`).
    """
    return [
        subject_manifest(subject.kind, subject.name)
        for subject in subjects
        if _is_acceptable(subject)
    ]


def refused_subjects(subjects: Iterable[Subject]) -> list[Subject]:
    """Return the subjects that platform and workspace roles don't apply to: names reserved by
    Kubernetes, and kinds that cannot sign in.
    """
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
    owner = owner_reference(gvr, kind, role.name, role.uid)
    meta = _metadata(projected_name(level, role.name) + suffix, owner)
    return TYPES[Level.CLUSTER].role(meta, rules_to_json(rules))


def _metadata(name: str, owner: Manifest) -> Manifest:
    return {"name": name, "labels": dict(LABELS), "ownerReferences": [owner]}


def owner_reference(gvr: GVR, kind: str, name: str, uid: str) -> Manifest:
    return {
        "apiVersion": gvr.group_version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
    }
