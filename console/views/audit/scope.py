"""Which records a page of the audit trail shows.

A viewer sees the records of a place in which the viewer may list every type: a project, a cluster,
or the platform. Workspaces, which are no Kubernetes objects, have their own permission
(`workspaces.pages.audit`).
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.urls import reverse

from console.audit.trail import CONTROLLER
from console.kube.gvr import NAMESPACES, USERS, Key
from console.kube.store import Entry
from console.ui.core.access import EVERYTHING, Access
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.permissions import Denied
from console.ui.navigation.projects import host_access

#: Ranges that a scope starts with; see `console.views.audit.request.RANGES`.
DEFAULT_RANGE, OBJECT_RANGE = "3d", "30d"


@dataclass(frozen=True, slots=True)
class AuditScope:
    """The records that a page shows: those that match `condition`.

    `url` is the URL of the page. `default_range` and `default_text` are used without `?range=` and
    `?q=`. `hidden` are fields that have one value in the scope.
    """

    condition: Q
    url: str
    default_range: str = DEFAULT_RANGE
    default_text: str = f"-via:{CONTROLLER}"
    hidden: frozenset[str] = frozenset()


def may_see_records(access: Access, namespace: str = "") -> bool:
    """Return True if the viewer may see the records of the namespace, or of the whole cluster if it
    is "".
    """
    return access.can("list", EVERYTHING, namespace=namespace)


def check_records(access: Access, namespace: str = "") -> None:
    """Raise `Denied` unless the viewer may see the records."""
    if not may_see_records(access, namespace):
        raise Denied("list", EVERYTHING, namespace)


def since(entry: Entry[Any] | None) -> Q:
    """Return the condition of records since a project or workspace exists: an earlier one of its name
    may have belonged to others. If it is unknown, no record fulfills the condition.
    """
    created = entry.projection.created if entry is not None else None
    return Q(time__gte=created) if created is not None else Q(pk__in=())


def own_records(access: Access, namespace: str) -> Q:
    """Return the condition of the records that the viewer may see in a namespace, or in the cluster
    if it is "".
    """
    if not namespace or may_see_records(access):
        return Q()
    return since(access.cluster.runtime.informer(NAMESPACES).store.get(Key("", namespace)))


def access_in(access: Access, cluster: Cluster) -> Access:
    """Return the viewer's access in this cluster."""
    return access if access.cluster is cluster else cluster.access_for(access.identity)


def platform_scope(access: Access) -> AuditScope:
    """Return the scope of the platform: all clusters whose records the viewer may see. Raise
    `Denied`.
    """
    check_records(host_access(access))
    hidden = [one.name for one in clusters if not may_see_records(access_in(access, one))]
    # Excluded rather than included, so that the index on the time is used.
    return AuditScope(~Q(cluster__in=hidden) if hidden else Q(), reverse("audit"))


def project_scope(access: Access, namespace: str) -> AuditScope:
    """Return the scope of a project. Raise `Denied`."""
    check_records(access, namespace)
    cluster = access.cluster.name
    url = reverse("project_audit", args=(cluster, namespace))
    condition = Q(cluster=cluster, namespace=namespace) & own_records(access, namespace)
    return AuditScope(condition, url, hidden=frozenset({"cluster", "project"}))


def object_scope(access: Access, kind: ResourceKind, key: Key, url: str) -> AuditScope:
    """Return the scope of an object, including earlier objects of its name. For a User, these are
    the user's own actions as well. Raise `Denied`.
    """
    check_records(access, key.namespace)
    gvr, cluster = kind.gvr, access.cluster.name
    place = {"group": gvr.group, "resource": gvr.resource, "namespace": key.namespace}
    condition = Q(cluster=cluster, name=key.name, **place) & own_records(access, key.namespace)
    if gvr == USERS:
        condition |= Q(actor=key.name)
    hidden = frozenset({"cluster", "project", "kind", "name"})
    return AuditScope(condition, url, OBJECT_RANGE, "", hidden)
