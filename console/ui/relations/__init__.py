"""What belongs to what: panels about the other objects around one.

`PANELS`, `REVISIONS`, `ROLLOUTS` and `CAUSES` say which of them each kind gets: for a tab about the
objects around it, for one about its past, and the latter two for its first. A type that is in neither of
the former two has no such tab.
"""

from collections.abc import Iterator, Mapping

from console.kube import gvr as types
from console.kube.gvr import GVR
from console.ui.panels import Panel
from console.ui.relations.endpoints import EndpointsCause, EndpointsPanel
from console.ui.relations.map import MapPanel
from console.ui.relations.naming import NAMES, named_by
from console.ui.relations.nodepods import PodsPanel
from console.ui.relations.owned import OwnedPanel
from console.ui.relations.references import TEMPLATES
from console.ui.relations.revisions import RevisionsPanel
from console.ui.relations.rollout import RolloutCause, RolloutPanel
from console.ui.relations.selected import SelectedPodsPanel
from console.ui.relations.selecting import SELECTING
from console.ui.relations.storageclass import StorageClassCause
from console.ui.relations.usedby import UsedByPanel
from console.ui.relations.uses import UsesPanel

_TYPES = dict.fromkeys((*NAMES, *(gvr for named in NAMES.values() for gvr in named), *SELECTING))
_REVISED = (types.DEPLOYMENTS, types.STATEFUL_SETS, types.DAEMON_SETS)


def _panels(gvr: GVR) -> Iterator[Panel]:
    if gvr == types.NODES:
        yield PodsPanel()
        return
    names, by_name = NAMES.get(gvr, ()), named_by(gvr)
    by_selector = SELECTING if gvr == types.PODS or gvr in TEMPLATES else ()
    if gvr == types.SERVICES:
        yield EndpointsPanel()
    elif gvr in TEMPLATES:
        yield OwnedPanel(gvr=gvr)
    if gvr in SELECTING:
        yield SelectedPodsPanel()
    if names:
        yield UsesPanel(types=names)
    if by_name or by_selector:
        yield UsedByPanel(by_name=by_name, by_selector=by_selector)
    yield MapPanel(gvr=gvr, types=names, by_name=by_name, by_selector=by_selector)


PANELS: Mapping[GVR, tuple[Panel, ...]] = {gvr: tuple(_panels(gvr)) for gvr in _TYPES}
REVISIONS: Mapping[GVR, tuple[Panel, ...]] = {gvr: (RevisionsPanel(gvr=gvr),) for gvr in _REVISED}
ROLLOUTS: Mapping[GVR, tuple[Panel, ...]] = {gvr: (RolloutPanel(gvr=gvr),) for gvr in _REVISED}
#: Kinds of whose trouble other objects tell.
CAUSES: Mapping[GVR, Panel] = {
    **{gvr: RolloutCause(gvr=gvr) for gvr in _REVISED},
    types.SERVICES: EndpointsCause(),
    types.PERSISTENT_VOLUME_CLAIMS: StorageClassCause(),
}

__all__ = ["CAUSES", "PANELS", "REVISIONS", "ROLLOUTS"]
