"""List columns, one class per presentation.

A column is declared once per kind and used for the table cell (`value`, rendered by `template`),
for sorting (`sort_key`) and for exports (`plain`).

| Column | for |
|---|---|
| `NameColumn`, `NamespaceColumn`, `StatusColumn`, `AgeColumn` | most kinds |
| `TextColumn`, `WordColumn`, `BoolColumn`, `ListColumn` | texts, API terms, yes/no, several texts |
| `NumberColumn`, `RatioColumn`, `QuantityColumn`, `PercentColumn` | counts, 2/3, 250m and 4Gi, 61 % |
| `DurationColumn`, `ElapsedColumn`, `AgeColumn` with another `since` | durations, points in time |
| `IpColumn`, `LinkColumn`, `OwnerColumn` | addresses, links to other objects |
| `UsageColumn` | measured CPU and memory usage |
| `PrintedColumn` | printer columns of custom resources |
| `ContainersColumn`, `ImagesColumn`, `SelectorColumn` | workloads |
"""

import socket
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple

from django.utils.functional import Promise, lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext, pgettext_lazy

from console.kube.group_kind import without_group
from console.kube.gvr import Key
from console.kube.metrics_server import ResourceUsage
from console.kube.projections.custom import Value
from console.kube.projections.definition import PrinterColumn
from console.kube.quantity import parse_quantity
from console.kube.status import Status
from console.kube.store import Entry
from console.ui.core.amounts import bytes_text, cores_text, number_text, seconds_text
from console.ui.core.links import list_url, object_url
from console.ui.core.manifests import mapping, text
from console.ui.core.text import SplitName, escape_invisible, split_name
from console.ui.core.words import reason_text, translate
from console.ui.usage.gauges import usage_severity

Align = Literal["start", "end"]
Plain = str | int | None
SortKey = Callable[[Entry[Any]], Any]


def by_id(projection: Any) -> Any:
    """Default for `get`, replaced by the attribute named like the column's `id`."""
    raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Column(ABC):
    """A list column.

    - `id`: name in URLs and exports.
    - `priority`: columns with 1 are always visible, and those with 4 are hidden first on small
      screens.
    - `sortable`: `sort_key` returns comparable values. Ties are sorted by name. Missing values
      come last in ascending order.
    - `get` (most columns): returns the value from the projection. The default is the attribute
      named `id`.
    """

    id: str
    label: str | Promise
    priority: int = 2
    align: Align = "start"
    sortable: bool = True
    template: ClassVar[str] = "ui/cells/text.html"

    def __post_init__(self) -> None:
        if getattr(self, "get", None) is by_id:
            object.__setattr__(self, "get", attrgetter(self.id))

    @abstractmethod
    def value(self, entry: Entry[Any]) -> object:
        """Return the value for the template. Words in it are translated when rendered."""

    @abstractmethod
    def plain(self, entry: Entry[Any]) -> Plain:
        """Return the exported value: never translated, None if missing."""

    def sort_key(self, entry: Entry[Any]) -> Any:
        return self.plain(entry)

    def shrinks(self, value: Any) -> bool:
        """Return True if a narrow list may cut this `value` with an ellipsis. Other values are
        always complete.
        """
        return False


YES, NO = pgettext_lazy("answer", "Yes"), pgettext_lazy("answer", "No")


@dataclass(frozen=True, kw_only=True)
class TextColumn(Column):
    """A short text. If `order` is set, it returns the sort key."""

    get: Callable[[Any], str] = by_id
    order: Callable[[Any], Any] | None = None

    def value(self, entry: Entry[Any]) -> object:
        return escape_invisible(self.get(entry.projection))

    def plain(self, entry: Entry[Any]) -> str:
        return self.get(entry.projection)

    def sort_key(self, entry: Entry[Any]) -> Any:
        if self.order is not None:
            return self.order(entry.projection)
        text = self.get(entry.projection)
        return (not text, text)

    def shrinks(self, value: Any) -> bool:
        return bool(value) and self.align == "start"


