"""Registry of the shared views of one event loop."""

from collections.abc import Hashable, Mapping
from contextlib import ExitStack, suppress
from typing import Any

from console.kube.factory import UnknownKind
from console.kube.gvr import GVR
from console.kube.informer import Informer
from console.live.detailview import DetailView
from console.live.hub import get_hub
from console.live.listview import ListView
from console.live.perloop import PerLoop
from console.live.scheduler import get_scheduler
from console.live.sharedview import SharedView, Viewer
from console.live.view import ClientState, PageView, View
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind
from console.ui.core.object_source import open_source, source_key
from console.ui.details.detail import start_informers
from console.ui.navigation.page_routes import DetailRoute, ListRoute, PageRoute

LivePage = ListRoute | DetailRoute | PageRoute
_Name = tuple[Cluster, ResourceKind, Hashable, str, str, Hashable]


class SharedViews:
    def __init__(self) -> None:
        self._shared_views: dict[_Name, SharedView] = {}

    def __len__(self) -> int:
        return len(self._shared_views)

    def join_view(
        self, viewer: Viewer, place: LivePage, lang: str, known: ClientState
    ) -> SharedView:
        """Move `viewer`, whose browser has state `known`, to the shared view of its page, language
        and permissions.

        Raise `Denied`, `TooManyProjects` or `UnknownKind`; the viewer is then on no shared view.
        """
        self.leave(viewer)
        cluster, kind = place.cluster, place.kind
        access = viewer.access_in(cluster)
        # Before the informer is started: users must not start watches of resources they can't read.
        rights = place.rights(access)
        name = (cluster, kind, source_key(kind, access), place.url, lang, rights)
        shared_view = self._shared_views.get(name) or self._open(name, place, access)
        shared_view.join(viewer, known)
        return shared_view

    def _open(self, name: _Name, place: LivePage, access: Access) -> SharedView:
        _cluster, kind, _source, _url, lang, rights = name
        with ExitStack() as stack:
            key = place.key if isinstance(place, DetailRoute) else None
            informer = stack.enter_context(open_source(kind, access, place.namespaces, key))
            view = _view(place, lang, informer, access)
            shared_view = SharedView(
                place, lang, rights, view, get_hub(), get_scheduler(), self.join_view
            )
            reading = stack.pop_all()
        shared_view.on_empty = lambda: self._drop(name, reading)
        self._shared_views[name] = shared_view
        return shared_view

    def leave(self, viewer: Viewer) -> None:
        if viewer.shared_view is not None:
            viewer.shared_view.leave(viewer)

    def recheck_permissions(self, cluster: Cluster | None = None) -> None:
        """Evaluate permissions again in all views of a cluster, or of all clusters."""
        for shared_view in self._shared_views.values():
            if cluster is None or shared_view.cluster is cluster:
                shared_view.recheck_permissions()

    def _drop(self, name: _Name, reading: ExitStack) -> None:
        del self._shared_views[name]
        reading.close()


def _view(place: LivePage, lang: str, informer: Informer[Any], access: Access) -> View:
    if isinstance(place, DetailRoute):
        others = start_informers(place.needs, access)
        return DetailView(place, lang, informer, others, place.cluster.usage)
    if isinstance(place, PageRoute):
        return PageView(place, lang, informer, _others(place))
    causes = start_informers(place.kind.cause_types(), access)
    return ListView(place.spec, lang, informer, place.cluster.usage, causes)


def _others(place: PageRoute) -> Mapping[GVR, Informer[Any]]:
    """Return the informers of the page's other types that exist in the cluster."""
    found: dict[GVR, Informer[Any]] = {}
    for gvr in place.types:
        if gvr != place.kind.gvr:
            with suppress(UnknownKind):
                found[gvr] = place.cluster.runtime.informer(gvr)
    return found


#: Return the running event loop's shared views.
get_shared_views = PerLoop(SharedViews)
