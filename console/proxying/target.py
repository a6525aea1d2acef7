"""A port of a pod or service, addressed through kube-apiserver's proxy subresource.

https://kubernetes.io/docs/tasks/access-application-cluster/access-cluster-services/#manually-constructing-apiserver-proxy-urls
"""

from collections.abc import Mapping
from dataclasses import dataclass

from console.kube.gvr import GVR, PODS, SERVICES, Key
from console.ui.core.access import Access
from console.ui.core.actions import Permission
from console.ui.details.panels.ports import HTTP
from console.views.authorization import check_permission

SUBRESOURCE = "proxy"
#: RBAC verb for each HTTP method. Other methods are not forwarded.
#: https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
VERBS: Mapping[str, str] = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
TYPES: Mapping[str, GVR] = {gvr.resource: gvr for gvr in (PODS, SERVICES)}


@dataclass(frozen=True, slots=True)
class ProxyTarget:
    gvr: GVR
    key: Key
    port: int
    scheme: str = HTTP

    @property
    def resource_name(self) -> Key:
        """The name that `resourceNames` in a role must match: `name:port`, or `https:name:port`."""
        scheme = "" if self.scheme == HTTP else f"{self.scheme}:"
        return Key(self.key.namespace, f"{scheme}{self.key.name}:{self.port}")

    @property
    def path(self) -> str:
        """Path of the proxy subresource, without a trailing slash. Raise `NotFound` for an invalid
        name.
        """
        path = self.gvr.path(self.resource_name.namespace, self.resource_name.name, SUBRESOURCE)
        return path.replace("%3A", ":")

    def may(self, access: Access, method: str = "GET") -> bool:
        return right_to(method).granted(access, self.gvr, self.resource_name)

    def check(self, access: Access, method: str = "GET") -> None:
        """Raise `Denied` or `PermissionsUnconfirmed` if the user may not send such requests."""
        check_permission(right_to(method), access, self.gvr, self.resource_name)


def right_to(method: str) -> Permission:
    return Permission(VERBS[method], SUBRESOURCE)