@dataclass(frozen=True, kw_only=True)
class AnnotationColumn(TextColumn):
    """The annotation `key`, which is read from the whole object because projections have no
    annotations.
    """

    key: str

    def value(self, entry: Entry[Any]) -> str:
        return text(self.plain(entry))

    def plain(self, entry: Entry[Any]) -> str:
        try:
            found = mapping(entry.original(), "metadata", "annotations").get(self.key)
        except RecursionError:
            return ""
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, kw_only=True)
class WordColumn(TextColumn):
    """A Kubernetes term ("ClusterIP", "Delete"), displayed with its translation from `words` if
    available.

    Sorted and exported untranslated.
    """

    words: dict[str, str | Promise]

    def value(self, entry: Entry[Any]) -> str | Promise:
        word = self.get(entry.projection)
        return self.words.get(word) or escape_invisible(word)

    def shrinks(self, value: Any) -> bool:
        return False


@dataclass(frozen=True, kw_only=True)
class BoolColumn(Column):
    """Yes or no, or a dash for None. Exported as `true` and `false`. No is sorted before yes."""

    get: Callable[[Any], bool | None] = by_id

    def value(self, entry: Entry[Any]) -> str | Promise:
        found = self.get(entry.projection)
        if found is None:
            return ""
        return YES if found else NO

    def plain(self, entry: Entry[Any]) -> str | None:
        found = self.get(entry.projection)
        return None if found is None else str(found).lower()

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, bool]:
        found = self.get(entry.projection)
        return (found is None, bool(found))


@dataclass(frozen=True, slots=True)
class ListText:
    """`shown` contains the first texts, `more` is the number of others, and `all` contains all
    texts.
    """

    shown: str
    more: int
    all: str


@dataclass(frozen=True, kw_only=True)
class ListColumn(Column):
    """Several texts. The first `most` are displayed, and the others are counted ("+2").

    Exported completely, separated by commas. Sorted by the texts in order; empty lists come
    last.
    """

    get: Callable[[Any], Sequence[str]] = by_id
    most: int = 1
    template: ClassVar[str] = "ui/cells/list.html"

    def value(self, entry: Entry[Any]) -> ListText:
        texts = [escape_invisible(text) for text in self.get(entry.projection)]
        more = len(texts) - self.most
        return ListText(", ".join(texts[: self.most]), max(0, more), ", ".join(texts))

    def plain(self, entry: Entry[Any]) -> str:
        return ", ".join(self.get(entry.projection))

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, tuple[str, ...]]:
        texts = tuple(self.get(entry.projection))
        return (not texts, texts)

    def shrinks(self, value: ListText) -> bool:
        return bool(value.shown)


def ip_order(address: str) -> tuple[int, bytes, str]:
    """Return the sort key: IPv4 addresses by number, then IPv6, then invalid addresses, then empty
    texts.
    """
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            return family, socket.inet_pton(family, address), ""
        except (OSError, ValueError):
            continue
    return sys.maxsize - bool(address), b"", address


#: Length of the longest address, in characters (IPv6 with an embedded IPv4 address).
_LONGEST_ADDRESS = 45


class IpColumn(TextColumn):
    """An IP address, sorted numerically. A field may contain another text."""

    def sort_key(self, entry: Entry[Any]) -> tuple[int, bytes, str]:
        return ip_order(self.get(entry.projection))

    def shrinks(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) > _LONGEST_ADDRESS


@dataclass(frozen=True, kw_only=True)
class ContainersColumn(ListColumn):
    """Container names from the projection's `containers`."""

    id: str = "containers"
    label: str | Promise = _("Containers")
    priority: int = 4


@dataclass(frozen=True, kw_only=True)
class ImagesColumn(ListColumn):
    id: str = "images"
    label: str | Promise = _("Images")
    priority: int = 3


