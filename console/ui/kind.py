"""A kind of resource, declared once.

From a declaration come the URLs, the menu entry, the list with its live rows, filters, sorts and
exports, the actions and the contract tests. Nothing outside of a kind's own file knows a kind.
"""

import enum
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.gvr import BUILT_IN_GROUPS, GVR, Key
from console.kube.selectors import LabelSelector, read_selector
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.kube.uncached import UNCACHED
from console.ui.access import Access
from console.ui.actions import Action, EditYaml, Permission
from console.ui.columns import Column, NameColumn, StatusColumn, UsageColumn
from console.ui.facts import Fact
from console.ui.filters import Filter, LabelFilter, NamespaceFilter, SearchFilter, StatusFilter
from console.ui.labels import EditLabels
from console.ui.links import import_url
from console.ui.relations.naming import Reference
from console.ui.words import SEVERITY_WORDS

#: What can be done to an object of whatever kind.
COMMON_ACTIONS: tuple[Action, ...] = (EditYaml(), EditLabels())


class Scope(enum.Enum):
    NAMESPACED = "Namespaced"
    CLUSTER = "Cluster"


#: The groups of kinds, in the order in which they are listed.
NAV_GROUPS: dict[str, str | Promise] = {
    "workloads": gettext_lazy("Workloads"),
    "network": gettext_lazy("Network"),
    "config": gettext_lazy("Configuration"),
    "storage": gettext_lazy("Storage"),
    "cluster": gettext_lazy("Cluster"),
    "access": gettext_lazy("Access"),
    "tenancy": gettext_lazy("Workspaces"),
    "custom": gettext_lazy("Custom resources"),
}


#: The entries of the rail that stand for kinds; `console.ui.nav.RAILS` says which level has which.
NAV_ENTRIES: dict[str, str | Promise] = {
    "users": gettext_lazy("Users"),
    "nodes": gettext_lazy("Nodes"),
    "projects": gettext_lazy("Projects"),
    "workloads": gettext_lazy("Workloads"),
    "pods": gettext_lazy("Pods"),
    "network": gettext_lazy("Services and routes"),
    "config": gettext_lazy("Configuration"),
    "storage": gettext_lazy("Storage"),
    "autoscaling": gettext_lazy("Autoscaling"),
    "events": gettext_lazy("Events"),
    "custom": gettext_lazy("Custom resources"),
    "access": gettext_lazy("Access"),
    "quota": gettext_lazy("Quotas and limits"),
}


@dataclass(frozen=True, slots=True)
class Nav:
    """Where the kind is found: `group` is a key of `NAV_GROUPS`; `entry` one of
    `NAV_ENTRIES`, whose tab it is, "" for one that is only among all resources."""

    group: str
    order: int
    entry: str = ""

    @property
    def rank(self) -> tuple[int, int]:
        return list(NAV_GROUPS).index(self.group), self.order


@dataclass(frozen=True, slots=True)
class KindView:
    """A kind as templates know it. `plural` is Kubernetes' word, the others are translated."""

    plural: str
    segment: str
    title: str | Promise
    singular: str | Promise
    nouns: str | Promise
    namespaced: bool


def segment_of(gvr: GVR) -> str:
    """How URLs name a type: one name for each, whatever custom resources a cluster has."""
    return gvr.resource if gvr.group in BUILT_IN_GROUPS else gvr.qualified


