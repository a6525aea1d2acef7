"""What the viewer may do, as views, live pages and the gateway know it.

They ask nothing else about permissions. The implementation comes from `rbac` through middleware; a
request or a socket without an `Access` is refused (`require_access`).
"""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity

if TYPE_CHECKING:
    from console.ui.clusters import Cluster


class NoAccess(Exception):
    """Nobody decided what this viewer may do, so nothing is allowed."""


@runtime_checkable
class Access(Protocol):
    """One viewer's rights in one cluster, answered from memory. Each call decides anew: never keep an
    answer, but with the `standing` that it was given under."""

    @property
    def identity(self) -> Identity:
        """Whom writes are made as."""
        ...

    @property
    def cluster(self) -> "Cluster":
        """Where: what these rights are asked about is read there and nowhere else."""
        ...

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        """True if the viewer may do `verb`; an empty namespace means in all of them. Never raises."""
        ...

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        """The namespaces in which the viewer may do `verb`; None means in every one."""
        ...

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        """Single objects to which the viewer may do `verb`, beyond those namespaces.

        They come from rules with `resourceNames`. `Key("", name)` of a namespaced type is the object
        of that name in every namespace. Of namespaces, which no right within one lets anybody list,
        they are those that the viewer may read.
        """
        ...

    def standing(self) -> Hashable:
        """Equal at two moments only if every question has the same answers at both. None: nobody can
        say."""
        ...


@runtime_checkable
class Explaining(Protocol):
    """Rights that can say who could give more of them."""

    def granters(
        self, verb: str, gvr: GVR, *, namespace: str = "", subresource: str = ""
    ) -> Sequence[str]:
        """As `User ann` or `Group ops`; none where the viewer may not see who has which role."""
        ...


@runtime_checkable
class Doubting(Protocol):
    """Rights that know whether the cluster confirms them."""

    def in_doubt(self) -> bool:
        """True while a missing right may be one that nobody can confirm. Never raises."""
        ...


def require_access(value: object) -> Access:
    """The Access, or `NoAccess` for None and for anything that is not one."""
    if isinstance(value, Access):
        return value
    raise NoAccess