@dataclass(frozen=True, kw_only=True)
class SelectorColumn(TextColumn):
    """Label selector from the projection's `selector`, in Kubernetes syntax."""

    id: str = "selector"
    label: str | Promise = _("Selector")
    priority: int = 4


@dataclass(frozen=True, kw_only=True)
class PrintedColumn(Column):
    """The value of a printer column, at index `at` of the columns `of`.

    The value is missing for objects that were decoded before the type's columns changed. Times
    are displayed as absolute times, because they may be in the future.
    """

    at: int
    of: tuple[PrinterColumn, ...]

    def _found(self, entry: Entry[Any]) -> Value:
        item = entry.projection
        return item.values[self.at] if item.columns == self.of else None

    def value(self, entry: Entry[Any]) -> str | Promise:
        found = self._found(entry)
        if found is None:
            return ""
        if isinstance(found, bool):
            return YES if found else NO
        if isinstance(found, datetime):
            return f"{found:%Y-%m-%d\N{NO-BREAK SPACE}%H:%M}"
        if isinstance(found, str):
            return escape_invisible(found)
        return f"{found:,}"

    def plain(self, entry: Entry[Any]) -> Plain:
        found = self._found(entry)
        if isinstance(found, bool):
            return str(found).lower()
        if isinstance(found, datetime):
            return found.isoformat().replace("+00:00", "Z")
        return str(found) if isinstance(found, float) else found

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, bool, Any]:
        """Sort numbers and times before texts. A server may show a text instead of a number."""
        found = self._found(entry)
        if found is None:
            return (True, False, 0)
        value = found.timestamp() if isinstance(found, datetime) else found
        return (False, isinstance(value, str), value)

    def shrinks(self, value: Any) -> bool:
        return bool(value) and self.align == "start"


@dataclass(frozen=True, kw_only=True)
class NameColumn(Column):
    """The object's name, with its generated suffix displayed dimmed.

    `owner` returns the controller that generated the name as `Kind/name`, for kinds with
    generated names.
    """

    id: str = "name"
    label: str | Promise = _("Name")
    priority: int = 1
    owner: Callable[[Any], str] = lambda item: ""
    template: ClassVar[str] = "ui/cells/name.html"

    def value(self, entry: Entry[Any]) -> str:
        return entry.key.name

    def split(self, entry: Entry[Any]) -> SplitName:
        item = entry.projection
        return split_name(entry.key.name, self.owner(item), item.labels)

    def plain(self, entry: Entry[Any]) -> str:
        return entry.key.name


@dataclass(frozen=True, kw_only=True)
class NamespaceColumn(Column):
    id: str = "namespace"
    label: str | Promise = _("Project")
    priority: int = 2

    def value(self, entry: Entry[Any]) -> str:
        return escape_invisible(entry.key.namespace)

    def plain(self, entry: Entry[Any]) -> str:
        return entry.key.namespace


@dataclass(frozen=True, slots=True)
class StatusText:
    """The content of a status cell. Both texts are translated when rendered. A `reason` from
    Kubernetes stays unchanged.
    """

    severity: str
    word: str | Promise
    reason: str | Promise


@dataclass(frozen=True, slots=True)
class PodsCause:
    """The most frequent problem of a workload's pods. `status` is the status of one of `count` pods."""

    count: int
    status: Status


def _cause_text(cause: PodsCause) -> str:
    status = cause.status
    parts = (str(part) for part in (translate(status.word), reason_text(status)) if part)
    words = {"n": f"{cause.count:,}", "cause": ": ".join(parts)}
    return ngettext("%(n)s pod: %(cause)s", "%(n)s pods: %(cause)s", cause.count) % words


_lazy_cause: Callable[[PodsCause], str] = lazy(_cause_text, str)


