"""A viewer's rights to one kind, as something that can be compared."""

from collections.abc import Hashable, Iterator

from console.kube.gvr import GVR
from console.ui.access import Access
from console.ui.decisions import Denied, readable
from console.ui.kind import ResourceKind
from console.ui.linked import leads_anywhere, linked_types


def rights_key(kind: ResourceKind, access: Access, wanted: tuple[str, ...] = ()) -> Hashable:
    """Equal for two viewers only if they may see and do the same to objects of the kind.

    Decided anew at each call. Raises `Denied` as `readable` does.
    """
    return (readable(kind, access, wanted), *_parts(kind, access))


def listable(gvr: GVR, access: Access) -> Hashable:
    """What of a type the viewer may list."""
    return access.namespaces_where("list", gvr), access.names_where("list", gvr)


def detail_rights_key(kind: ResourceKind, access: Access) -> Hashable:
    """The same for one object that both may see (`check_seen`), whether or not they may list its like."""
    try:
        return rights_key(kind, access)
    except Denied:
        return tuple(_parts(kind, access))


def _parts(kind: ResourceKind, access: Access) -> Iterator[Hashable]:
    for gvr in linked_types(kind):
        yield listable(gvr, access)
    if leads_anywhere(kind):
        yield access.identity.name
    for asked in sorted(kind.asked):
        yield access.namespaces_where(*asked)
        yield access.names_where(*asked)
    if not kind.view.namespaced:
        yield kind.creatable(access)
    if any(action.per_viewer for action in kind.every_action):
        yield access.identity.name
