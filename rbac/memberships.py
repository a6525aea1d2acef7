"""The groups of a user, from GroupBindings.

Promises:
- `User.spec.groups` is not read: it is written for other readers, and users could change their own.
- A binding counts if the Group that it names is there and of the same workspace, and neither is on its
  way out: else a binding could lend the name of somebody else's group.
- Names that are Kubernetes' own or that would change on the wire are no groups (`Identity`).
- What is not known grants nothing. While kube-apiserver is away what was known counts for
  `STALE_MEMBERSHIPS`; when memberships alone are not followed, for `INTERRUPTION`.

Any thread may ask; an answer takes microseconds.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import GROUP_BINDINGS, GROUPS, USERS, Key
from console.kube.identity import Identity, InvalidIdentity
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.projections.tenancy import Group, GroupBinding
from console.kube.runtime import Reads
from console.kube.store import Entry, Store

STALE_MEMBERSHIPS = timedelta(minutes=5)
#: How long a watch may take to begin anew.
INTERRUPTION = timedelta(seconds=10)
#: What the answers come from, and what a process that answers must follow.
SOURCES = (GROUPS, GROUP_BINDINGS)


def groups_of(source: Reads, user: str) -> tuple[str, ...]:
    """Sorted, each once. Never raises."""
    try:
        users, groups, bindings = (source.informer(gvr) for gvr in (USERS, *SOURCES))
    except UnknownKind:
        return ()
    if not (_counts(groups, users) and _counts(bindings, users)):
        return ()
    found = bindings_of(bindings.store, user)
    return tuple(sorted({name for one in found for name in _granted(groups, one.projection)}))


def identity_of(source: Reads, user: str) -> Identity:
    """As whom a user acts. Raises `InvalidIdentity`."""
    return Identity(user, groups_of(source, user))


def are_known(source: Reads) -> bool:
    """True if who is in which group is known as of now: for whatever is made of it and lasts."""
    try:
        found = [source.informer(gvr).freshness for gvr in SOURCES]
    except UnknownKind:
        return False
    return all(one.synced and one.stale_since is None for one in found)


def bindings_of(store: Store[GroupBinding], user: str) -> tuple[Entry[GroupBinding], ...]:
    """The GroupBindings of a store that name the user."""
    return indexes_of(store).by(_users_of).get(user)


def _users_of(entry: Entry[GroupBinding]) -> tuple[str, ...]:
    return entry.projection.users


def is_group_name(name: str) -> bool:
    """True for what may be somebody's group."""
    try:
        Identity("somebody", (name,))
    except InvalidIdentity:
        return False
    return True


def is_of(binding: GroupBinding, group: Group) -> bool:
    """True if the binding makes people members of this group."""
    same = binding.workspace in ("", group.workspace)
    return binding.group == group.name and same and not binding.deleted and not group.deleted


def _granted(groups: Informer[Group], binding: GroupBinding) -> Iterator[str]:
    entry = groups.store.get(Key("", binding.group))
    if entry is not None and is_of(binding, entry.projection) and is_group_name(binding.group):
        yield binding.group


def _counts(informer: Informer[Any], users: Informer[Any]) -> bool:
    freshness = informer.freshness
    if not freshness.synced:
        return False
    since = freshness.stale_since
    if since is None:
        return True
    # Nothing is written while nothing can be followed; else somebody who left would go on writing.
    away = users.freshness.stale_since is not None
    return datetime.now(UTC) - since < (STALE_MEMBERSHIPS if away else INTERRUPTION)
