"""Names of resource types and objects, and their REST paths.

A type is a group, a version and a plural. An object is a type, a namespace (empty for
cluster-scoped types) and a name. Paths follow
https://kubernetes.io/docs/reference/using-api/api-concepts/.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote

from console.kube.errors import NotFound
from console.kube.messages import Message

#: The API groups of Kubernetes itself. Their plurals are unique, except for `events`, which the
#: core group and events.k8s.io both serve.
#: https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.34/
BUILT_IN_GROUPS = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)

_KUBE_VERSION = re.compile(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?", re.ASCII)
_STABILITY = {None: 0, "beta": 1, "alpha": 2}


def version_priority(name: str) -> tuple[int, int, int, str]:
    """Return a sort key that orders versions like Kubernetes: `v2, v1, v1beta2, v1alpha1, foo`.

    https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
    """
    # A longer number would exceed Python's limit for the conversion of integers.
    found = _KUBE_VERSION.fullmatch(name) if len(name) <= LONGEST_NAME else None
    if found is None:
        return (len(_STABILITY), 0, 0, name)
    major, stability, minor = found.groups()
    return (_STABILITY[stability], -int(major), -int(minor or 0), "")


#: Maximum length of a name in a database column.
LONGEST_NAME = 253
#: Dot segments (RFC 3986, section 3.3).
DOT_SEGMENTS = frozenset({".", ".."})


@dataclass(frozen=True, slots=True, order=True)
class GVR:
    """Group, version, resource: `GVR("apps", "v1", "deployments")`; the core group is `""`."""

    group: str
    version: str
    resource: str

    @property
    def group_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """Return `deployments.apps`, as in RBAC messages, or `pods` for the core group."""
        return f"{self.resource}.{self.group}" if self.group else self.resource

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the URL path of the collection or object, with percent-encoded segments.

        Raise `NotFound` for dot segments, which HTTP clients resolve even when encoded, and for
        segments with a slash or percent sign, which kube-apiserver splits after decoding. No
        object has such a name, and the request would address a different object.
        https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names
        """
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if namespace:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.resource, name, subresource) if part]
        if not DOT_SEGMENTS.isdisjoint(parts) or any("/" in part or "%" in part for part in parts):
            raise NotFound(404, Message("an object name cannot be . or .., or contain / or %%"))
        return "/" + "/".join(quote(part, safe="") for part in parts)

    def object_path(self, namespace: str, name: str, subresource: str = "") -> str:
        """Return the path of one object. Raise `NotFound` for an empty name, which would address
        all objects.
        """
        if not name:
            raise NotFound(404, Message("the object name is missing"))
        return self.path(namespace, name, subresource)


