"""Context processor for the page frame: user, level, navigation and freshness.

It also runs for error pages and must accept any request: without a viewer, without a running
cluster, or with an invalid query. It starts no informers and sends no requests.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language

from console.ui.core.access import Access
from console.ui.core.clusters import HOST, Cluster, clusters
from console.ui.core.links import import_url
from console.ui.core.object_source import LIVE, LiveState, live_state
from console.ui.editing.creating import may_create_any
from console.ui.navigation.level import Level, level_of, may_see_platform, recent_levels
from console.ui.navigation.nav import LevelProblems, Navigation, level_problems, nav
from console.ui.navigation.projects import projects_in, visible_namespaces, visible_workspaces

THEMES = ("light", "dark", "auto")
THEME_COOKIE = "theme"


@dataclass(frozen=True, slots=True)
class LevelSwitcher:
    """The level of the page, and the levels the viewer can switch to.

    `clusters` contains the names of the clusters offered. `platform` is True if the platform is
    offered. `recent_levels` contains recently visited workspaces and projects. `problems` contains the
    failing objects of projects and workspaces, or None if they are not counted.
    """

    level: Level
    platform: bool = False
    clusters: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    recent: tuple[Level, ...] = ()
    problems: LevelProblems | None = None

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
    level, named = level_of(request, access)
    if named:
        # `console.web.middleware.LevelMiddleware` stores the level in a cookie.
        request.level = level  # type: ignore[attr-defined]
    return {
        **basis,
        "docked": False,
        "frame": "shell.html",
        "viewing": getattr(request, "viewing", None),
        "live": cluster_freshness(cluster) if cluster is not None else LiveState("off"),
        "scope": _scope(request, access, level),
        "nav": _nav(request, access, level),
        "create_from_yaml": _create_url(access, level),
    }


def _scope(request: HttpRequest, access: Access | None, level: Level) -> LevelSwitcher:
    if access is None:
        return LevelSwitcher(level)
    platform = may_see_platform(access)
    return LevelSwitcher(
        level,
        platform,
        tuple(one.name for one in clusters) if platform else (level.cluster,),
        visible_workspaces(access),
        projects_in(access, level.workspace) if level.workspace else visible_namespaces(access),
        recent_levels(request, access, level),
        level_problems(access),
    )


def _create_url(access: Access | None, level: Level) -> str:
    """Return the URL that creates objects from YAML, or "" if the viewer can't create any."""
    if access is None or not may_create_any(access):
        return ""
    return import_url(level.cluster, namespace=level.namespace)


def _nav(request: HttpRequest, access: Access | None, level: Level) -> Navigation:
    if access is None:
        return Navigation(())
    match = request.resolver_match
    current = str(match.kwargs.get("resource") or match.view_name or "") if match else ""
    return nav(access, level, current, pins_in(request, level.cluster))


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
