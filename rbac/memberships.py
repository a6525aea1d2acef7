"""Which groups a user is in: what GroupBindings say, of Groups that there are.

`User.spec.groups` is not asked: users may change their own objects, and whoever changes a GroupBinding
is somebody who may give rights. Names of Kubernetes' own are never among them (see `Identity`).
"""

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from console.kube.factory import UnknownKind
from console.kube.gvr import GROUP_BINDINGS, GROUPS, Key
from console.kube.identity import Identity, InvalidIdentity
from console.kube.indexes import Index
from console.kube.projections.tenancy import GroupBinding
from console.kube.runtime import Reads
from console.kube.store import Entry, Store

_indexes: "WeakKeyDictionary[Store[GroupBinding], Index[GroupBinding]]" = WeakKeyDictionary()


def groups_of(source: Reads, user: str) -> tuple[str, ...]:
    """Sorted. None of them while the bindings or the groups have not arrived: no proof is a no."""
    try:
        bindings, groups = source.informer(GROUP_BINDINGS), source.informer(GROUPS)
    except UnknownKind:
        return ()
    if not (bindings.freshness.synced and groups.freshness.synced):
        return ()
    index = _indexes.get(bindings.store)
    if index is None:
        index = _indexes.setdefault(bindings.store, Index(bindings.store, _users_of))
    found = {entry.projection.group for entry in index.get(user) if not entry.projection.deleted}
    return tuple(name for name in sorted(found) if _exists(groups.store.get(Key("", name)), name))


def identity_of(source: Reads, user: str) -> Identity:
    """As whom a user acts. Raises `InvalidIdentity`."""
    return Identity(user, groups_of(source, user))


def _users_of(entry: Entry[GroupBinding]) -> Iterable[str]:
    return entry.projection.users


def _exists(group: Entry[Any] | None, name: str) -> bool:
    try:
        Identity("anybody", (name,))
    except InvalidIdentity:
        return False
    return group is not None
