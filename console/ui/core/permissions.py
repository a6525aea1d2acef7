"""Authorization of reads, decided before any lookup.

The decision depends only on the user's permissions and the request, never on existing objects.
Forbidden and missing objects get the same response, and it takes the same time.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from django.utils.functional import Promise

from console.kube.gvr import BUILT_IN_GROUPS, CUSTOM_RESOURCE_DEFINITIONS, GVR, Key, matching_keys
from console.ui.core.access import Access
from console.ui.core.actions import Permission
from console.ui.core.kind import ResourceKind, Scope


class Denied(Exception):
    """The user may not do `verb` on `gvr` or its subresource, in `namespace` or in any namespace if
    that is "".
    """

    def __init__(self, verb: str, gvr: GVR, namespace: str = "", subresource: str = "") -> None:
        self.verb = verb
        self.gvr = gvr
        self.namespace = namespace
        self.subresource = subresource
        what = f"{gvr.qualified}/{subresource}" if subresource else gvr.qualified
        super().__init__(f"{verb} {what} in {namespace or 'any namespace'}")


class Refused(Exception):
    """An operation that the user may do is currently impossible. The message gives the reason."""

    #: HTTP status of the error page.
    page_code: ClassVar[int] = 409


class Protected(Refused):
    """The object is protected from this operation for all users, or for this user, regardless of
    permissions.
    """

    page_code: ClassVar[int] = 403


class NotLoaded(Exception):
    """The required data is not loaded from the cluster yet. The message is shown to the user."""

    text: ClassVar[str | Promise]

    def __str__(self) -> str:
        return str(self.text)


def may_know_kind(access: Access, kind: ResourceKind) -> bool:
    """Return True if the user may know that the cluster has this kind.

    Kubernetes' own types and built-in kinds are public. Any other type is visible to users who
    may list CustomResourceDefinitions or have a permission on the type.
    """
    gvr = kind.gvr
    public = gvr.group in BUILT_IN_GROUPS or access.cluster.kinds.declared.by_type(gvr)
    if public or access.can("list", CUSTOM_RESOURCE_DEFINITIONS):
        return True
    return any(
        access.namespaces_where(verb, gvr) != frozenset() or access.names_where(verb, gvr)
        for verb in ("list", "get", "create")
    )


def denied_for(permission: Permission, gvr: GVR, namespace: str) -> Denied:
    """Return the exception for a user who lacks a permission of an action on this type."""
    where = permission.namespace(namespace)
    return Denied(permission.verb, permission.gvr or gvr, where, permission.subresource)


@dataclass(frozen=True, slots=True)
class Readable:
    """The objects of a kind that the user may see.

    All objects in `namespaces` (None: every namespace), and additionally the single objects in
    `names`, as returned by `Access.names_where`.
    """

    namespaces: frozenset[str] | None
    names: frozenset[Key] = frozenset()

    def includes(self, key: Key) -> bool:
        if self.namespaces is None or key.namespace in self.namespaces:
            return True
        return bool(self.names) and (key in self.names or Key("", key.name) in self.names)

    def may_include(self, namespace: str) -> bool:
        """Return True if the user might see an object in the namespace."""
        if self.namespaces is None or namespace in self.namespaces:
            return True
        return any(key.namespace in ("", namespace) for key in self.names)

    def whole(self, known: Collection[str], wanted: Collection[str] = ()) -> set[str]:
        """Return the namespaces in `known`, and in `wanted` unless that is empty, in which the user
        may see all objects.
        """
        found = {n for n in wanted if n in known} if wanted else set(known)
        return found if self.namespaces is None else found & self.namespaces

    def singles(self, keys: Collection[Key], wanted: Collection[str] = ()) -> list[Key]:
        """Return the keys that are visible only by name, limited to the namespaces `wanted` unless
        that is empty.
        """
        if self.namespaces is None or not self.names:
            return []
        return [
            key
            for key in matching_keys(keys, self.names)
            if key.namespace not in self.namespaces and (not wanted or key.namespace in wanted)
        ]

    @property
    def known_namespaces(self) -> frozenset[str]:
        """The namespaces that the permissions name. Empty for users who may see all namespaces."""
        return (self.namespaces or frozenset()) | {key.namespace for key in self.names} - {""}


def readable(kind: ResourceKind, access: Access, wanted: tuple[str, ...] = ()) -> Readable:
    """Return the objects of this kind that the user may list.

    `wanted` are the requested namespaces. Raise `Denied` if any of them is forbidden, so that a
    list is never silently incomplete.
    """
    namespaces = _namespaces(kind, access)
    if namespaces is None:
        return Readable(None)
    names = access.names_where("list", kind.gvr)
    found = Readable(namespaces, frozenset(key for key in names if key.namespace not in namespaces))
    for namespace in wanted if kind.scope is Scope.NAMESPACED else ():
        if not found.may_include(namespace):
            raise Denied("list", kind.gvr, namespace)
    if not found.namespaces and not found.names:
        raise Denied("list", kind.gvr)
    return found


#: For users who may not see any object.
NOTHING = Readable(frozenset())


def visible(kind: ResourceKind, access: Access) -> Readable:
    """Return the objects of this kind that the user may list, `NOTHING` if there are none."""
    try:
        return readable(kind, access)
    except Denied:
        return NOTHING


def _namespaces(kind: ResourceKind, access: Access) -> frozenset[str] | None:
    if kind.scope is Scope.NAMESPACED:
        return access.namespaces_where("list", kind.gvr)
    return None if access.can("list", kind.gvr) else frozenset()


def check_visible(kind: ResourceKind, access: Access, key: Key) -> None:
    """Raise `Denied` if the user may neither get the object by name nor list it. The result does
    not depend on whether the object exists.
    """
    if access.can("get", kind.gvr, namespace=key.namespace, name=key.name):
        return
    if not readable(kind, access, (key.namespace,)).includes(key):
        raise Denied("list", kind.gvr, key.namespace)


def whole_namespaces(
    kind: ResourceKind, found: Readable, wanted: tuple[str, ...] = ()
) -> frozenset[str] | None:
    """Return the namespaces of `found` in which the user may list, or None for every namespace.

    Permissions on single objects don't count. Raise `Denied` as `readable` does.
    """
    if found.namespaces is None:
        return None
    for namespace in wanted if kind.scope is Scope.NAMESPACED else ():
        if namespace not in found.namespaces:
            raise Denied("list", kind.gvr, namespace)
    if not found.namespaces:
        raise Denied("list", kind.gvr)
    return found.namespaces
