"""The groups of a user, from GroupBindings.

Guarantees:
- `User.spec.groups` is not read. It is written for other programs, and users may be able to
  change their own.
- A binding counts only if its Group exists in the same workspace and neither is being deleted.
  Otherwise a binding could use the name of another workspace's group.
- Names that are reserved by Kubernetes, or that would change in transmission, are ignored
  (`Identity`).
- Unknown memberships grant nothing. While kube-apiserver is unreachable, cached memberships
  count for `STALE_MEMBERSHIPS`; if only the watch of memberships is interrupted, for
  `INTERRUPTION`.

Thread-safe. A lookup takes microseconds.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import GROUP_BINDINGS, GROUPS, USERS, Key
from console.kube.identity import Identity, InvalidIdentity
from console.kube.indexes import indexes_of
from console.kube.informer import Informer
from console.kube.projections import User
from console.kube.projections.tenancy import Group, GroupBinding
from console.kube.runtime import Reads
from console.kube.store import Entry, Store
from rbac.authorizer import is_reserved, is_usable

STALE_MEMBERSHIPS = timedelta(minutes=5)
#: How long a watch may take to reconnect.
INTERRUPTION = timedelta(seconds=10)
#: Resource types that memberships are read from. A process that looks up memberships must watch
#: them.
SOURCES = (GROUPS, GROUP_BINDINGS)


def groups_of(source: Reads, user: str) -> tuple[str, ...]:
    """Return the user's groups, sorted and without duplicates. Never raises."""
    try:
        users, groups, bindings = (source.informer(gvr) for gvr in (USERS, *SOURCES))
    except UnknownKind:
        return ()
    if not (_is_usable(groups, users) and _is_usable(bindings, users)):
        return ()
    found = bindings_of(bindings.store, user)
    return tuple(sorted({name for one in found for name in _granted(groups, one.projection)}))


def identity_of(source: Reads, user: str) -> Identity:
    """Return the identity that the user acts as. Raise `InvalidIdentity`."""
    return Identity(user, groups_of(source, user))


def usable_identity(source: Reads, user: User) -> Identity | None:
    """Return the identity that the user acts as, or None if the user may not sign in."""
    try:
        return identity_of(source, user.name) if is_usable(user) else None
    except InvalidIdentity:
        return None


def are_current(source: Reads) -> bool:
    """Return True if the memberships are loaded and up to date. Check this before you use
    memberships for something that persists.
    """
    try:
        found = [source.informer(gvr).freshness for gvr in SOURCES]
    except UnknownKind:
        return False
    return all(one.synced and one.stale_since is None for one in found)


def bindings_of(store: Store[GroupBinding], user: str) -> tuple[Entry[GroupBinding], ...]:
    """Return the GroupBindings in a store that name the user."""
    return indexes_of(store).by(_users_of).get(user)


def members_of(source: Reads, group: str) -> tuple[str, ...]:
    """Return the users whose groups include `group`, sorted. Their names may not have a User. Raise
    `UnknownKind`. Check `are_current` first.
    """
    groups, bindings = (source.informer(gvr) for gvr in SOURCES)
    found = indexes_of(bindings.store).by(_group_of).get(group)
    names = {
        name
        for entry in found
        for name in entry.projection.users
        if not is_reserved(name) and any(_granted(groups, entry.projection))
    }
    return tuple(sorted(names))


def _group_of(entry: Entry[GroupBinding]) -> tuple[str, ...]:
    return (entry.projection.group,)


def _users_of(entry: Entry[GroupBinding]) -> tuple[str, ...]:
    return entry.projection.users


def is_group_name(name: str) -> bool:
    """Return True if the name is allowed for a user's group."""
    try:
        Identity("somebody", (name,))
    except InvalidIdentity:
        return False
    return True


def is_member_binding(binding: GroupBinding, group: Group) -> bool:
    """Return True if the binding adds members to this group."""
    same = binding.workspace in ("", group.workspace)
    return binding.group == group.name and same and not binding.deleted and not group.deleted


def _granted(groups: Informer[Group], binding: GroupBinding) -> Iterator[str]:
    entry = groups.store.get(Key("", binding.group))
    if (
        entry is not None
        and is_member_binding(binding, entry.projection)
        and is_group_name(binding.group)
    ):
        yield binding.group


def _is_usable(informer: Informer[Any], users: Informer[Any]) -> bool:
    freshness = informer.freshness
    if not freshness.synced:
        return False
    since = freshness.stale_since
    if since is None:
        return True
    # If only this watch is interrupted, writes are still possible, so a former member could
    # continue to write.
    away = users.freshness.stale_since is not None
    return datetime.now(UTC) - since < (STALE_MEMBERSHIPS if away else INTERRUPTION)
