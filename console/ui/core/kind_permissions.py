"""Permissions to one kind: cache keys that viewers with equal permissions share, and access
restricted to declared permissions.
"""

from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind
from console.ui.core.link_resolver import has_dynamic_links, linked_types
from console.ui.core.permissions import readable, visible


def permissions_key(kind: ResourceKind, access: Access, wanted: tuple[str, ...] = ()) -> Hashable:
    """Return a value that is equal for two viewers only if they have the same access to objects of
    the kind.

    The permissions are checked on each call. Raise `Denied` like `readable`.
    """
    return (readable(kind, access, wanted), *_parts(kind, access))


def listable_key(gvr: GVR, access: Access) -> Hashable:
    """Return the namespaces and names of a type that the viewer can list."""
    return access.namespaces_where("list", gvr), access.names_where("list", gvr)


def detail_permissions_key(kind: ResourceKind, access: Access) -> Hashable:
    """Like `permissions_key`, for one object that the viewer can see (`check_visible`) but may not
    be able to list.
    """
    return (visible(kind, access), *_parts(kind, access))


def _parts(kind: ResourceKind, access: Access) -> Iterator[Hashable]:
    for gvr in linked_types(kind):
        yield listable_key(gvr, access)
    if has_dynamic_links(kind):
        yield access.identity.name
    for asked in sorted(kind.checked_permissions):
        yield access.namespaces_where(*asked)
        yield access.names_where(*asked)
    if not kind.view.namespaced:
        yield kind.creatable(access)
    if any(action.per_user for action in kind.every_action):
        yield access.identity.name


@dataclass(frozen=True, slots=True)
class RestrictedAccess:
    """Access limited to declared permissions.

    On `kind`: the permissions that its list and its actions check. On the types in `needs`: the
    permission to list. A kind that can link to any type is never shared between users, so it may
    check list permissions on every type.
    """

    access: Access
    kind: ResourceKind
    needs: Collection[GVR]

    @property
    def identity(self) -> Identity:
        return self.access.identity

    @property
    def cluster(self) -> Cluster:
        return self.access.cluster

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        if not self._declared(verb, gvr, subresource):
            return False
        return self.access.can(verb, gvr, namespace=namespace, name=name, subresource=subresource)

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        if not self._declared(verb, gvr, subresource):
            return frozenset()
        return self.access.namespaces_where(verb, gvr, subresource)

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        if not self._declared(verb, gvr, subresource):
            return frozenset()
        return self.access.names_where(verb, gvr, subresource)

    def rights_version(self) -> None:
        """Return None: the results for one panel are not cached."""

    def _declared(self, verb: str, gvr: GVR, subresource: str) -> bool:
        if (verb, gvr, subresource) in self.kind.checked_permissions:
            return True
        listed = verb == "list" and not subresource
        return listed and (gvr in self.needs or has_dynamic_links(self.kind))
