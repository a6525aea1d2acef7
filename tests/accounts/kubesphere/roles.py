"""Roles of a KubeSphere 3.4 installation: same purposes and counts of each kind, with independently
written rules.
"""

from collections.abc import Iterator
from typing import Any

from tests.rbac.objects import GROUP as RBAC
from tests.rbac.objects import IAM, TENANT, rule

Manifest = dict[str, Any]

WORKSPACE = "kubesphere.io/workspace"
PREFIX = "role-template-"
READ = "get list watch"
_SCOPE = "scope.kubesphere.io"
_VERBS = {"view": READ, "create": "create", "manage": "*"}

_APPS = ("*", "openpitrix.io")
MEMBERSHIP = rule(READ, "workspaces workspacemembers", f"{TENANT} {IAM}")
_HOME = "workspaces workspacetemplates"
_WORK = "pods services configmaps secrets deployments statefulsets jobs persistentvolumeclaims"
_TENANCY = f"{TENANT} {IAM} core apps batch rbac.authorization.k8s.io devops.kubesphere.io"
#: Verbs, resources and API groups, by subject.
PLATFORM = {
    "clusters": ("view manage", "clusters clustermembers nodes storageclasses namespaces",
                 "cluster.kubesphere.io iam.kubesphere.io core storage.k8s.io"),
    "workspaces": ("view create manage", f"{_HOME} workspacemembers workspaceroles workspacerolebindings"
                   " groups groupbindings namespaces devops rolebindings roles", _TENANCY),
    "users": ("view manage", "users users/password users/loginrecords", IAM),
    "roles": ("view manage", "globalroles globalrolebindings", IAM),
    "app-templates": ("view manage", *_APPS),
    "platform-settings": ("manage", "*", "logging.kubesphere.io notification.kubesphere.io"),
}  # fmt: skip
TENANTS = {
    "projects": ("view create manage", f"namespaces federatednamespaces {_WORK}", "core apps batch"),
    "devops": ("view create manage", "devops devopsprojects pipelines", "devops.kubesphere.io"),
    "app-repos": ("view manage", "repos", "openpitrix.io"),
    "app-templates": ("view manage", "apps", "openpitrix.io"),
    "roles": ("view manage", "workspaceroles", IAM),
    "members": ("view manage", "workspacemembers", IAM),
    "groups": ("view manage", "groups groupbindings rolebindings", f"{IAM} rbac.authorization.k8s.io"),
    "workspace-settings": ("view manage", _HOME, TENANT),
}  # fmt: skip
_CLUSTER = (
    "members roles nodes components projects project-resources storageclasses volumes"
    " volume-snapshots volume-snapshot-classes network-resources crds alerting-policies"
    " cluster-settings"
)
_PROJECT = (
    "app-workloads volumes snapshots secrets configmaps serviceaccount alerting-policies"
    " custom-monitoring"
)
_DEVOPS = "pipelines pipelineruns credentials gitrepositories gitops-applications"
#: Project resources whose names differ from their templates.
_TYPES = {
    "app-workloads": "pods services deployments statefulsets daemonsets jobs cronjobs ingresses",
    "volumes": "persistentvolumeclaims", "snapshots": "volumesnapshots",
    "serviceaccount": "serviceaccounts", "custom-monitoring": "dashboards",
    "members": "rolebindings", "alerting-policies": "rulegroups", "project-settings": "namespaces",
}  # fmt: skip


def made(kind: str, name: str, meta: Manifest, **more: Any) -> Manifest:
    meta = {"name": name, **meta}
    return {"apiVersion": f"{IAM}/v1alpha2", "kind": kind, "metadata": meta, **more}


def built_in(text: str = "") -> Manifest:
    return {"annotations": {"kubesphere.io/creator": "system", "kubesphere.io/description": text}}


def template(
    name: str, module: str, kind: str, *rules: Manifest, api: str = f"{IAM}/v1alpha2"
) -> Manifest:
    said = f'{{"{module}": "{name.partition("-")[0]}"}}'
    meta = {
        "labels": {f"{IAM}/role-template": "true"},
        "annotations": {
            f"{IAM}/module": module,
            f"{IAM}/role-template-rules": said,
            "kubesphere.io/alias-name": name.replace("-", " ").capitalize(),
        },
    }
    return {**made(kind, PREFIX + name, meta, rules=list(rules)), "apiVersion": api}


def _templates(kind: str, subjects: dict[str, tuple[str, str, str]]) -> Iterator[Manifest]:
    for slug, (verbs, types, groups) in subjects.items():
        for verb in verbs.split():
            # The create permission covers only the object itself, not its contents.
            what = " ".join(types.split()[:2]) if verb == "create" else types
            yield template(f"{verb}-{slug}", slug, kind, rule(_VERBS[verb], what, groups))
    basic = [MEMBERSHIP] if kind == "WorkspaceRole" else []
    yield template("view-basic", "basic", kind, *basic)


