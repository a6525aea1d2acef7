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
Types = tuple[tuple[str, str], ...]

_RBAC, _IAM, _TENANT = "rbac.authorization.k8s.io", "iam.kubesphere.io", "tenant.kubesphere.io"
_APPS = (("application.kubesphere.io", ALL), ("app.k8s.io", "applications"))
_DEVOPS = (("devops.kubesphere.io", ALL), ("gitops.kubesphere.io", ALL))
_ALERTS = (("alerting.kubesphere.io", ALL), ("monitoring.coreos.com", "prometheusrules"))
_METRICS = (("metrics.k8s.io", "pods nodes"), ("monitoring.kubesphere.io", ALL))
_NATIVE_ROLES = (_RBAC, "roles")
_WORKLOADS: Types = (
    ("", "pods pods/log pods/status replicationcontrollers services endpoints events"),
    ("apps", "deployments statefulsets daemonsets replicasets controllerrevisions"),
    ("batch", "jobs cronjobs"),
    ("autoscaling", "horizontalpodautoscalers"),
    ("policy", "poddisruptionbudgets"),
    ("networking.k8s.io", "ingresses networkpolicies"),
    ("discovery.k8s.io", "endpointslices"),
)
#: Additional types that are needed to manage workloads.
_USE: Types = (
    ("", "pods/exec pods/attach pods/portforward pods/eviction"),
    ("apps", "deployments/scale statefulsets/scale replicasets/scale"),
)
_SNAPSHOTS: Types = (("snapshot.storage.k8s.io", "volumesnapshots"),)
_PROJECT_PARTS: Types = (
    *_WORKLOADS,
    ("", "configmaps persistentvolumeclaims serviceaccounts resourcequotas limitranges"),
    *_SNAPSHOTS,
)


class _Subject(NamedTuple):
    """The resources that a group of templates covers. `verbs` lists the templates to create. The
    types in `use` are included only in `manage`.
    """

    slug: str
    title: str
    types: Types
    verbs: tuple[str, ...] = ("view", "manage")
    use: Types = ()
    needs: tuple[str, ...] = ()


