"""Names of resource types and of objects, and the REST paths they have.

A type is a group, a version and a plural; an object is a type, a namespace (empty where the type is
cluster-scoped) and a name. Paths follow https://kubernetes.io/docs/reference/using-api/api-concepts/.
"""

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote


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
        """`deployments.apps`, as in RBAC messages; `pods` for the core group."""
        return f"{self.resource}.{self.group}" if self.group else self.resource

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of the collection or the object, each segment percent-encoded."""
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if namespace:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.resource, name, subresource) if part]
        return "/" + "/".join(quote(part, safe="") for part in parts)


class Key(NamedTuple):
    """What identifies an object within its type. Not the UID: a recreated object is an update."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


PODS = GVR("", "v1", "pods")
NAMESPACES = GVR("", "v1", "namespaces")
NODES = GVR("", "v1", "nodes")
EVENTS = GVR("", "v1", "events")
CUSTOM_RESOURCE_DEFINITIONS = GVR("apiextensions.k8s.io", "v1", "customresourcedefinitions")
CLUSTER_ROLES = GVR("rbac.authorization.k8s.io", "v1", "clusterroles")
CLUSTER_ROLE_BINDINGS = GVR("rbac.authorization.k8s.io", "v1", "clusterrolebindings")
USERS = GVR("iam.kubesphere.io", "v1alpha2", "users")
GLOBAL_ROLES = GVR("iam.kubesphere.io", "v1alpha2", "globalroles")
GLOBAL_ROLE_BINDINGS = GVR("iam.kubesphere.io", "v1alpha2", "globalrolebindings")
