"""Built-in role templates, with KubeSphere's names and working rules.

Roles are assembled from templates (`rbac.templates`). KubeSphere 3.4 has templates with the same
names at each level, but its cluster templates have no rules, so roles assembled from them grant
nothing.

Contains only data. To add templates, label roles in the cluster; see docs/roles.md.
"""

from collections.abc import Iterator
from typing import NamedTuple

from rbac.levels import Level
from rbac.rules import ALL, Rule, Rules

READ = ("get", "list", "watch")
#: Verbs for managing objects. `*` is not used: for roles and service accounts it would include
#: `escalate`, `bind` and `impersonate`, which allow a user to gain every permission.
MANAGE = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
#: Prefix of KubeSphere's template names at every level.
PREFIX = "role-template-"


def gettext_noop(text: str) -> str:
    """Mark a string for translation. It is translated when it is displayed."""
    return text


class Template(NamedTuple):
    """A building block of roles. `name` is the name used in objects, `needs` lists templates that
    must be included with this one.
    """

    level: Level
    name: str
    module: str
    title: str
    rules: Rules
    needs: tuple[str, ...] = ()


#: Pairs of an API group and space-separated resources.
ResourceTypes = tuple[tuple[str, str], ...]

_RBAC, _IAM, _TENANT = "rbac.authorization.k8s.io", "iam.kubesphere.io", "tenant.kubesphere.io"
_APPS = (("application.kubesphere.io", ALL), ("app.k8s.io", "applications"))
_DEVOPS = (("devops.kubesphere.io", ALL), ("gitops.kubesphere.io", ALL))
_ALERTS = (("alerting.kubesphere.io", ALL), ("monitoring.coreos.com", "prometheusrules"))
_METRICS = (("metrics.k8s.io", "pods nodes"), ("monitoring.kubesphere.io", ALL))
_NATIVE_ROLES = (_RBAC, "roles")
_WORKLOADS: ResourceTypes = (
    ("", "pods pods/log pods/status replicationcontrollers services endpoints events"),
    ("apps", "deployments statefulsets daemonsets replicasets controllerrevisions"),
    ("batch", "jobs cronjobs"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("policy", "poddisruptionbudgets"),
    ("networking.k8s.io", "ingresses networkpolicies"),
    ("discovery.k8s.io", "endpointslices"),
)
#: Additional types that are needed to manage workloads.
_USE: ResourceTypes = (
    ("", "pods/exec pods/attach pods/portforward pods/eviction"),
    ("apps", "deployments/scale statefulsets/scale replicasets/scale"),
)
_SNAPSHOTS: ResourceTypes = (("snapshot.storage.k8s.io", "volumesnapshots"),)
_PROJECT_PARTS: ResourceTypes = (
    *_WORKLOADS,
    ("", "configmaps persistentvolumeclaims serviceaccounts resourcequotas limitranges"),
    *_SNAPSHOTS,
)


class _TemplateSubject(NamedTuple):
    """The resources that a group of templates covers. `verbs` lists the templates to create. The
    types in `use` are included only in `manage`.
    """

    slug: str
    title: str
    types: ResourceTypes
    verbs: tuple[str, ...] = ("view", "manage")
    use: ResourceTypes = ()
    needs: tuple[str, ...] = ()


_LEVELS: dict[Level, dict[str, tuple[_TemplateSubject, ...]]] = {
    Level.GLOBAL: {
        gettext_noop("Clusters"): (
            _TemplateSubject(
                "clusters",
                gettext_noop("clusters"),
                (
                    ("cluster.kubesphere.io", "clusters"),
                    ("", "nodes namespaces persistentvolumes events"),
                    ("storage.k8s.io", "storageclasses"),
                    ("apiextensions.k8s.io", "customresourcedefinitions"),
                ),
            ),
        ),
        gettext_noop("Access control"): (
            _TemplateSubject(
                "workspaces",
                gettext_noop("workspaces"),
                (
                    (_TENANT, "workspaces workspacetemplates"),
                    (
                        _IAM,
                        "workspacemembers workspaceroles workspacerolebindings groups groupbindings",
                    ),
                ),
                ("view", "create", "manage"),
            ),
            _TemplateSubject("users", gettext_noop("users"), ((_IAM, "users loginrecords"),)),
            _TemplateSubject(
                "roles",
                gettext_noop("platform roles"),
                ((_IAM, "globalroles globalrolebindings"),),
                needs=("view-users",),
            ),
        ),
        gettext_noop("Apps"): (
            _TemplateSubject("app-templates", gettext_noop("app templates"), _APPS),
        ),
        gettext_noop("Platform settings"): (
            _TemplateSubject(
                "platform-settings",
                gettext_noop("platform settings"),
                (("notification.kubesphere.io", ALL), ("config.kubesphere.io", ALL)),
                ("manage",),
            ),
        ),
    },
    Level.WORKSPACE: {
        gettext_noop("Projects"): (
            _TemplateSubject(
                "projects",
                gettext_noop("projects"),
                (("", "namespaces"), *_PROJECT_PARTS, ("metrics.k8s.io", "pods")),
                ("view", "create", "manage"),
                (*_USE, ("", "secrets")),
            ),
        ),
        gettext_noop("DevOps"): (
            _TemplateSubject("devops", gettext_noop("DevOps projects"), _DEVOPS),
        ),
        gettext_noop("Apps"): (
            _TemplateSubject(
                "app-repos",
                gettext_noop("app repositories"),
                (("application.kubesphere.io", "helmrepos"),),
            ),
            _TemplateSubject("app-templates", gettext_noop("app templates"), _APPS),
        ),
        gettext_noop("Access control"): (
            _TemplateSubject(
                "members",
                gettext_noop("members"),
                ((_IAM, "workspacemembers workspacerolebindings"),),
            ),
            _TemplateSubject(
                "roles",
                gettext_noop("workspace roles"),
                ((_IAM, "workspaceroles"),),
                needs=("view-members",),
            ),
            _TemplateSubject(
                "groups",
                gettext_noop("departments"),
                ((_IAM, "groups groupbindings"),),
                needs=("view-members",),
            ),
        ),
        gettext_noop("Workspace settings"): (
            _TemplateSubject(
                "workspace-settings",
                gettext_noop("workspace settings"),
                ((_TENANT, "workspaces workspacetemplates"), ("quota.kubesphere.io", ALL)),
            ),
        ),
    },
    Level.CLUSTER: {
        gettext_noop("Cluster resources"): (
            _TemplateSubject(
                "nodes",
                gettext_noop("nodes"),
                (("", "nodes nodes/status"), ("metrics.k8s.io", "nodes")),
            ),
            _TemplateSubject(
                "components",
                gettext_noop("system components"),
                (("", "componentstatuses"), ("coordination.k8s.io", "leases")),
                ("view",),
            ),
            _TemplateSubject(
                "crds",
                gettext_noop("custom resource definitions"),
                (("apiextensions.k8s.io", "customresourcedefinitions"),),
            ),
        ),
        gettext_noop("Projects"): (
            _TemplateSubject("projects", gettext_noop("projects"), (("", "namespaces"),)),
            _TemplateSubject(
                "project-resources",
                gettext_noop("resources in projects"),
                _PROJECT_PARTS,
                use=(*_USE, ("", "secrets")),
                needs=("view-projects",),
            ),
        ),
        gettext_noop("Storage"): (
            _TemplateSubject(
                "storageclasses",
                gettext_noop("storage classes"),
                (("storage.k8s.io", "storageclasses csidrivers"),),
            ),
            _TemplateSubject(
                "volumes",
                gettext_noop("volumes"),
                (("", "persistentvolumes persistentvolumeclaims"),),
            ),
            _TemplateSubject("volume-snapshots", gettext_noop("volume snapshots"), _SNAPSHOTS),
            _TemplateSubject(
                "volume-snapshot-classes",
                gettext_noop("volume snapshot classes"),
                (("snapshot.storage.k8s.io", "volumesnapshotclasses volumesnapshotcontents"),),
            ),
        ),
        gettext_noop("Network"): (
            _TemplateSubject(
                "network-resources",
                gettext_noop("network resources"),
                (
                    ("networking.k8s.io", "ingressclasses ingresses networkpolicies"),
                    ("network.kubesphere.io", ALL),
                    ("gateway.networking.k8s.io", ALL),
                ),
            ),
        ),
        gettext_noop("Monitoring"): (
            _TemplateSubject(
                "cluster-monitoring", gettext_noop("cluster monitoring"), _METRICS, ("view",)
            ),
            _TemplateSubject("alerting-policies", gettext_noop("alerting policies"), _ALERTS),
            _TemplateSubject(
                "alerting-messages",
                gettext_noop("alerting messages"),
                (("alerting.kubesphere.io", "alerts clusteralerts globalalerts"),),
                ("view",),
            ),
        ),
        gettext_noop("Access control"): (
            _TemplateSubject(
                "members",
                gettext_noop("cluster members"),
                ((_RBAC, "clusterrolebindings rolebindings"),),
            ),
            _TemplateSubject(
                "roles",
                gettext_noop("cluster roles"),
                ((_RBAC, "clusterroles"), _NATIVE_ROLES),
                needs=("view-members",),
            ),
        ),
        gettext_noop("Cluster settings"): (
            _TemplateSubject(
                "cluster-settings",
                gettext_noop("cluster settings"),
                (("cluster.kubesphere.io", "clusters"), ("gateway.kubesphere.io", ALL)),
            ),
        ),
    },
    Level.PROJECT: {
        gettext_noop("Workloads"): (
            _TemplateSubject("app-workloads", gettext_noop("workloads"), _WORKLOADS, use=_USE),
        ),
        gettext_noop("Storage"): (
            _TemplateSubject("volumes", gettext_noop("volumes"), (("", "persistentvolumeclaims"),)),
            _TemplateSubject("snapshots", gettext_noop("volume snapshots"), _SNAPSHOTS),
        ),
        gettext_noop("Configuration"): (
            _TemplateSubject("secrets", gettext_noop("secrets"), (("", "secrets"),)),
            _TemplateSubject("configmaps", gettext_noop("config maps"), (("", "configmaps"),)),
            _TemplateSubject(
                "serviceaccount", gettext_noop("service accounts"), (("", "serviceaccounts"),)
            ),
        ),
        gettext_noop("Monitoring"): (
            _TemplateSubject("alerting-policies", gettext_noop("alerting policies"), _ALERTS),
            _TemplateSubject(
                "alerting-messages",
                gettext_noop("alerting messages"),
                (("alerting.kubesphere.io", "alerts"),),
                ("view",),
            ),
            _TemplateSubject(
                "custom-monitoring",
                gettext_noop("custom monitoring"),
                (("monitoring.kubesphere.io", "dashboards"), ("metrics.k8s.io", "pods")),
            ),
        ),
        gettext_noop("Access control"): (
            _TemplateSubject("members", gettext_noop("members"), ((_RBAC, "rolebindings"),)),
            _TemplateSubject(
                "roles",
                gettext_noop("project roles"),
                (_NATIVE_ROLES,),
                needs=("view-members",),
            ),
        ),
        gettext_noop("Project settings"): (
            _TemplateSubject(
                "project-settings",
                gettext_noop("project settings"),
                (("", "resourcequotas limitranges namespaces"),),
                ("manage",),
            ),
        ),
    },
}


def _rules(types: ResourceTypes, verbs: tuple[str, ...]) -> Rules:
    return tuple(Rule(verbs, (group,), tuple(names.split())) for group, names in types)


def _template(level: Level, module: str, subject: _TemplateSubject, verb: str) -> Template:
    types = subject.types if verb != "create" else subject.types[:1]
    verbs = {"view": READ, "create": ("create",), "manage": MANAGE}[verb]
    rules = _rules(types, verbs) + (_rules(subject.use, MANAGE) if verb == "manage" else ())
    needs = [f"view-{subject.slug}"] if verb != "view" and "view" in subject.verbs else []
    needs += [need for need in subject.needs if need not in needs]
    return Template(
        level,
        f"{PREFIX}{verb}-{subject.slug}",
        module,
        f"{verb} {subject.title}",
        rules,
        tuple(PREFIX + need for need in needs),
    )


def _catalogue() -> Iterator[Template]:
    for level, modules in _LEVELS.items():
        for module, subjects in modules.items():
            for subject in subjects:
                for verb in subject.verbs:
                    yield _template(level, module, subject, verb)


#: All built-in templates. `title` is `view`, `create` or `manage` followed by the subject, in
#: English.
CATALOGUE: tuple[Template, ...] = tuple(_catalogue())
