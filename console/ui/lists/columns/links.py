"""Columns with links to other objects."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.core.links import list_url, object_url
from console.ui.core.text import escape_invisible
from console.ui.lists.columns.texts import TextColumn

_by_kind: dict[str, str] = {}
_cluster_scoped: set[str] = set()
#: Segments of kinds that are referenced by `Kind/name`, as in owner references and scale targets.
#: This is a live view, which includes kinds that are registered later.
BY_KIND: Collection[str] = _by_kind.values()
#: Marks columns that may link to any kind. Rows with such a cell are not shared between users.
ANY_KIND = ("*",)


class LinkTarget(NamedTuple):
    """Reference to an object by the URL segment of its kind. `namespace` is "" for cluster-scoped
    kinds.
    """

    segment: str
    namespace: str
    name: str


class ResolvedLink(NamedTuple):
    """The link of a name for one user.

    `url` is "" if no page is available to the user. `missing` is True if the object does not
    exist and the user may know that.
    """

    url: str = ""
    missing: bool = False


@dataclass(frozen=True, slots=True)
class LinkText:
    """The text and link of a cell. See `ResolvedLink` for `url` and `missing`."""

    text: str
    url: str
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class LinkColumn(TextColumn):
    """A reference to another object.

    - `get`: returns the text.
    - `to`: returns the object, or None if it has no page. The default is the cluster-scoped
      object named like the text.
    - `leads_to`: segments of all possible kinds, or `ANY_KIND`.
    - `linked`: the resolved link of one row, see `console.ui.core.link_resolver`.
    """

    to: Callable[[Any], LinkTarget | None] | None = None
    leads_to: Collection[str]
    linked: ResolvedLink = ResolvedLink()
    template: ClassVar[str] = "ui/cells/link.html"

    def target(self, entry: Entry[Any]) -> LinkTarget | None:
        if self.to is None:
            [segment], name = self.leads_to, self.get(entry.projection)
            return LinkTarget(segment, "", name) if name else None
        found = self.to(entry.projection)
        # Permissions on undeclared kinds were not compared between the users who share the row.
        known = found is not None and (self.leads_to == ANY_KIND or found.segment in self.leads_to)
        return found if known else None

    def value(self, entry: Entry[Any]) -> LinkText:
        return LinkText(escape_invisible(self.get(entry.projection)), *self.linked)


def target_url(cluster: str, target: LinkTarget) -> str:
    """Return the URL of the object's page, or of the list if the target has no name. Return "" for
    an invalid object name, which untrusted data may contain.
    """
    if "/" in target.name or "/" in target.namespace:
        return ""
    if not target.name:
        return list_url(cluster, target.segment, target.namespace)
    return object_url(cluster, target.segment, Key(target.namespace, target.name))


def register_kind(word: str, segment: str, *, namespaced: bool) -> None:
    """Register the segment for references such as `Kind/name`."""
    _by_kind[word] = segment
    if not namespaced:
        _cluster_scoped.add(word)


def target_of(reference: str, namespace: str) -> LinkTarget | None:
    """Return the object of a `Kind/name` reference in a namespace, or None if the kind is not
    registered.
    """
    kind, _slash, name = reference.partition("/")
    segment = _by_kind.get(kind)
    if segment is None or not name:
        return None
    return LinkTarget(segment, "" if kind in _cluster_scoped else namespace, name)


@dataclass(frozen=True, kw_only=True)
class OwnerColumn(LinkColumn):
    """The controller of the object, from the projection's `owner` (`Kind/name`)."""

    id: str = "owner"
    label: str | Promise = _("Managed by")
    priority: int = 4
    leads_to: Collection[str] = BY_KIND
    to: Callable[[Any], LinkTarget | None] | None = lambda item: target_of(
        item.owner, item.namespace
    )
