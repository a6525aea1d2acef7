"""Context processor for the page frame: user, level, navigation and freshness.

It also runs for error pages and must accept any request: without a viewer, without a running
cluster, or with an invalid query. It starts no informers and sends no requests.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, QueryDict
from django.utils.translation import get_language

from console.kube.gvr import NAMESPACES
from console.ui.core.access import Access
from console.ui.core.clusters import HOST, Cluster, clusters
from console.ui.core.links import create_page_url
from console.ui.core.object_source import LIVE, LiveState, live_state
from console.ui.editing.creating import may_create_any
from console.ui.navigation.level import Level, Orientation, orientation
from console.ui.navigation.nav import LevelProblems, Navigation, level_problems, nav
from console.ui.navigation.projects import projects_in, visible_namespaces, visible_workspaces
from console.ui.navigation.recent import recent_levels

THEMES = ("light", "dark", "auto")
THEME_COOKIE = "theme"


@dataclass(frozen=True, slots=True)
class LevelSwitcher:
    """The level of the page, and the levels the viewer can switch to.

    `clusters` contains the names of the clusters offered. `platform` is True if the platform is
    offered. `recent_levels` contains recently visited workspaces and projects. `problems` contains the
    failing objects of projects and workspaces, or None if they are not counted. `segment` is the kind
    whose lists projects link to, or "" for their overviews. `sees_cluster` is True if the viewer
    can see projects on the cluster's overview.
    """

    level: Level
    platform: bool = False
    clusters: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    recent: tuple[Level, ...] = ()
    problems: LevelProblems | None = None
    segment: str = ""
    sees_cluster: bool = False

    @property
    def cluster(self) -> str:
        return self.level.cluster

    @property
    def recent_workspaces(self) -> list[Level]:
        return [place for place in self.recent if place.name == "workspace"]

    @property
    def recent_projects(self) -> list[Level]:
        return [place for place in self.recent if place.name == "project"]

    @property
    def cluster_param(self) -> str:
        """Cluster parameter for URLs that don't contain the cluster, or "" for the host."""
        return "" if self.cluster == HOST else self.cluster


def shell(request: HttpRequest) -> dict[str, Any]:
    basis = {
        "theme": theme_of(request),
        "lang": get_language() or settings.LANGUAGE_CODE,
        "account": getattr(request, "account", None) or "",
    }
    if getattr(request, "docked", False):
        return {**basis, "docked": True, "frame": "docked.html"}
    access: Access | None = getattr(request, "access", None)
    # Error pages may have no cluster.
    cluster: Cluster | None = getattr(request, "cluster", None) or clusters.get(HOST)
    place = orientation_of(request, access)
    level, navigation = place.level, _nav(request, access, place)
    if place.named:
        # `console.web.middleware.RecentMiddleware` adds the level to the recent levels.
        request.level = level  # type: ignore[attr-defined]
    return {
        **basis,
        "docked": False,
        "frame": "shell.html",
        "viewing": getattr(request, "viewing", None),
        "live": cluster_freshness(cluster) if cluster is not None else LiveState("off"),
        "scope": _scope(request, access, place, navigation.listed),
        "title_place": (level.namespace or level.workspace) if place.named else "",
        "nav": navigation,
        "create_url": _create_url(access, level),
    }


def orientation_of(request: HttpRequest, access: Access | None) -> Orientation:
    """Return the level of the page that handles the request, also for invalid queries."""
    if access is None:
        return Orientation(Level("cluster", HOST))
    try:
        params = request.GET
    except SuspiciousOperation:
        params = QueryDict()
    return orientation(request.resolver_match, params, access)


def _scope(
    request: HttpRequest, access: Access | None, place: Orientation, segment: str
) -> LevelSwitcher:
    level, platform = place.level, place.platform
    if access is None:
        return LevelSwitcher(level)
    projects = (
        projects_in(access, level.workspace) if level.workspace else visible_namespaces(access)
    )
    return LevelSwitcher(
        level,
        platform,
        tuple(one.name for one in clusters) if platform else (level.cluster,),
        visible_workspaces(access),
        projects,
        recent_levels(request, access, level),
        level_problems(access),
        segment,
        bool(projects) or access.can("list", NAMESPACES),
    )


def _create_url(access: Access | None, level: Level) -> str:
    """Return the URL of the page with the kinds to create, or "" if the viewer can't create any."""
    if access is None or not may_create_any(access):
        return ""
    return create_page_url(level.cluster, level.namespace)


def _nav(request: HttpRequest, access: Access | None, place: Orientation) -> Navigation:
    if access is None:
        return Navigation(())
    return nav(access, place.level, place.current, pins_in(request, place.level.cluster))


def pins_in(request: HttpRequest, cluster: str) -> tuple[str, ...]:
    """Return the kinds that the viewer has pinned in the cluster's rail."""
    pins: Mapping[str, tuple[str, ...]] = getattr(request, "pins", {})
    return pins.get(cluster, ())


def theme_of(request: HttpRequest) -> str:
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in THEMES else "auto"


def cluster_freshness(cluster: Cluster) -> LiveState:
    """Return the overall state of the cluster's informers. Pages about one kind show the state of
    that kind instead.
    """
    informers = cluster.runtime.informers()
    states = [state for item in informers.values() if (state := live_state(item)) is not LIVE]
    stale = [state for state in states if state.state == "stale" and state.since is not None]
    if stale:
        return min(stale, key=lambda state: state.since.timestamp() if state.since else 0.0)
    return LIVE if informers else LiveState("off")