@dataclass(frozen=True, kw_only=True)
class StatusColumn(Column):
    """Icon, word and reason of the status. Sorted by severity, most severe first. This is the
    default order of lists.

    `cause` replaces the reason of one row, see `with_cause`.
    """

    status: Callable[[Any], Status] = lambda item: item.status
    cause: PodsCause | None = None
    id: str = "status"
    label: str | Promise = pgettext_lazy("column", "Status")
    priority: int = 1
    template: ClassVar[str] = "ui/cells/status.html"

    def value(self, entry: Entry[Any]) -> StatusText:
        status = self.status(entry.projection)
        reason = reason_text(status) if self.cause is None else _lazy_cause(self.cause)
        return StatusText(status.severity.value, translate(status.word), reason)

    def plain(self, entry: Entry[Any]) -> str:
        status, reason = self.status(entry.projection), ""
        if self.cause is not None:
            found = self.cause.status
            reason = f"{self.cause.count} × {found.word}: {found.reason}"
        reason = reason or status.reason
        return f"{status.word}: {reason}" if reason else status.word

    def sort_key(self, entry: Entry[Any]) -> int:
        return self.status(entry.projection).severity.rank

    def shrinks(self, value: StatusText) -> bool:
        return bool(value.reason)


def with_cause(columns: Sequence[Column], cause: PodsCause) -> tuple[Column, ...]:
    """Return the columns of a row whose status shows `cause`."""
    return tuple(
        replace(column, cause=cause) if isinstance(column, StatusColumn) else column
        for column in columns
    )


_by_kind: dict[str, str] = {}
_cluster_scoped: set[str] = set()
#: Segments of kinds that are referenced by `Kind.group/name`, as in owner references and scale targets.
#: This is a live view, which includes kinds that are registered later.
BY_KIND: Collection[str] = _by_kind.values()
#: Marks columns that may link to any kind. Rows with such a cell are not shared between users.
ANY_KIND = ("*",)


class LinkTarget(NamedTuple):
    """Reference to an object by the URL segment of its kind. `namespace` is "" for cluster-scoped
    kinds.

    An object of a kind without `addressable_by_kind_name` has a `group_kind` instead of a segment,
    and the namespace of the referring object.
    """

    segment: str
    namespace: str
    name: str
    group_kind: str = ""


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
        # Links to objects of other kinds don't depend on permissions.
        known = found is not None and (
            self.leads_to == ANY_KIND or found.segment in self.leads_to or bool(found.group_kind)
        )
        return found if known else None

    def value(self, entry: Entry[Any]) -> LinkText:
        return LinkText(escape_invisible(self.get(entry.projection)), *self.linked)

    def shrinks(self, value: Any) -> bool:
        """Names are always complete."""
        return False


def target_url(cluster: str, target: LinkTarget) -> str:
    """Return the URL of the object's page, or of the list if the target has no name. Return "" for
    an invalid object name, which untrusted data may contain, and for an object whose kind is not
    resolved.
    """
    if not target.segment or "/" in target.name or "/" in target.namespace:
        return ""
    if not target.name:
        return list_url(cluster, target.segment, target.namespace)
    return object_url(cluster, target.segment, Key(target.namespace, target.name))


def register_kind(word: str, segment: str, *, namespaced: bool) -> None:
    """Register the segment for references such as `Kind.group/name`."""
    _by_kind[word] = segment
    if not namespaced:
        _cluster_scoped.add(word)


def target_of(reference: str, namespace: str) -> LinkTarget | None:
    """Return the object of a `Kind.group/name` reference in a namespace, or None without a name.
    The kind may be a custom resource.
    """
    kind, _slash, name = reference.partition("/")
    segment = _by_kind.get(kind)
    if not name:
        return None
    if segment is None:
        return LinkTarget("", namespace, name, kind)
    return LinkTarget(segment, "" if kind in _cluster_scoped else namespace, name)