class ResourceKind:
    """`title` heads the page ("Pods"), `singular` and `nouns` stand in sentences ("pod", "pods").

    `projection` is the class that the cache keeps of each object. `api_kind` is Kubernetes' own word
    ("Deployment"), the class's name without "Kind" unless it is given; `short_names` are kubectl's.
    `search`: the texts that are looked for in; `filters`: beside it, projects, labels and the status,
    which narrow every list. `watched`: overviews tell of what is wrong with its objects; `explained_by`:
    what `cause` reads for that; `logged`: the states of which their log says more. `by_kind`: owners,
    events and the like name its objects by `Kind/name`. `masked` are paths in the object of what nobody
    is shown: of a mapping its values, of anything else the whole.
    `measured` are columns that lists have only where usage is measured, which is listed as objects of
    type `metrics`, and the viewer may know of it.
    `precious`: what is deleted is not back when it is made again, so that a name is typed first.
    `own_order`: the id of the column that a list is sorted by unless another is chosen, the status's
    unless it is given; "" for names alone.
    `example` is what a new manifest begins with beside its type and name. `panels_ask` are rights that
    its panels look at beside those: verb, type, subresource.

    What is around its objects: `owns` are the types that controllers make for them, `revisions` the one
    of these that keeps their past. `by_operators`: some are made for custom resources. `names` are the
    types that they may name, what matters most to people first. `pod_spec`: where in them the
    specification of pods stands, () for none. `selects_pods`: by `pod_selector`. `told_apart`: types that
    name its objects and are told of by a panel of their own.
    """

    gvr: ClassVar[GVR]
    scope: ClassVar[Scope]
    nav: ClassVar[Nav]
    projection: ClassVar[type]
    title: ClassVar[str | Promise]
    singular: ClassVar[str | Promise]
    nouns: ClassVar[str | Promise]
    columns: ClassVar[Sequence[Column]]
    measured: ClassVar[Sequence[UsageColumn]] = ()
    metrics: ClassVar[GVR | None] = None
    search: ClassVar[SearchFilter] = SearchFilter()
    filters: ClassVar[Sequence[Filter]] = ()
    actions: ClassVar[Sequence[Action]] = ()
    by_kind: ClassVar[bool] = False
    watched: ClassVar[bool] = False
    explained_by: ClassVar[Collection[GVR]] = ()
    logged: ClassVar[Collection[str]] = ()
    masked: ClassVar[Sequence[tuple[str, ...]]] = ()
    precious: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"spec": {}}
    panels_ask: ClassVar[frozenset[tuple[str, GVR, str]]] = frozenset()
    api_kind: ClassVar[str]
    short_names: ClassVar[Sequence[str]] = ()
    owns: ClassVar[Sequence[GVR]] = ()
    by_operators: ClassVar[bool] = False
    revisions: ClassVar[GVR | None] = None
    names: ClassVar[Sequence[GVR]] = ()
    pod_spec: ClassVar[tuple[str, ...]] = ()
    selects_pods: ClassVar[bool] = False
    told_apart: ClassVar[Sequence[GVR]] = ()
    severity_words: ClassVar[Mapping[Severity, str | Promise]] = {}
    own_order: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "api_kind" not in vars(cls):
            cls.api_kind = cls.__name__.removesuffix("Kind")
        if "own_order" not in vars(cls):
            columns = getattr(cls, "columns", None) or ()
            cls.own_order = next((c.id for c in columns if isinstance(c, StatusColumn)), "")

    @cached_property
    def segment(self) -> str:
        """The kind in URLs: `pods`, `deployments`, or `widgets.example.com` for a custom resource."""
        return segment_of(self.gvr)

    @cached_property
    def view(self) -> KindView:
        return KindView(
            plural=self.gvr.resource,
            segment=self.segment,
            title=self.title,
            singular=self.singular,
            nouns=self.nouns,
            namespaced=self.scope is Scope.NAMESPACED,
        )

    @cached_property
    def asked(self) -> frozenset[tuple[str, GVR, str]]:
        """The rights that its list, its actions and its panels ask for: verb, type, subresource."""
        found = {(one.verb, one.gvr or self.gvr, one.subresource) for one in self.permissions}
        own = {("list", self.gvr, ""), ("create", self.gvr, "")}
        return frozenset({*own, *found, *self.panels_ask})

    @cached_property
    def permissions(self) -> frozenset[Permission]:
        """What its actions need, all together."""
        return frozenset(one for action in self.every_action for one in action.needs)

    @cached_property
    def private(self) -> bool:
        """Its objects are never in the shared cache, but read as the viewer: see `console.ui.reading`."""
        return self.gvr in UNCACHED

    @property
    def makes_pods(self) -> bool:
        """From a template."""
        return len(self.pod_spec) > 1

    @property
    def rank(self) -> tuple[bool, tuple[int, int]]:
        """Its place among others around an object: what makes pods first, then as the menu has it."""
        return not self.makes_pods, self.nav.rank

    @cached_property
    def name_column(self) -> NameColumn:
        return next(column for column in self.columns if isinstance(column, NameColumn))

    @cached_property
    def status_column(self) -> StatusColumn | None:
        return next((c for c in self.columns if isinstance(c, StatusColumn)), None)

    @cached_property
    def sortable(self) -> Mapping[str, Column]:
        return {column.id: column for column in self.every_column if column.sortable}

    @cached_property
    def every_column(self) -> tuple[Column, ...]:
        """With the measured ones in their places, which is the end where that is not told."""
        found: list[Column] = []
        rest = list(self.measured)
        for column in self.columns:
            found += [column, *(one for one in rest if one.after == column.id)]
            rest = [one for one in rest if one.after != column.id]
        return (*found, *rest)

    @cached_property
    def every_filter(self) -> tuple[Filter, ...]:
        """What narrows every list, and its own."""
        column = self.status_column
        return (
            self.search,
            *((NamespaceFilter(),) if self.view.namespaced else ()),
            LabelFilter(),
            *((StatusFilter(status=column.status),) if column is not None else ()),
            *self.filters,
        )

    @property
    def every_action(self) -> tuple[Action, ...]:
        """Its own, and those that every kind has."""
        return (*COMMON_ACTIONS, *self.actions)

    @cached_property
    def shown_actions(self) -> Mapping[str, Action]:
        return {action.name: action for action in self.every_action}

    def status(self, entry: Entry[Any]) -> Status | None:
        """How the object is; None for kinds that have no status."""
        column = self.status_column
        return column.status(entry.projection) if column else None

    def cause(
        self, entry: Entry[Any], manifest: Mapping[str, Any], access: Access
    ) -> tuple[Severity | None, str]:
        """How bad it is and why, in plain words, as far as the viewer may know; None and "" where nobody
        knows more than its status."""
        return None, ""

    def is_trouble(self, status: Status) -> bool:
        return status.severity in (Severity.ERROR, Severity.WARN)

    def owner(self, item: Any) -> str:
        """What people know as the owner of what a projection is of, as `Kind/name`; "" for none."""
        found: str = getattr(item, "owner", "")
        return found

    def goes_with(self, name: str) -> str:
        """What is deleted with the object of this name; "" for itself alone."""
        return ""

    def references(self, item: Any) -> Iterable[Reference]:
        """What a projection names beside what the specification of pods does."""
        return ()

    def pod_selector(self, entry: Entry[Any]) -> LabelSelector | None:
        """By which an object selects pods; None for one that selects nothing."""
        text: str = entry.projection.selector
        return read_selector(text) if text else None

    def order_among_owned(self, entry: Entry[Any]) -> tuple[Any, ...] | None:
        """Where it stands among those of one owner; None for the worst first."""
        return None

    def note_among_owned(self, entry: Entry[Any]) -> str:
        """What tells it from others of one owner."""
        return ""

    def severity_word(self, severity: Severity) -> str | Promise:
        return self.severity_words.get(severity) or SEVERITY_WORDS[severity]

    def creatable(self, access: Access) -> bool:
        """Whether the viewer may make one of a kind that belongs to no project."""
        return access.namespaces_where("create", self.gvr) is None

    def create_url(self, cluster: str, namespace: str) -> str:
        """Where one is made; `namespace` is "" where that is chosen there."""
        return import_url(cluster, self.segment, namespace)

    def page_url(self, cluster: str, key: Key) -> str:
        """The page of what an object stands for; "" where that is the object's own first tab."""
        return ""

    def logs_url(self, access: Access, namespaces: Sequence[str], labels: Sequence[str]) -> str:
        """Where the logs of those that a list of these shows are read as one; "" where they cannot be."""
        return ""

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        """What somebody should know before an action on this object."""
        return ()