_LEVELS: dict[Level, dict[str, tuple[_Subject, ...]]] = {
    Level.GLOBAL: {
        gettext_noop("Clusters"): (
            _Subject(
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
            _Subject(
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
            _Subject("users", gettext_noop("users"), ((_IAM, "users loginrecords"),)),
            _Subject(
                "roles",
                gettext_noop("platform roles"),
                ((_IAM, "globalroles globalrolebindings"),),
                needs=("view-users",),
            ),
        ),
        gettext_noop("Apps"): (_Subject("app-templates", gettext_noop("app templates"), _APPS),),
        gettext_noop("Platform settings"): (
            _Subject(
                "platform-settings",
                gettext_noop("platform settings"),
                (("notification.kubesphere.io", ALL), ("config.kubesphere.io", ALL)),
                ("manage",),
            ),
        ),
    },
    Level.WORKSPACE: {
        gettext_noop("Projects"): (
            _Subject(
                "projects",
                gettext_noop("projects"),
                (("", "namespaces"), *_PROJECT_PARTS, ("metrics.k8s.io", "pods")),
                ("view", "create", "manage"),
                (*_USE, ("", "secrets")),
            ),
        ),
        gettext_noop("DevOps"): (_Subject("devops", gettext_noop("DevOps projects"), _DEVOPS),),
        gettext_noop("Apps"): (
            _Subject(
                "app-repos",
                gettext_noop("app repositories"),
                (("application.kubesphere.io", "helmrepos"),),
            ),
            _Subject("app-templates", gettext_noop("app templates"), _APPS),
        ),
        gettext_noop("Access control"): (
            _Subject(
                "members",
                gettext_noop("members"),
                ((_IAM, "workspacemembers workspacerolebindings"),),
            ),
            _Subject(
                "roles",
                gettext_noop("workspace roles"),
                ((_IAM, "workspaceroles"),),
                needs=("view-members",),
            ),
            _Subject(
                "groups",
                gettext_noop("departments"),
                ((_IAM, "groups groupbindings"),),
                needs=("view-members",),
            ),
        ),
        gettext_noop("Workspace settings"): (
            _Subject(
                "workspace-settings",
                gettext_noop("workspace settings"),
                ((_TENANT, "workspaces workspacetemplates"), ("quota.kubesphere.io", ALL)),
            ),
        ),
    },
    Level.CLUSTER: {
        gettext_noop("Cluster resources"): (
            _Subject(
                "nodes",
                gettext_noop("nodes"),
                (("", "nodes nodes/status"), ("metrics.k8s.io", "nodes")),
            ),
            _Subject(
                "components",
                gettext_noop("system components"),
                (("", "componentstatuses"), ("coordination.k8s.io", "leases")),
                ("view",),
            ),
            _Subject(
                "crds",
                gettext_noop("custom resource definitions"),
                (("apiextensions.k8s.io", "customresourcedefinitions"),),
            ),
        ),
        gettext_noop("Projects"): (
            _Subject("projects", gettext_noop("projects"), (("", "namespaces"),)),
            _Subject(
                "project-resources",
                gettext_noop("resources in projects"),
                _PROJECT_PARTS,
                use=(*_USE, ("", "secrets")),
                needs=("view-projects",),
            ),
        ),
        gettext_noop("Storage"): (
            _Subject(
                "storageclasses",
                gettext_noop("storage classes"),
                (("storage.k8s.io", "storageclasses csidrivers"),),
            ),
            _Subject(
                "volumes",
                gettext_noop("volumes"),
                (("", "persistentvolumes persistentvolumeclaims"),),
            ),
            _Subject("volume-snapshots", gettext_noop("volume snapshots"), _SNAPSHOTS),
            _Subject(
                "volume-snapshot-classes",
                gettext_noop("volume snapshot classes"),
                (("snapshot.storage.k8s.io", "volumesnapshotclasses volumesnapshotcontents"),),
            ),
        ),
        gettext_noop("Network"): (
            _Subject(
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
            _Subject("cluster-monitoring", gettext_noop("cluster monitoring"), _METRICS, ("view",)),
            _Subject("alerting-policies", gettext_noop("alerting policies"), _ALERTS),
            _Subject(
                "alerting-messages",
                gettext_noop("alerting messages"),
                (("alerting.kubesphere.io", "alerts clusteralerts globalalerts"),),
                ("view",),
            ),
        ),
        gettext_noop("Access control"): (
            _Subject(
                "members",
                gettext_noop("cluster members"),
                ((_RBAC, "clusterrolebindings rolebindings"),),
            ),
            _Subject(
                "roles",
                gettext_noop("cluster roles"),
                ((_RBAC, "clusterroles"), _NATIVE_ROLES),
                needs=("view-members",),
            ),
        ),
        gettext_noop("Cluster settings"): (
            _Subject(
                "cluster-settings",
                gettext_noop("cluster settings"),
                (("cluster.kubesphere.io", "clusters"), ("gateway.kubesphere.io", ALL)),
            ),
        ),
    },
    Level.PROJECT: {
        gettext_noop("Workloads"): (
            _Subject("app-workloads", gettext_noop("workloads"), _WORKLOADS, use=_USE),
        ),
        gettext_noop("Storage"): (
            _Subject("volumes", gettext_noop("volumes"), (("", "persistentvolumeclaims"),)),
            _Subject("snapshots", gettext_noop("volume snapshots"), _SNAPSHOTS),
        ),
        gettext_noop("Configuration"): (
            _Subject("secrets", gettext_noop("secrets"), (("", "secrets"),)),
            _Subject("configmaps", gettext_noop("config maps"), (("", "configmaps"),)),
            _Subject(
                "serviceaccount", gettext_noop("service accounts"), (("", "serviceaccounts"),)
            ),
        ),
        gettext_noop("Monitoring"): (
            _Subject("alerting-policies", gettext_noop("alerting policies"), _ALERTS),
            _Subject(
                "alerting-messages",
                gettext_noop("alerting messages"),
                (("alerting.kubesphere.io", "alerts"),),
                ("view",),
            ),
            _Subject(
                "custom-monitoring",
                gettext_noop("custom monitoring"),
                (("monitoring.kubesphere.io", "dashboards"), ("metrics.k8s.io", "pods")),
            ),
        ),
        gettext_noop("Access control"): (
            _Subject("members", gettext_noop("members"), ((_RBAC, "rolebindings"),)),
            _Subject(
                "roles",
                gettext_noop("project roles"),
                (_NATIVE_ROLES,),
                needs=("view-members",),
            ),
        ),
        gettext_noop("Project settings"): (
            _Subject(
                "project-settings",
                gettext_noop("project settings"),
                (("", "resourcequotas limitranges namespaces"),),
                ("manage",),
            ),
        ),
    },
}


def _rules(types: Types, verbs: tuple[str, ...]) -> Rules:
    return tuple(Rule(verbs, (group,), tuple(names.split())) for group, names in types)


def _template(level: Level, module: str, subject: _Subject, verb: str) -> Template:
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
