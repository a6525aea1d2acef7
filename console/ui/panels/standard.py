"""The tabs that any object has."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from console.kube.gvr import (
    CONFIG_MAPS,
    CRON_JOBS,
    GVR,
    JOBS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
)
from console.ui.kind import ResourceKind
from console.ui.nodecapacity import NodeCapacityPanel
from console.ui.panels import Panel
from console.ui.panels.conditions import ConditionsPanel
from console.ui.panels.containers import ContainersPanel
from console.ui.panels.data import DataPanel
from console.ui.panels.events import EventsPanel
from console.ui.panels.metadata import MetadataPanel
from console.ui.panels.ports import PortsPanel
from console.ui.panels.summary import CausePanel, SummaryPanel
from console.ui.panels.yaml import YamlPanel
from console.ui.relations import CAUSES, PANELS, REVISIONS, ROLLOUTS
from console.ui.relations.endpoints import EndpointsPanel
from console.ui.relations.owned import OwnedPanel
from console.ui.relations.selected import SelectedPodsPanel
from console.ui.relations.usedby import UsedByPanel
from console.ui.tabs import Tab

OVERVIEW = Tab(
    "overview",
    _("Overview"),
    CausePanel(),
    SummaryPanel(),
    EventsPanel(id="latest", title=_("Latest events"), most=5, quiet=True),
    ContainersPanel(),
    ConditionsPanel(),
    MetadataPanel(),
)
#: Kinds of which people ask first who uses them.
_USED = frozenset({CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, SECRETS, SERVICE_ACCOUNTS})
EVENTS = Tab("events", _("Events"), EventsPanel())
YAML = Tab("yaml", _("YAML"), YamlPanel())
#: What the console changed is in SQL, which panels do not ask: `console.views.history` draws it.
CHANGES = Tab("changes", _("Changes"))
STANDARD = (OVERVIEW, EVENTS, YAML)


def tabs_of(kind: ResourceKind) -> Sequence[Tab]:
    found = kind.tabs or _TABS.get(kind.gvr, STANDARD)
    return found if kind.private else (*found[:-1], CHANGES, found[-1])


def _tabs(gvr: GVR) -> Sequence[Tab]:
    found = [_overview(gvr)]
    if gvr in PANELS:
        found.append(Tab("resources", _("Resources"), *PANELS[gvr]))
    if gvr in REVISIONS:
        found.append(Tab("revisions", _("Revisions"), *REVISIONS[gvr]))
    return (*found, EVENTS, YAML)


def _overview(gvr: GVR) -> Tab:
    cause, summary, latest, *others = OVERVIEW.panels
    cause = CAUSES.get(gvr, cause)
    ports = (PortsPanel(),) if gvr in (PODS, SERVICES) else ()
    living = (*ROLLOUTS.get(gvr, ()), *_foremost(gvr), *ports)
    if living:
        summary = replace(summary, place="right")
    panels = (cause, *living, summary, latest, *others)
    return Tab(OVERVIEW.id, OVERVIEW.title, *panels)


def _foremost(gvr: GVR) -> Iterator[Panel]:
    """What people ask first about objects of the kind."""
    if gvr == NODES:
        yield NodeCapacityPanel()
    foremost: tuple[type[Panel], ...] = (EndpointsPanel, SelectedPodsPanel)
    if gvr == CONFIG_MAPS:
        yield DataPanel()
    if gvr in _USED:
        foremost = (UsedByPanel,)
    elif gvr in (CRON_JOBS, JOBS, REPLICA_SETS):
        foremost = (OwnedPanel,)
    yield from (panel for panel in PANELS[gvr] if isinstance(panel, foremost))


_TABS = {gvr: _tabs(gvr) for gvr in {**PANELS, **REVISIONS}}
