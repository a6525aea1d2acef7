"""The permission interface used by views, live pages and the websocket gateway, and permissions
that apply to the whole cluster.

`rbac` implements `Access`, and middleware attaches the implementation to each request. A
request or websocket without an `Access` is rejected (`require_access`).
"""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity

if TYPE_CHECKING:
    from console.ui.core.clusters import Cluster


class NoAccess(Exception):
    """The request has no `Access`, so it is rejected."""


@runtime_checkable
class Access(Protocol):
    """The permissions of one user in one cluster, answered from memory.

    Every call evaluates the current permissions. Don't store a result except together with the
    `rights_version` value it was computed under.
    """

    @property
    def identity(self) -> Identity:
        """The identity that write requests are sent with."""
        ...

    @property
    def cluster(self) -> "Cluster":
        """The cluster that these permissions apply to. Reads that depend on them must use this
        cluster.
        """
        ...

    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        """Return True if the user may do `verb`. An empty namespace means all namespaces. Never
        raises.
        """
        ...

    def namespaces_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[str] | None:
        """Return the namespaces in which the user may do `verb`, or None for all namespaces."""
        ...

    def names_where(self, verb: str, gvr: GVR, subresource: str = "") -> frozenset[Key]:
        """Return the single objects on which the user may do `verb`, in addition to
        `namespaces_where`.

        They come from rules with `resourceNames`. For a namespaced type, `Key("", name)` is the
        object with that name in every namespace. For namespaces, return the namespaces that the
        user may read, because no permission within a namespace allows listing namespaces.
        """
        ...

    def rights_version(self) -> Hashable:
        """Return a value that is equal at two points in time only if all permissions are equal.
        Return None if they can't be compared.
        """
        ...


@runtime_checkable
class GrantersAccess(Protocol):
    """Permissions that can name the users and groups who could grant more permissions."""

    def granters(
        self, verb: str, gvr: GVR, *, namespace: str = "", subresource: str = ""
    ) -> Sequence[str]:
        """Return subjects such as `User ann` or `Group ops`. Empty if the user may not see role
        bindings.
        """
        ...


@runtime_checkable
class ConfirmableAccess(Protocol):
    """Permissions that know whether the cluster has confirmed them."""

    def permissions_stale(self) -> bool:
        """Return True while a missing permission might be due to unconfirmed data. Never raises."""
        ...


def require_access(value: object) -> Access:
    """Return `value` if it is an `Access`. Raise `NoAccess` otherwise, also for None."""
    if isinstance(value, Access):
        return value
    raise NoAccess


#: All types of all API groups, as a wildcard. Rules that list individual types do not match it.
EVERYTHING = GVR("*", "*", "*")


def may_change_everything(access: Access) -> bool:
    """Return True if the viewer can change all objects. A permission restricted by resource name
    does not count.
    """
    return access.namespaces_where("*", EVERYTHING) is None


def may_list_everything(access: Access) -> bool:
    return access.can("list", EVERYTHING)
