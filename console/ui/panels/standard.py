"""The tabs of an object, as its kind is declared."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from django.utils.translation import gettext_lazy as _

from console.kube.gvr import GVR
from console.ui.conditions import ConditionsPanel
from console.ui.kind import ResourceKind
from console.ui.panels import Panel
from console.ui.panels.containers import ContainersPanel
from console.ui.panels.events import EventsPanel
from console.ui.panels.metadata import MetadataPanel
from console.ui.panels.summary import CausePanel, SummaryPanel
from console.ui.panels.yaml import YamlPanel
from console.ui.relations.map import MapPanel
from console.ui.relations.owned import OwnedPanel
from console.ui.relations.references import naming
from console.ui.relations.revisions import RevisionsPanel
from console.ui.relations.rollout import RolloutCause, RolloutPanel
from console.ui.relations.selected import SelectedPodsPanel
from console.ui.relations.usedby import UsedByPanel
from console.ui.relations.uses import UsesPanel
from console.ui.tabs import Tab

K = TypeVar("K", bound=type[ResourceKind])

#: Kinds whose tabs are kept.
KEPT = 200

EVENTS = Tab("events", _("Events"), EventsPanel())
YAML = Tab("yaml", _("YAML"), YamlPanel())
#: What the console changed is in SQL, which panels do not ask: `console.views.history` draws it.
CHANGES = Tab("changes", _("Changes"))


@dataclass(frozen=True, slots=True)
class _Own:
    """`first`: what people ask first, `last` what few do. `around`: what the tab about other objects
    begins with."""

    first: Sequence[Panel] = ()
    around: Sequence[Panel] = ()
    last: Sequence[Panel] = ()


_own: dict[GVR, _Own] = {}


def shows(
    *first: Panel, around: Sequence[Panel] = (), last: Sequence[Panel] = ()
) -> Callable[[K], K]:
    """Class decorator of kinds whose objects have panels of their own: on the first tab, where one takes
    the place of another with its id or is the `last`, and on the tab about other objects."""

    def declare(cls: K) -> K:
        _own[cls.gvr] = _Own(first, around, last)
        return cls

    return declare


@lru_cache(KEPT)
def tabs_of(kind: ResourceKind) -> Sequence[Tab]:
    return (*_tabs(kind), EVENTS, *(() if kind.private else (CHANGES,)), YAML)


def _tabs(kind: ResourceKind) -> Iterator[Tab]:
    own = _own.get(kind.gvr, _Own())
    yield _overview(kind, own)
    if around := (*own.around, *_around(kind)):
        yield Tab("resources", _("Resources"), *around)
    if kind.revisions is not None:
        yield Tab("revisions", _("Revisions"), RevisionsPanel())


def _overview(kind: ResourceKind, own: _Own) -> Tab:
    rollout = (RolloutCause(), RolloutPanel()) if kind.revisions is not None else ()
    first: dict[str, Panel] = {one.id: one for one in (CausePanel(), *rollout, *own.first)}
    alone = len(first) == 1 and not own.last
    summary = SummaryPanel() if alone else SummaryPanel(place="right")
    return Tab(
        "overview",
        _("Overview"),
        *first.values(),
        summary,
        EventsPanel(id="latest", title=_("Latest events"), most=5, quiet=True),
        ContainersPanel(),
        ConditionsPanel(),
        *own.last,
        MetadataPanel(),
    )


def _around(kind: ResourceKind) -> Iterator[Panel]:
    named = bool(naming(kind))
    if not (kind.names or kind.pod_spec or kind.selects_pods or named):
        return
    if kind.makes_pods:
        yield OwnedPanel()
    if kind.selects_pods:
        yield SelectedPodsPanel()
    if kind.names:
        yield UsesPanel()
    if named or kind.pod_spec:
        yield UsedByPanel()
    yield MapPanel()
