"""Cache keys for a viewer's permissions to one kind."""

from collections.abc import Hashable, Iterator

from console.kube.gvr import GVR
from console.ui.access import Access
from console.ui.decisions import Denied, readable
from console.ui.kind import ResourceKind
from console.ui.linked import has_dynamic_links, linked_types


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
    """Like `permissions_key`, for one object that the viewer can see (`check_seen`) but may not be able
    to list.
    """
    try:
        return permissions_key(kind, access)
    except Denied:
        return tuple(_parts(kind, access))


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
