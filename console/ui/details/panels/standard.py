"""Tabs of a kind's detail page, with the standard panels and those of the kind."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from console.kube.gvr import GVR, PODS
from console.ui.core.custom_kinds import GenericKind
from console.ui.core.kind import ResourceKind
from console.ui.details.descriptions.pods import pod_spec
from console.ui.details.descriptions.scheduling import scheduling
from console.ui.details.panels import Panel
from console.ui.details.panels.containers import ContainersPanel
from console.ui.details.panels.data import YamlPanel
from console.ui.details.panels.description import DescriptionPanel
from console.ui.details.panels.events import EventsPanel
from console.ui.details.panels.metadata import MetadataPanel
from console.ui.details.panels.summary import CausePanel, SummaryPanel
from console.ui.details.relations.autoscalers import ScaledByPanel
from console.ui.details.relations.object_panels import (
    OwnedPanel,
    SelectedPodsPanel,
    UsedByPanel,
    UsesPanel,
)
from console.ui.details.relations.references import referring_types
from console.ui.details.relations.related_objects import MapPanel
from console.ui.details.relations.revisions import RevisionsPanel
from console.ui.details.relations.rollout import RolloutCause, RolloutPanel
from console.ui.details.relations.usage_panels import WorkloadUsagePanel
from console.ui.details.relations.workload_pods import WorkloadPodsPanel
from console.ui.diagnosis.conditions import ConditionsPanel


@dataclass(frozen=True, init=False)
class Tab:
    """A tab, declared as `Tab("overview", _("Overview"), SummaryPanel(), …)`.

    `id` is a single word and the last segment of the tab's URL. The URL of a kind's first tab
    omits it.
    """

    id: str
    title: str | Promise
    panels: tuple[Panel, ...]

    def __init__(self, id: str, title: str | Promise, *panels: Panel) -> None:
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "panels", panels)


K = TypeVar("K", bound=type[ResourceKind])

#: Number of kinds with cached tabs.
KEPT = 200

#: Ids of the panels in the peek panel.
PEEKED = ("cause", "summary", "latest")

EVENTS = Tab("events", _("Events"), EventsPanel())
YAML = Tab("yaml", _("YAML"), YamlPanel())
#: Has no panels. The changes are stored in the database, which panels don't access, and are
#: rendered by `console.views.history`.
CHANGES = Tab("changes", _("Changes"))
#: Also without panels, see `console.views.audit.trail`. Offered to viewers who may list every type in the
#: object's namespace.
AUDIT = Tab("audit", _("Audit"))
_SCHEDULING = DescriptionPanel(
    id="scheduling", title=_("Scheduling"), place="right", describe=scheduling
)


@dataclass(frozen=True, slots=True)
class _KindPanels:
    """Panels specific to a kind.

    `first` is shown at the top and `last` at the bottom of the overview. `around` starts the tab
    of related objects.
    """

    first: Sequence[Panel] = ()
    around: Sequence[Panel] = ()
    last: Sequence[Panel] = ()


_own: dict[GVR, _KindPanels] = {}


def kind_panels(
    *first: Panel, around: Sequence[Panel] = (), last: Sequence[Panel] = ()
) -> Callable[[K], K]:
    """Return a class decorator that adds panels to a kind's detail page.

    `first` and `last` are added to the overview, where a panel in `first` replaces the default
    panel with the same id. `around` is added to the tab of related objects in the same way.
    """

    def declare(cls: K) -> K:
        _own[cls.gvr] = _KindPanels(first, around, last)
        return cls

    return declare


@lru_cache(KEPT)
def tabs_of(kind: ResourceKind) -> Sequence[Tab]:
    recorded = not kind.private and "edit" in kind.actions_by_name
    return (*_tabs(kind), EVENTS, *((CHANGES,) if recorded else ()), AUDIT, YAML)


@lru_cache(KEPT)
def peek_tab(kind: ResourceKind) -> Tab:
    """Return the first tab with only the panels that the peek panel shows."""
    first = tabs_of(kind)[0]
    return Tab(first.id, first.title, *(one for one in first.panels if one.id in PEEKED))


def _tabs(kind: ResourceKind) -> Iterator[Tab]:
    own = _own.get(kind.gvr, _KindPanels())
    yield _overview(kind, own)
    replaced = {one.id for one in own.around}
    if around := (*own.around, *(one for one in _around(kind) if one.id not in replaced)):
        yield Tab("resources", _("Resources"), *around)
    if kind.revisions is not None:
        yield Tab("revisions", _("Revisions"), RevisionsPanel())


def _overview(kind: ResourceKind, own: _KindPanels) -> Tab:
    rollout = (RolloutCause(), RolloutPanel()) if kind.revisions is not None else ()
    runs_pods = kind.has_pod_template and (PODS in kind.owns or kind.revisions is not None)
    pods = (WorkloadPodsPanel(), WorkloadUsagePanel()) if runs_pods else ()
    scheduled = (_SCHEDULING,) if kind.pod_spec else ()
    first: dict[str, Panel] = {one.id: one for one in (CausePanel(), *pods, *rollout, *own.first)}
    alone = len(first) == 1 and not own.last
    summary = SummaryPanel() if alone else SummaryPanel(place="right")
    return Tab(
        "overview",
        _("Overview"),
        *first.values(),
        summary,
        EventsPanel(id="latest", title=_("Latest events"), most=5, quiet=True),
        *scheduled,
        ContainersPanel(),
        *_pod_spec(kind),
        ConditionsPanel(),
        *own.last,
        *((ScaledByPanel(),) if isinstance(kind, GenericKind) and kind.custom.scalable else ()),
        MetadataPanel(),
    )


def _pod_spec(kind: ResourceKind) -> Iterator[Panel]:
    if kind.pod_spec:
        title = _("Pod template") if kind.has_pod_template else _("Pod settings")
        describe = partial(pod_spec, path=kind.pod_spec)
        yield DescriptionPanel(id="podspec", title=title, describe=describe)


def _around(kind: ResourceKind) -> Iterator[Panel]:
    named = bool(referring_types(kind))
    if not (kind.referenced_types or kind.pod_spec or kind.selects_pods or named):
        return
    if kind.has_pod_template:
        yield OwnedPanel()
    if kind.selects_pods:
        yield SelectedPodsPanel()
    if kind.referenced_types:
        yield UsesPanel()
    if named or kind.pod_spec:
        yield UsedByPanel()
    yield MapPanel()
