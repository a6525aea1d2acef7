"""Default namespaces, cluster roles and bindings of a new cluster.

The roles follow
https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings.
admin, edit and view are aggregated roles, so that custom resources can add rules to them.
"""

from collections.abc import Iterator, Sequence

from devcluster.authn import AUTHENTICATED, MASTERS, UNAUTHENTICATED
from devcluster.objects import Obj
from devcluster.rbac import GROUP

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")

_READ = ("get", "list", "watch")
_WRITE = ("create", "delete", "deletecollection", "patch", "update")
_LABELS = {"kubernetes.io/bootstrapping": "rbac-defaults"}
_AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"

# Resources by group that `view` can read and `edit` can also write.
_WORKLOADS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "",
        (
            "configmaps",
            "endpoints",
            "persistentvolumeclaims",
            "pods",
            "replicationcontrollers",
            "replicationcontrollers/scale",
            "serviceaccounts",
            "services",
        ),
    ),
    (
        "apps",
        (
            "daemonsets",
            "deployments",
            "deployments/scale",
            "replicasets",
            "replicasets/scale",
            "statefulsets",
            "statefulsets/scale",
        ),
    ),
    ("autoscaling", ("horizontalpodautoscalers",)),
    ("batch", ("cronjobs", "jobs")),
    ("policy", ("poddisruptionbudgets",)),
    ("networking.k8s.io", ("ingresses", "networkpolicies")),
)
_STATUSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "",
        (
            "persistentvolumeclaims/status",
            "pods/log",
            "pods/status",
            "replicationcontrollers/status",
            "services/status",
            "namespaces/status",
            "resourcequotas/status",
        ),
    ),
    (
        "apps",
        (
            "controllerrevisions",
            "daemonsets/status",
            "deployments/status",
            "replicasets/status",
            "statefulsets/status",
        ),
    ),
    ("autoscaling", ("horizontalpodautoscalers/status",)),
    ("batch", ("cronjobs/status", "jobs/status")),
    ("policy", ("poddisruptionbudgets/status",)),
    ("networking.k8s.io", ("ingresses/status",)),
    ("discovery.k8s.io", ("endpointslices",)),
)
_PUBLIC_PATHS = ("/healthz", "/livez", "/readyz", "/version", "/version/")
_DISCOVERY_PATHS = (
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
    "/version/",
)


def _rule(verbs: Sequence[str], group: str, resources: Sequence[str]) -> Obj:
    return {"verbs": list(verbs), "apiGroups": [group], "resources": list(resources)}


def _paths(paths: Sequence[str]) -> Obj:
    return {"verbs": ["get"], "nonResourceURLs": list(paths)}


def _role(name: str, rules: list[Obj], aggregate_to: str = "") -> Obj:
    labels = {**_LABELS, f"{_AGGREGATE}{aggregate_to}": "true"} if aggregate_to else _LABELS
    return {"metadata": {"name": name, "labels": labels}, "rules": rules}


def _aggregated(name: str, aggregate_to: str = "") -> Obj:
    selector = {"matchLabels": {f"{_AGGREGATE}{name}": "true"}}
    rule = {"clusterRoleSelectors": [selector]}
    return {**_role(name, [], aggregate_to), "aggregationRule": rule}


def _view_rules() -> list[Obj]:
    rules = [_rule(_READ, group, resources) for group, resources in (*_WORKLOADS, *_STATUSES)]
    others = ("bindings", "events", "limitranges", "namespaces", "resourcequotas")
    events = _rule(_READ, "events.k8s.io", ("events",))
    return [*rules, _rule(_READ, "", others), events]


def _edit_rules() -> list[Obj]:
    # Write access to Endpoints would allow users to redirect the traffic of other services.
    rules = [
        _rule(_WRITE, group, [name for name in resources if name != "endpoints"])
        for group, resources in _WORKLOADS
    ]
    connect = ("pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "services/proxy")
    return [
        _rule(_READ, "", (*connect, "secrets")),
        _rule(_WRITE, "", (*connect, "secrets")),
        _rule(("impersonate",), "", ("serviceaccounts",)),
        _rule(("create",), "", ("pods/eviction", "serviceaccounts/token")),
        _rule(_WRITE, "", ("events",)),
        _rule(_WRITE, "events.k8s.io", ("events",)),
        _rule((*_WRITE, *_READ), "coordination.k8s.io", ("leases",)),
        *rules,
    ]


def _admin_rules() -> list[Obj]:
    return [
        _rule(("create",), "authorization.k8s.io", ("localsubjectaccessreviews",)),
        _rule((*_WRITE, *_READ), GROUP, ("rolebindings", "roles")),
    ]


def cluster_roles() -> Iterator[Obj]:
    everything: list[Obj] = [_rule(("*",), "*", ("*",))]
    everything.append({"verbs": ["*"], "nonResourceURLs": ["*"]})
    yield _role("cluster-admin", everything)
    yield _role("system:discovery", [_paths(_DISCOVERY_PATHS)])
    yield _role("system:public-info-viewer", [_paths(_PUBLIC_PATHS)])
    reviews = ("selfsubjectaccessreviews", "selfsubjectrulesreviews")
    yield _role(
        "system:basic-user",
        [
            _rule(("create",), "authorization.k8s.io", reviews),
            _rule(("create",), "authentication.k8s.io", ("selfsubjectreviews",)),
        ],
    )
    yield _role(
        "system:auth-delegator",
        [
            _rule(("create",), "authentication.k8s.io", ("tokenreviews",)),
            _rule(("create",), "authorization.k8s.io", ("subjectaccessreviews",)),
        ],
    )
    yield _role("system:aggregate-to-view", _view_rules(), "view")
    yield _role("system:aggregate-to-edit", _edit_rules(), "edit")
    yield _role("system:aggregate-to-admin", _admin_rules(), "admin")
    yield _aggregated("view", "edit")
    yield _aggregated("edit", "admin")
    yield _aggregated("admin")


def cluster_role_bindings() -> Iterator[Obj]:
    for role, groups in (
        ("cluster-admin", (MASTERS,)),
        ("system:discovery", (AUTHENTICATED,)),
        ("system:basic-user", (AUTHENTICATED,)),
        ("system:public-info-viewer", (AUTHENTICATED, UNAUTHENTICATED)),
    ):
        yield {
            "metadata": {"name": role, "labels": _LABELS},
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "Group", "apiGroup": GROUP, "name": group} for group in groups],
        }