@dataclass(frozen=True, kw_only=True)
class OwnerColumn(LinkColumn):
    """The controller of the object, from the projection's `owner`."""

    id: str = "owner"
    label: str | Promise = _("Managed by")
    priority: int = 4
    leads_to: Collection[str] = BY_KIND
    get: Callable[[Any], str] = lambda item: without_group(item.owner)
    to: Callable[[Any], LinkTarget | None] | None = lambda item: target_of(
        item.owner, item.namespace
    )


@dataclass(frozen=True, kw_only=True)
class NumberColumn(Column):
    """A count. None means unknown: it is displayed as a question mark and sorted last."""

    get: Callable[[Any], int | None] = by_id
    align: Align = "end"
    template: ClassVar[str] = "ui/cells/number.html"

    def value(self, entry: Entry[Any]) -> object:
        return self.get(entry.projection)

    def plain(self, entry: Entry[Any]) -> int | None:
        return self.get(entry.projection)

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, int]:
        number = self.get(entry.projection)
        return (number is None, number or 0)


@dataclass(frozen=True, kw_only=True)
class RatioColumn(Column):
    """A ratio such as `2/3`, from `part` and `whole`. Empty if `whole` is None.

    Sorted by share, then by `whole`. `0/0` counts as a share of zero.
    """

    part: Callable[[Any], int]
    whole: Callable[[Any], int | None]
    align: Align = "end"

    def value(self, entry: Entry[Any]) -> str:
        return self.plain(entry)

    def plain(self, entry: Entry[Any]) -> str:
        whole = self.whole(entry.projection)
        return "" if whole is None else f"{self.part(entry.projection)}/{whole}"

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, float, int]:
        part, whole = self.part(entry.projection), self.whole(entry.projection)
        return (whole is None, part / whole if whole else 0.0, whole or 0)


Unit = Literal["cores", "bytes", "pieces"]
_TEXTS: dict[Unit, Callable[[Decimal], str]] = {
    "cores": cores_text,
    "bytes": bytes_text,
    "pieces": number_text,
}


@dataclass(frozen=True, kw_only=True)
class QuantityColumn(Column):
    """A Kubernetes quantity (`250m`, `16391032Ki`), or "".

    Displayed in a readable unit, sorted by value, exported unchanged. A text that is not a
    quantity is displayed unchanged and sorted last.
    """

    get: Callable[[Any], str] = by_id
    unit: Unit
    align: Align = "end"

    def value(self, entry: Entry[Any]) -> str:
        text = self.get(entry.projection)
        amount = parse_quantity(text)
        return escape_invisible(text) if amount is None else _TEXTS[self.unit](amount)

    def plain(self, entry: Entry[Any]) -> str:
        return self.get(entry.projection)

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, Decimal]:
        amount = parse_quantity(self.get(entry.projection))
        return (amount is None, amount or Decimal(0))


class PercentColumn(NumberColumn):
    """A percentage as an integer, or None if not applicable. Exported as a number."""

    template: ClassVar[str] = "ui/cells/text.html"

    def value(self, entry: Entry[Any]) -> str:
        percent = self.get(entry.projection)
        return "" if percent is None else f"{percent}\N{NO-BREAK SPACE}%"


@dataclass(frozen=True, kw_only=True)
class AgeColumn(Column):
    """The age of a point in time. The browser keeps it up to date.

    The HTML and exports contain the time itself. Ascending order starts with the youngest. With
    another `id` and `label`, the column can show any time in the past ("Last run"). `since`
    returns the time; the default is the attribute named `id`, or `created` for "age".
    """

    id: str = "age"
    label: str | Promise = _("Age")
    priority: int = 2
    align: Align = "end"
    since: Callable[[Any], datetime | None] = by_id
    template: ClassVar[str] = "ui/cells/age.html"

    def __post_init__(self) -> None:
        if self.since is by_id:
            name = "created" if self.id == "age" else self.id
            object.__setattr__(self, "since", attrgetter(name))

    def value(self, entry: Entry[Any]) -> datetime | None:
        return self.since(entry.projection)

    def plain(self, entry: Entry[Any]) -> str | None:
        since = self.since(entry.projection)
        return since.isoformat().replace("+00:00", "Z") if since else None

    def sort_key(self, entry: Entry[Any]) -> float:
        since = self.since(entry.projection)
        return -since.timestamp() if since else float("inf")