def global_roles() -> Iterator[Manifest]:
    """Yield 19 built-in roles and one custom role."""
    create = rule("create watch", _HOME, TENANT)
    reads = rule(READ, "nodes clusters storageclasses", "core cluster.kubesphere.io storage.k8s.io")
    for name, rules in {
        "platform-admin": [rule("*", "*", "*"), rule("*", "", paths="*")],
        "platform-self-provisioner": [create],
        "platform-regular": [],
        "anonymous": [rule("get list", "apps", "openpitrix.io")],
        "authenticated": [reads],
        "pre-registration": [rule("create list", "users", IAM)],
    }.items():
        yield made("GlobalRole", name, built_in(name), rules=rules)
    templates = {one["metadata"]["name"]: one for one in _templates("GlobalRole", PLATFORM)}
    yield from templates.values()
    yield custom("GlobalRole", "people-managers", *(
        templates[f"{PREFIX}{verb}-users"] for verb in ("view", "manage")))  # fmt: skip


def custom(kind: str, name: str, *templates: Manifest, workspace: str = "") -> Manifest:
    """Return a custom role as KubeSphere's form creates it from templates."""
    names = ",".join(f'"{one["metadata"]["name"]}"' for one in templates)
    notes = {f"{IAM}/aggregation-roles": f"[{names}]", "kubesphere.io/creator": "admin"}
    labels = {"labels": {WORKSPACE: workspace}} if workspace else {}
    rules = [one for each in templates for one in each["rules"]]
    return made(kind, name, {"annotations": notes, **labels}, rules=rules)


def _of_workspaces() -> Iterator[tuple[str, list[Manifest]]]:
    yield "admin", [rule("*", "*", "*")]
    yield "viewer", [rule(READ, "*", "*")]
    yield "regular", [MEMBERSHIP]
    types = "namespaces federatednamespaces devops"
    create = rule("create", types, f"core {TENANT} types.kubefed.io devops.kubesphere.io")
    yield "self-provisioner", [MEMBERSHIP, create, rule("*", *_APPS)]


def of_projects() -> Iterator[tuple[str, list[Manifest]]]:
    read = rule(READ, "*", "*")
    yield "admin", [rule("*", "*", "*")]
    yield "operator", [read, rule("*", "*", "apps batch")]
    yield "viewer", [read]


def workspace_templates() -> Iterator[Manifest]:
    """Yield 19 templates that belong to no workspace."""
    yield from _templates("WorkspaceRole", TENANTS)


def roles_of_workspace(workspace: str) -> Iterator[Manifest]:
    for name, rules in _of_workspaces():
        meta = {"labels": {WORKSPACE: workspace}, **built_in()}
        yield made("WorkspaceRole", f"{workspace}-{name}", meta, rules=rules)


def cluster_roles() -> Iterator[Manifest]:
    """Yield 30 templates without rules, one with rules, and Kubernetes' own role."""
    api = f"{RBAC}/v1"
    names = [f"{verb}-{slug}" for slug in _CLUSTER.split() for verb in ("view", "manage")]
    for name in (*names, "view-alerting-messages", "view-cluster-monitoring"):
        yield template(name, "Cluster", "ClusterRole", api=api)
    yield {**made("ClusterRole", "cluster-viewer", built_in(), rules=[rule(READ, "*", "*")]),
           "apiVersion": api}  # fmt: skip


def role_bases() -> Iterator[Manifest]:
    """Yield the 42 RoleBases for new workspaces and projects."""
    for name, rules in _of_workspaces():
        role = made("WorkspaceRole", name, built_in(), rules=rules)
        yield _base(f"workspace-{name}", role)
    api = f"{RBAC}/v1"
    for name, rules in of_projects():
        role = {**made("Role", name, built_in(), rules=rules), "apiVersion": api}
        yield _base(name, role, "namespace", "devops")
    both = [f"{verb}-{slug}" for slug in ("members", "roles") for verb in ("view", "manage")]
    lone = ("view-alerting-messages", "manage-project-settings", "view-basic")
    for names, scopes in (
        (both, ("namespace", "devops")),
        ([*_each(_PROJECT), *lone], ("namespace",)),
        ([*_each(_DEVOPS), "manage-devops-settings", "view-basic"], ("devops",)),
    ):
        for name in names:
            verb, _, slug = name.partition("-")
            rules = [rule(_VERBS[verb], _TYPES.get(slug, slug), "*")] if slug != "basic" else []
            role = template(name, slug, "Role", *rules, api=api)
            yield _base(f"{'-'.join(scopes)}-{PREFIX}{name}", role, *scopes)


def _each(slugs: str) -> list[str]:
    return [f"{verb}-{slug}" for slug in slugs.split() for verb in ("view", "manage")]


def _base(name: str, role: Manifest, *scopes: str) -> Manifest:
    labels = {f"{_SCOPE}/{scope}": "" for scope in scopes}
    return made("RoleBase", name, {"labels": labels}, role=role)
