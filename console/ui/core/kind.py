"""Base class of kinds, with their navigation and references between objects."""

import enum
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from console.kube.group_kind import group_kind
from console.kube.gvr import BUILT_IN_GROUPS, GVR, Key
from console.kube.selectors import LabelSelector, read_selector
from console.kube.status import Severity, Status
from console.kube.store import Entry
from console.kube.uncached import UNCACHED
from console.ui.core.access import Access
from console.ui.core.action_texts import Fact
from console.ui.core.actions import Action, CreateCopy, EditForm, EditYaml, Permission
from console.ui.core.labels import ChangeLabels, EditLabels
from console.ui.core.links import import_url, new_url
from console.ui.core.words import SEVERITY_WORDS
from console.ui.lists.columns import (
    AgeColumn,
    Column,
    LinkColumn,
    NameColumn,
    NamespaceColumn,
    PodsCause,
    StatusColumn,
    UsageColumn,
)
from console.ui.lists.filters import (
    ExcludedNamespaceFilter,
    Filter,
    LabelFilter,
    NamespaceFilter,
    SearchFilter,
    StatusFilter,
)

if TYPE_CHECKING:
    from console.ui.wizard.examples import Example
    from console.ui.wizard.wizard import Wizard

Target = tuple[GVR, Key]
#: Returns the cause of an object's state, limited to information that the viewer may see, or None.
FindCause = Callable[[Entry[Any]], PodsCause | None]


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to an object.

    `how` is a key of `console.ui.details.relations.visible_type.HOW`. `where` is the volume,
    container or other place in the referring object. `optional` is True if the referring object
    works without the target.
    """

    gvr: GVR
    key: Key
    how: str
    where: str = ""
    optional: bool = False


#: The action of kinds with a wizard.
EDIT_FORM: tuple[Action, ...] = (EditForm(),)
#: The action of kinds whose objects users create.
CREATE_COPY: tuple[Action, ...] = (CreateCopy(),)
#: Actions that every kind has.
COMMON_ACTIONS: tuple[Action, ...] = (EditYaml(), EditLabels(), ChangeLabels())


class Scope(enum.Enum):
    NAMESPACED = "Namespaced"
    CLUSTER = "Cluster"


#: Groups of kinds, in display order.
NAV_GROUPS: dict[str, str | Promise] = {
    "workloads": gettext_lazy("Workloads"),
    "network": gettext_lazy("Network"),
    "config": gettext_lazy("Configuration"),
    "storage": gettext_lazy("Storage"),
    "cluster": gettext_lazy("Cluster"),
    "access": gettext_lazy("Access"),
    "tenancy": gettext_lazy("Workspaces"),
    "custom": gettext_lazy("Custom resources"),
    "other": gettext_lazy("Other resources"),
}


@dataclass(frozen=True, slots=True)
class Nav:
    """Position of the kind in the navigation.

    `group` is a key of `NAV_GROUPS`. `entry` is the key of the entry in
    `console.ui.core.menu.NAV_ENTRIES` in which the kind is a tab, or "" if the kind is listed under
    all resources only.
    """

    group: str
    order: int
    entry: str = ""

    @property
    def rank(self) -> tuple[int, int]:
        return list(NAV_GROUPS).index(self.group), self.order


@dataclass(frozen=True, slots=True)
class KindView:
    """A kind for templates. `plural` is Kubernetes' resource name, and the other names are
    translated.
    """

    plural: str
    segment: str
    title: str | Promise
    singular: str | Promise
    nouns: str | Promise
    namespaced: bool


def segment_of(gvr: GVR) -> str:
    """Return the URL segment of a type. It is unique regardless of the custom resources in a
    cluster.
    """
    return gvr.resource if gvr.group in BUILT_IN_GROUPS else gvr.qualified


def _with_standard_columns(columns: tuple[Column, ...], scope: Scope) -> tuple[Column, ...]:
    """Return the columns between name (and project) and age, unless they are already declared."""
    first: tuple[Column, ...] = (NameColumn(),)
    if scope is Scope.NAMESPACED:
        first = (*first, NamespaceColumn())
    if any(isinstance(column, NameColumn) for column in columns):
        first = ()
    last = (
        ()
        if any(getattr(column, "id", "") == "age" for column in columns)
        else (AgeColumn(priority=1),)
    )
    return (*first, *columns, *last)


class ProgressPanel(Protocol):
    """Renders the progress of an operation on an object, or "" if there is none."""

    async def __call__(self, access: Access, kind: "ResourceKind", entry: Entry[Any]) -> str: ...


class ResourceKind:
    """Base class of kinds.

    Names:

    - `title`: page heading ("Pods").
    - `singular`, `nouns`: used in sentences ("pod", "pods").
    - `api_kind`: Kubernetes' kind ("Deployment"). The default is the class name without "Kind".
    - `short_names`: kubectl's short names.

    Lists:

    - `projection`: the class of cached objects.
    - `columns`: declared without name, project and age, which are added around them. A kind that
      declares a `NameColumn` or an "age" column itself keeps its own order.
    - `search`: the search filter. `filters` are additional filters; namespace, label and status
      filters are always included.
    - `measured`: usage columns, shown only if metrics are available and the user may list
      objects of type `metrics`.
    - `default_sort`: ID of the default sort column. The default is the status column. "" sorts by
      name.

    Problems and masking:

    - `checked_for_problems`: overviews show problems of these objects, and menus count those that
      fail. Requires the filter `state`.
    - `diagnosed_with`: types that `diagnosis` reads.
    - `states_with_logs`: states for which the log is helpful.
    - `masked`: paths in the object whose values are never shown. For a mapping, its values are
      masked.

    Actions:

    - `can_be_copied`: users create objects like an existing one. False for kinds whose objects stand
      for something that is not a copy, such as a user or a node.
    - `confirm_by_name`: deletion must be confirmed by typing the name, because creating the object
      again does not restore it.
    - `example`: content of a new manifest in addition to type and name.
    - `examples`: what a new object can start from.
    - `wizard`: the steps of the form that creates and edits objects, or None.
    - `progress`: renders the progress of an operation above the first tab.
    - `panels_ask`: additional permissions that panels check: verb, type, subresource.

    Relations:

    - `addressable_by_kind_name`: owners and events often refer to these objects by
      `Kind.group/name`. Lists with such references watch the kind, so that missing objects are marked.
    - `links_unchecked`: links to these objects are the same for all users, because the objects
      may not be cached. Their pages check permission and existence.
    - `owns`: types that controllers create for these objects. `revisions` is the one with their
      history.
    - `created_by_operators`: some objects are created for custom resources.
    - `referenced_types`: types that these objects may refer to, most important first.
    - `pod_spec`: path of the pod spec, or ().
    - `selects_pods`: these objects select pods with `pod_selector`.
    - `types_with_own_panel`: types that refer to these objects and have a separate panel.
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
    addressable_by_kind_name: ClassVar[bool] = False
    links_unchecked: ClassVar[bool] = False
    checked_for_problems: ClassVar[bool] = False
    diagnosed_with: ClassVar[Collection[GVR]] = ()
    states_with_logs: ClassVar[Collection[str]] = ()
    masked: ClassVar[Sequence[tuple[str, ...]]] = ()
    can_be_copied: ClassVar[bool] = True
    confirm_by_name: ClassVar[bool] = False
    example: ClassVar[Mapping[str, Any]] = {"spec": {}}
    examples: ClassVar[Sequence["Example"]] = ()
    wizard: ClassVar["Wizard | None"] = None
    progress: ClassVar[ProgressPanel | None] = None
    panels_ask: ClassVar[frozenset[tuple[str, GVR, str]]] = frozenset()
    api_kind: ClassVar[str]
    short_names: ClassVar[Sequence[str]] = ()
    owns: ClassVar[Sequence[GVR]] = ()
    created_by_operators: ClassVar[bool] = False
    revisions: ClassVar[GVR | None] = None
    referenced_types: ClassVar[Sequence[GVR]] = ()
    pod_spec: ClassVar[tuple[str, ...]] = ()
    selects_pods: ClassVar[bool] = False
    types_with_own_panel: ClassVar[Sequence[GVR]] = ()
    severity_words: ClassVar[Mapping[Severity, str | Promise]] = {}
    default_sort: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "api_kind" not in vars(cls):
            cls.api_kind = cls.__name__.removesuffix("Kind")
        columns = getattr(cls, "columns", None)
        if isinstance(columns, tuple) and hasattr(cls, "scope"):
            cls.columns = columns = _with_standard_columns(columns, cls.scope)
        if "default_sort" not in vars(cls):
            columns = columns or ()
            cls.default_sort = next((c.id for c in columns if isinstance(c, StatusColumn)), "")

    @cached_property
    def group_kind(self) -> str:
        """Group and kind in references: `Pod`, `Deployment.apps`. See `console.kube.group_kind`."""
        return group_kind(self.api_kind, self.gvr.group)

    @cached_property
    def segment(self) -> str:
        """URL segment: `pods`, `deployments`, or `widgets.example.com` for a custom resource."""
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
    def checked_permissions(self) -> frozenset[tuple[str, GVR, str]]:
        """The permissions that lists, actions and panels check: verb, type, subresource."""
        found = {(one.verb, one.gvr or self.gvr, one.subresource) for one in self.permissions}
        own = {("list", self.gvr, ""), ("create", self.gvr, "")}
        return frozenset({*own, *found, *self.panels_ask})

    @cached_property
    def permissions(self) -> frozenset[Permission]:
        """The permissions that any action needs."""
        return frozenset(one for action in self.every_action for one in action.needs)

    @cached_property
    def private(self) -> bool:
        """True if objects contain secret values, which are not stored."""
        return self.gvr in UNCACHED

    @property
    def uncached(self) -> bool:
        """True if objects are never cached, but read as the user. See `console.ui.core.object_source`."""
        return self.private

    def serves(self, verb: str) -> bool:
        """Return True if the cluster supports the verb for this type."""
        return True

    @property
    def has_wizard(self) -> bool:
        """True if a form creates objects. For types without a declaration, it is generated."""
        return self.wizard is not None and self.wizard.creates

    @property
    def has_pod_template(self) -> bool:
        """True if the kind has a pod template."""
        return len(self.pod_spec) > 1

    @property
    def rank(self) -> tuple[bool, tuple[int, int]]:
        """Sort key among related objects: kinds with a pod template first, then menu order."""
        return not self.has_pod_template, self.nav.rank

    @cached_property
    def name_column(self) -> NameColumn:
        return next(column for column in self.columns if isinstance(column, NameColumn))

    @cached_property
    def link_columns(self) -> Sequence[LinkColumn]:
        return [column for column in self.columns if isinstance(column, LinkColumn)]

    @cached_property
    def status_column(self) -> StatusColumn | None:
        return next((c for c in self.columns if isinstance(c, StatusColumn)), None)

    @cached_property
    def sortable(self) -> Mapping[str, Column]:
        return {column.id: column for column in self.every_column if column.sortable}

    @cached_property
    def every_column(self) -> tuple[Column, ...]:
        """All columns, including usage columns at their positions. Usage columns without a position
        come last.
        """
        found: list[Column] = []
        rest = list(self.measured)
        for column in self.columns:
            found += [column, *(one for one in rest if one.after == column.id)]
            rest = [one for one in rest if one.after != column.id]
        return (*found, *rest)

    @cached_property
    def every_filter(self) -> tuple[Filter, ...]:
        """The filters that every list has, and the kind's own."""
        column = self.status_column
        return (
            self.search,
            *((NamespaceFilter(), ExcludedNamespaceFilter()) if self.view.namespaced else ()),
            LabelFilter(),
            *((StatusFilter(status=column.status),) if column is not None else ()),
            *self.filters,
        )

    @property
    def every_action(self) -> tuple[Action, ...]:
        """The actions that every kind has, and the kind's own."""
        form = EDIT_FORM if self.has_wizard and not self.masked else ()
        copy = CREATE_COPY if self.can_be_copied else ()
        return (*form, *COMMON_ACTIONS, *copy, *self.actions)

    @cached_property
    def action_checks(self) -> Sequence[tuple[Action, frozenset[Permission], bool, bool]]:
        """Each action with the checks that an object's row requires: permissions, and whether the
        action overrides `is_protected`, and `applicable` or `is_offered`.
        """
        return [
            (
                action,
                frozenset(action.needs),
                type(action).is_protected is not Action.is_protected,
                type(action).applicable is not Action.applicable
                or type(action).is_offered is not Action.is_offered,
            )
            for action in self.every_action
        ]

    @cached_property
    def actions_by_name(self) -> Mapping[str, Action]:
        return {action.name: action for action in self.every_action}

    def status(self, entry: Entry[Any]) -> Status | None:
        """Return the status of the object, or None for kinds without a status."""
        column = self.status_column
        return column.status(entry.projection) if column else None

    def diagnosis(self, entry: Entry[Any], manifest: Mapping[str, Any], access: Access) -> str:
        """Return the reason of a problem, limited to information that the user may see, or "" if
        nothing more than the status is available.
        """
        return ""

    def cause_types(self) -> Collection[GVR]:
        """Return the types that `cause_finder` reads. The permissions to list them must be in
        `checked_permissions`.
        """
        return ()

    def cause_finder(self, access: Access) -> FindCause | None:
        """Return a function that lists call for each displayed row, or None if lists show no causes."""
        return None

    def is_problem(self, status: Status) -> bool:
        return status.severity in (Severity.ERROR, Severity.WARN)

    def owner(self, item: Any) -> str:
        """Return the owner to display as `Kind.group/name`, or ""."""
        found: str = getattr(item, "owner", "")
        return found

    def deleted_with(self, name: str) -> str:
        """Return what is deleted together with the object of this name, or ""."""
        return ""

    def references(self, item: Any) -> Iterable[Reference]:
        """Yield references other than those in the pod spec."""
        return ()

    def pod_selector(self, entry: Entry[Any]) -> LabelSelector | None:
        """Return the selector for pods, or None if the object selects no pods."""
        text: str = entry.projection.selector
        return read_selector(text) if text else None

    def order_among_owned(self, entry: Entry[Any]) -> tuple[Any, ...] | None:
        """Return the sort key among objects of the same owner, or None to sort by severity."""
        return None

    def note_among_owned(self, entry: Entry[Any]) -> str:
        """Return a short text that distinguishes the object from others of the same owner."""
        return ""

    def severity_word(self, severity: Severity) -> str | Promise:
        return self.severity_words.get(severity) or SEVERITY_WORDS[severity]

    def creatable(self, access: Access) -> bool:
        """Return True if the user may create objects of this cluster-scoped kind."""
        return self.serves("create") and access.namespaces_where("create", self.gvr) is None

    def create_url(self, cluster: str, namespace: str) -> str:
        """Return the URL of the create page. `namespace` is "" if it is selected on that page."""
        if self.has_wizard:
            return new_url(cluster, self.segment, namespace)
        return import_url(cluster, self.segment, namespace)

    def page_url(self, cluster: str, key: Key) -> str:
        """Return the page of the entity that the object represents, or "" if that is the object's
        own page.
        """
        return ""

    def tab_pages(self, access: Access, key: Key) -> Sequence[tuple[str | Promise, str]]:
        """Return title and URL of other pages that are shown as tabs of an object. The user must have
        permission to open them. Overrides may check only the permissions of the kind's actions.
        """
        return ()

    def logs_url(self, access: Access, namespaces: Sequence[str], labels: Sequence[str]) -> str:
        """Return the URL of the combined logs of the listed objects, or "" if not available."""
        return ""

    def facts(self, entry: Entry[Any]) -> Sequence[Fact]:
        """Return information to show before a destructive action on the object."""
        return ()