class Key(NamedTuple):
    """Identifies an object within its type. The UID is not part of it: a recreated object is an
    update.
    """

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def column_value(name: str) -> str:
    """Return a name for a database column.

    A name that is too long or contains NUL is replaced with its hash. Role names have almost no
    restrictions.
    """
    if len(name) <= LONGEST_NAME and "\0" not in name:
        return name
    return f"sha256:{sha256(name.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """A reference to one object of one cluster. The uid distinguishes it from a later object of the
    same name.
    """

    cluster: str
    gvr: GVR
    key: Key
    uid: str

    def columns(self) -> dict[str, str]:
        """Return the values for database columns, without the version: an object is served in
        several versions.
        """
        return {
            "cluster": self.cluster,
            "group": self.gvr.group,
            "resource": self.gvr.resource,
            "namespace": column_value(self.key.namespace),
            "name": column_value(self.key.name),
            "uid": self.uid,
        }


def matching_keys(keys: Collection[Key], names: Collection[Key]) -> set[Key]:
    """Return the keys in `keys` that `names` select.

    `Key("", name)` in `names` selects the objects of that name in all namespaces, like
    `resourceNames` in RBAC rules.
    """
    found = {key for key in names if key in keys}
    everywhere = {key.name for key in names if not key.namespace}
    if everywhere:
        found |= {key for key in keys if key.name in everywhere}
    return found


PODS = GVR("", "v1", "pods")
SERVICES = GVR("", "v1", "services")
CONFIG_MAPS = GVR("", "v1", "configmaps")
SECRETS = GVR("", "v1", "secrets")
SERVICE_ACCOUNTS = GVR("", "v1", "serviceaccounts")
#: Deprecated in favor of EndpointSlices. Old leader elections use them as locks.
ENDPOINTS = GVR("", "v1", "endpoints")
PERSISTENT_VOLUME_CLAIMS = GVR("", "v1", "persistentvolumeclaims")
PERSISTENT_VOLUMES = GVR("", "v1", "persistentvolumes")
NODES = GVR("", "v1", "nodes")
NAMESPACES = GVR("", "v1", "namespaces")
EVENTS = GVR("", "v1", "events")
RESOURCE_QUOTAS = GVR("", "v1", "resourcequotas")
LIMIT_RANGES = GVR("", "v1", "limitranges")

DEPLOYMENTS = GVR("apps", "v1", "deployments")
REPLICA_SETS = GVR("apps", "v1", "replicasets")
STATEFUL_SETS = GVR("apps", "v1", "statefulsets")
DAEMON_SETS = GVR("apps", "v1", "daemonsets")
CONTROLLER_REVISIONS = GVR("apps", "v1", "controllerrevisions")

JOBS = GVR("batch", "v1", "jobs")
CRON_JOBS = GVR("batch", "v1", "cronjobs")

#: Workloads that users create. Jobs are mostly created by CronJobs.
WORKLOADS = (DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS, CRON_JOBS)

HORIZONTAL_POD_AUTOSCALERS = GVR("autoscaling", "v2", "horizontalpodautoscalers")

POD_DISRUPTION_BUDGETS = GVR("policy", "v1", "poddisruptionbudgets")

ENDPOINT_SLICES = GVR("discovery.k8s.io", "v1", "endpointslices")

INGRESSES = GVR("networking.k8s.io", "v1", "ingresses")
INGRESS_CLASSES = GVR("networking.k8s.io", "v1", "ingressclasses")
NETWORK_POLICIES = GVR("networking.k8s.io", "v1", "networkpolicies")

#: https://github.com/kubernetes-sigs/application
APPLICATIONS = GVR("app.k8s.io", "v1beta1", "applications")

GATEWAY_CLASSES = GVR("gateway.networking.k8s.io", "v1", "gatewayclasses")
GATEWAYS = GVR("gateway.networking.k8s.io", "v1", "gateways")
HTTP_ROUTES = GVR("gateway.networking.k8s.io", "v1", "httproutes")
GRPC_ROUTES = GVR("gateway.networking.k8s.io", "v1", "grpcroutes")

STORAGE_CLASSES = GVR("storage.k8s.io", "v1", "storageclasses")

VOLUME_SNAPSHOTS = GVR("snapshot.storage.k8s.io", "v1", "volumesnapshots")
VOLUME_SNAPSHOT_CLASSES = GVR("snapshot.storage.k8s.io", "v1", "volumesnapshotclasses")
VOLUME_SNAPSHOT_CONTENTS = GVR("snapshot.storage.k8s.io", "v1", "volumesnapshotcontents")

PRIORITY_CLASSES = GVR("scheduling.k8s.io", "v1", "priorityclasses")

LEASES = GVR("coordination.k8s.io", "v1", "leases")

ROLES = GVR("rbac.authorization.k8s.io", "v1", "roles")
ROLE_BINDINGS = GVR("rbac.authorization.k8s.io", "v1", "rolebindings")
CLUSTER_ROLES = GVR("rbac.authorization.k8s.io", "v1", "clusterroles")
CLUSTER_ROLE_BINDINGS = GVR("rbac.authorization.k8s.io", "v1", "clusterrolebindings")

CERTIFICATE_SIGNING_REQUESTS = GVR("certificates.k8s.io", "v1", "certificatesigningrequests")

VALIDATING_WEBHOOK_CONFIGURATIONS = GVR(
    "admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations"
)
MUTATING_WEBHOOK_CONFIGURATIONS = GVR(
    "admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations"
)

API_SERVICES = GVR("apiregistration.k8s.io", "v1", "apiservices")
CUSTOM_RESOURCE_DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")

NODE_METRICS = GVR("metrics.k8s.io", "v1beta1", "nodes")
POD_METRICS = GVR("metrics.k8s.io", "v1beta1", "pods")

USERS = GVR("iam.kubesphere.io", "v1alpha2", "users")
GLOBAL_ROLES = GVR("iam.kubesphere.io", "v1alpha2", "globalroles")
GLOBAL_ROLE_BINDINGS = GVR("iam.kubesphere.io", "v1alpha2", "globalrolebindings")
WORKSPACE_ROLES = GVR("iam.kubesphere.io", "v1alpha2", "workspaceroles")
WORKSPACE_ROLE_BINDINGS = GVR("iam.kubesphere.io", "v1alpha2", "workspacerolebindings")
ROLE_BASES = GVR("iam.kubesphere.io", "v1alpha2", "rolebases")
GROUPS = GVR("iam.kubesphere.io", "v1alpha2", "groups")
GROUP_BINDINGS = GVR("iam.kubesphere.io", "v1alpha2", "groupbindings")
LOGIN_RECORDS = GVR("iam.kubesphere.io", "v1alpha2", "loginrecords")

WORKSPACES = GVR("tenant.kubesphere.io", "v1alpha1", "workspaces")

WORKSPACE_TEMPLATES = GVR("tenant.kubesphere.io", "v1alpha2", "workspacetemplates")
WORKSPACE_QUOTAS = GVR("quota.kubesphere.io", "v1alpha2", "resourcequotas")
