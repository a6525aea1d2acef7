"""Other objects, with the way to them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.columns.texts import TextColumn
from console.ui.links import list_url, object_url
from console.ui.text import visible

_by_kind: dict[str, str] = {}
_cluster_scoped: set[str] = set()
#: The segments of kinds that others name by the kind alone, as owners and scale targets do; whatever is
#: registered later is among them.
BY_KIND: Collection[str] = _by_kind.values()
#: Kinds that nobody can tell beforehand. Rows with such a cell are shared with nobody.
ANYWHERE = ("*",)


class Target(NamedTuple):
    """An object by its kind's segment in URLs; `namespace` is "" for cluster-scoped kinds."""

    segment: str
    namespace: str
    name: str


class Linked(NamedTuple):
    """Where a name leads a viewer: `url` is "" where there is no page for them. `missing`: they may know
    that there is no such object."""

    url: str = ""
    missing: bool = False


@dataclass(frozen=True, slots=True)
class LinkText:
    """As `Linked`."""

    text: str
    url: str
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class LinkColumn(TextColumn):
    """Another object: `get` gives what is shown, `to` the object, None where it has no page; unless
    given, it is the one of no project that is called as is shown. `leads_to`: the segments of all kinds
    that it may be of; where it is of any, `ANYWHERE`. `linked`: where it leads in one row, once that is
    known (`console.ui.linked`)."""

    to: Callable[[Any], Target | None] | None = None
    leads_to: Collection[str]
    linked: Linked = Linked()
    template: ClassVar[str] = "ui/cells/link.html"

    def target(self, entry: Entry[Any]) -> Target | None:
        if self.to is None:
            [segment], name = self.leads_to, self.get(entry.projection)
            return Target(segment, "", name) if name else None
        found = self.to(entry.projection)
        # Of any other kind nobody has compared the rights of those who share the row.
        known = found is not None and (self.leads_to == ANYWHERE or found.segment in self.leads_to)
        return found if known else None

    def value(self, entry: Entry[Any]) -> LinkText:
        return LinkText(visible(self.get(entry.projection)), *self.linked)


def target_url(cluster: str, target: Target) -> str:
    """The object's page in the cluster of this name, or the list where the target has no name; "" for
    what cannot be the name of an object, whoever wrote it."""
    if "/" in target.name or "/" in target.namespace:
        return ""
    if not target.name:
        return list_url(cluster, target.segment, target.namespace)
    return object_url(cluster, target.segment, Key(target.namespace, target.name))


def find_by_kind(word: str, segment: str, *, namespaced: bool) -> None:
    """`Kind/name` with this word leads to objects of this kind from now on."""
    _by_kind[word] = segment
    if not namespaced:
        _cluster_scoped.add(word)


def target_of(reference: str, namespace: str) -> Target | None:
    """The object of a `Kind/name` in a namespace; None for kinds that have no list here."""
    kind, _slash, name = reference.partition("/")
    segment = _by_kind.get(kind)
    if segment is None or not name:
        return None
    return Target(segment, "" if kind in _cluster_scoped else namespace, name)


@dataclass(frozen=True, kw_only=True)
class OwnerColumn(LinkColumn):
    """What controls the object, as `Kind/name` in the projection's `owner`."""

    id: str = "owner"
    label: str | Promise = _("Managed by")
    priority: int = 4
    leads_to: Collection[str] = BY_KIND
    to: Callable[[Any], Target | None] | None = lambda item: target_of(item.owner, item.namespace)