class DurationColumn(NumberColumn):
    """A duration in whole seconds, or None if not finished or not applicable. Exported as seconds."""

    template: ClassVar[str] = "ui/cells/text.html"

    def value(self, entry: Entry[Any]) -> object:
        seconds = self.get(entry.projection)
        return "" if seconds is None else seconds_text(seconds)


@dataclass(frozen=True, slots=True)
class ElapsedTime:
    """`text` is the duration, or "" until the end. `since` is the start of a duration that has not
    ended, or None.
    """

    text: str
    since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ElapsedColumn(DurationColumn):
    """A duration that has not ended yet if `get` returns None and `since` returns a time. The browser
    keeps it up to date.

    Durations that have not ended are exported as None and sorted last, the shortest first.
    """

    since: Callable[[Any], datetime | None]
    template: ClassVar[str] = "ui/cells/elapsed.html"

    def value(self, entry: Entry[Any]) -> ElapsedTime:
        text = str(super().value(entry))
        return ElapsedTime(text, None if text else self.since(entry.projection))

    def sort_key(self, entry: Entry[Any]) -> tuple[bool, int]:
        since = None if self.get(entry.projection) is not None else self.since(entry.projection)
        return (True, -int(since.timestamp())) if since else super().sort_key(entry)


#: Returns the usage of an object, or None if it is not measured.
UsedBy = Callable[[Entry[Any]], ResourceUsage | None]


@dataclass(frozen=True, slots=True)
class UsageText:
    """`text` is "" if the usage is unknown. `percent` is the share of the capacity, or None if
    unknown.
    """

    text: str
    percent: int | None = None

    @property
    def width(self) -> int:
        """Width of the bar in percent."""
        return min(100, self.percent or 0)

    @property
    def pressure(self) -> str:
        return usage_severity(self.percent)


@dataclass(frozen=True, kw_only=True)
class UsageColumn(Column):
    """The latest measurement of metrics-server. Requires `with_usage` to set the measurements.

    - `whole`: returns the capacity as a Kubernetes quantity.
    - `after`: ID of the column to the left.

    Exported in the units of `kubectl top`. Unmeasured objects sort below zero, so that the
    objects with the highest usage come first in descending order.
    """

    amount: Literal["cpu", "memory"]
    after: str = ""
    priority: int = 3
    whole: Callable[[Any], str] = lambda item: ""
    align: Align = "end"
    used: UsedBy = lambda entry: None
    template: ClassVar[str] = "ui/cells/usage.html"

    def value(self, entry: Entry[Any]) -> UsageText:
        amount = self._amount(entry)
        if amount is None:
            return UsageText("")
        whole = parse_quantity(self.whole(entry.projection))
        text = cores_text if self.amount == "cpu" else bytes_text
        percent = int(amount * 100 / float(whole)) if whole else None
        return UsageText(text(Decimal(amount)), percent)

    def plain(self, entry: Entry[Any]) -> str | None:
        amount = self._amount(entry)
        if amount is None:
            return None
        return f"{amount * 1000:.0f}m" if self.amount == "cpu" else f"{amount / 2**20:.0f}Mi"

    def sort_key(self, entry: Entry[Any]) -> float:
        amount = self._amount(entry)
        return -1.0 if amount is None else amount

    def _amount(self, entry: Entry[Any]) -> float | None:
        used = self.used(entry)
        if used is None:
            return None
        return used.cpu if self.amount == "cpu" else used.memory


def with_usage(columns: Sequence[Column], used: UsedBy) -> tuple[Column, ...]:
    """Return the columns, with `used` set on all usage columns."""
    return tuple(
        replace(column, used=used) if isinstance(column, UsageColumn) else column
        for column in columns
    )
