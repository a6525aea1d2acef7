"""Who may see what, decided before anything is looked up.

A refusal depends on the viewer's rights and on what was asked alone, never on what exists: forbidden
and missing objects give the same answer at the same cost.
"""

from dataclasses import dataclass
from typing import ClassVar

from django.utils.functional import Promise

from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS, GVR, Key
from console.ui.access import Access
from console.ui.actions import Permission
from console.ui.kind import ResourceKind, Scope


class Denied(Exception):
    """The viewer may not do `verb` to `gvr`, or to a subresource of it: in `namespace`, or anywhere if
    that is ""."""

    def __init__(self, verb: str, gvr: GVR, namespace: str = "", subresource: str = "") -> None:
        self.verb = verb
        self.gvr = gvr
        self.namespace = namespace
        self.subresource = subresource
        what = f"{gvr.qualified}/{subresource}" if subresource else gvr.qualified
        super().__init__(f"{verb} {what} in {namespace or 'any namespace'}")


class Refused(Exception):
    """What somebody may do cannot be done as things are. The text says why."""

    #: The HTTP status of a page that tells of it.
    page_code: ClassVar[int] = 409


class Exempt(Refused):
    """Nobody does this to the object, or not this viewer, whatever their rights."""

    page_code: ClassVar[int] = 403


class NotArrived(Exception):
    """What is needed has not arrived from the cluster yet. Its text says so to people."""

    text: ClassVar[str | Promise]

    def __str__(self) -> str:
        return str(self.text)


def knows(access: Access, kind: ResourceKind) -> bool:
    """Whether the viewer may know that the cluster has this kind. What the console declares everybody
    knows; a custom resource, whoever may list definitions or has a right to it."""
    gvr = kind.gvr
    if access.cluster.kinds.declared.of(gvr) or access.can("list", CUSTOM_RESOURCE_DEFINITIONS):
        return True
    return any(
        access.namespaces_where(verb, gvr) != frozenset() or access.names_where(verb, gvr)
        for verb in ("list", "get", "create")
    )


def lacking(permission: Permission, gvr: GVR, namespace: str) -> Denied:
    """For whoever lacks what an action on an object of this type needs."""
    where = permission.namespace(namespace)
    return Denied(permission.verb, permission.gvr or gvr, where, permission.subresource)


@dataclass(frozen=True, slots=True)
class Readable:
    """Which objects of a kind the viewer may see: all of these namespaces (None: of every one), and
    beyond those the single ones of `names`, as `Access.names_where` has them."""

    namespaces: frozenset[str] | None
    names: frozenset[Key] = frozenset()

    def sees(self, key: Key) -> bool:
        if self.namespaces is None or key.namespace in self.namespaces:
            return True
        return bool(self.names) and (key in self.names or Key("", key.name) in self.names)

    def reaches(self, namespace: str) -> bool:
        """True if the viewer might see something there."""
        if self.namespaces is None or namespace in self.namespaces:
            return True
        return any(key.namespace in ("", namespace) for key in self.names)

    @property
    def reached(self) -> frozenset[str]:
        """The namespaces that are known from the rights themselves: none for whoever sees all."""
        return (self.namespaces or frozenset()) | {key.namespace for key in self.names} - {""}


def readable(kind: ResourceKind, access: Access, wanted: tuple[str, ...] = ()) -> Readable:
    """Which objects of this kind the viewer may list.

    `wanted` are the namespaces that were asked for; one that is not allowed refuses the whole, so that
    a list never silently lacks what its address names. Raises `Denied`.
    """
    namespaces = _namespaces(kind, access)
    if namespaces is None:
        return Readable(None)
    names = access.names_where("list", kind.gvr)
    found = Readable(namespaces, frozenset(key for key in names if key.namespace not in namespaces))
    for namespace in wanted if kind.scope is Scope.NAMESPACED else ():
        if not found.reaches(namespace):
            raise Denied("list", kind.gvr, namespace)
    if not found.namespaces and not found.names:
        raise Denied("list", kind.gvr)
    return found


def _namespaces(kind: ResourceKind, access: Access) -> frozenset[str] | None:
    if kind.scope is Scope.NAMESPACED:
        return access.namespaces_where("list", kind.gvr)
    return None if access.can("list", kind.gvr) else frozenset()


def check_seen(kind: ResourceKind, access: Access, key: Key) -> None:
    """Raises `Denied` for whoever may not see the object: neither read it by its name nor list it.
    Whether there is one plays no part."""
    if access.can("get", kind.gvr, namespace=key.namespace, name=key.name):
        return
    if not readable(kind, access, (key.namespace,)).sees(key):
        raise Denied("list", kind.gvr, key.namespace)


def whole_namespaces(
    kind: ResourceKind, found: Readable, wanted: tuple[str, ...] = ()
) -> frozenset[str] | None:
    """The namespaces of `found` alone: a right to single objects is none to list. None: every one. Raises
    `Denied` as `readable` does."""
    if found.namespaces is None:
        return None
    for namespace in wanted if kind.scope is Scope.NAMESPACED else ():
        if namespace not in found.namespaces:
            raise Denied("list", kind.gvr, namespace)
    if not found.namespaces:
        raise Denied("list", kind.gvr)
    return found.namespaces
