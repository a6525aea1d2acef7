"""All screens of one loop, and who finds which."""

from collections.abc import Hashable, Mapping
from contextlib import ExitStack, suppress
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.live.detailview import DetailView
from console.live.hub import get_hub
from console.live.pacer import get_pacer
from console.live.pageview import PageView
from console.live.perloop import PerLoop
from console.live.screen import Screen, View, Viewer
from console.live.view import Known, LiveView
from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.detail import informers_for
from console.ui.kind import ResourceKind
from console.ui.places import DetailPlace, ListPlace, PagePlace
from console.ui.reading import objects_of, source_of

FollowedPlace = ListPlace | DetailPlace | PagePlace
_Name = tuple[Cluster, ResourceKind, Hashable, str, str, Hashable]


class Screens:
    def __init__(self) -> None:
        self._screens: dict[_Name, Screen] = {}

    def __len__(self) -> int:
        return len(self._screens)

    def show(self, viewer: Viewer, place: FollowedPlace, lang: str, known: Known) -> Screen:
        """Puts `viewer`, whose browser has `known`, on the screen it shares. It is on that one alone.

        Raises `Denied`, `TooManyProjects` or `UnknownKind`, and then it is on none.
        """
        self.leave(viewer)
        cluster, kind = place.cluster, place.kind
        access = viewer.access_in(cluster)
        # Before the informer: nobody makes the console watch what they may not see.
        rights = place.rights(access)
        name = (cluster, kind, source_of(kind, access), place.url, lang, rights)
        screen = self._screens.get(name) or self._open(name, place, access)
        screen.join(viewer, known)
        return screen

    def _open(self, name: _Name, place: FollowedPlace, access: Access) -> Screen:
        _cluster, kind, _source, _url, lang, rights = name
        with ExitStack() as stack:
            key = place.key if isinstance(place, DetailPlace) else None
            informer = stack.enter_context(objects_of(kind, access, place.namespaces, key))
            view = _view(place, lang, informer, access)
            screen = Screen(place, lang, rights, view, get_hub(), get_pacer(), self.show)
            reading = stack.pop_all()
        screen.on_empty = lambda: self._drop(name, reading)
        self._screens[name] = screen
        return screen

    def leave(self, viewer: Viewer) -> None:
        if viewer.screen is not None:
            viewer.screen.leave(viewer)

    def decide_anew(self, cluster: Cluster | None = None) -> None:
        """Rights changed, and nobody knows whose: in this cluster, or in all."""
        for screen in self._screens.values():
            if cluster is None or screen.cluster is cluster:
                screen.decide_anew()

    def _drop(self, name: _Name, reading: ExitStack) -> None:
        del self._screens[name]
        reading.close()


def _view(place: FollowedPlace, lang: str, informer: Informer[Any], access: Access) -> View:
    if isinstance(place, DetailPlace):
        return DetailView(place, lang, informer, informers_for(place, access))
    if isinstance(place, PagePlace):
        return PageView(place, lang, informer, _others(place))
    return LiveView(place.spec, lang, informer, place.cluster.usage)


def _others(place: PagePlace) -> Mapping[GVR, Informer[Any]]:
    """Of what the cluster has of them."""
    found: dict[GVR, Informer[Any]] = {}
    for gvr in place.types:
        if gvr != place.kind.gvr:
            with suppress(UnknownKind):
                found[gvr] = place.cluster.runtime.informer(gvr)
    return found


#: The running loop's screens.
get_screens = PerLoop(Screens)
