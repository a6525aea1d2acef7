"""What every page has around its content: who looks, at what, how fresh, and the way elsewhere.

A context processor. It runs for error pages too, so it takes a request in any state: without a viewer,
without a runtime, with a query that cannot be parsed. It starts no informer and calls nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language

from console.ui.access import Access
from console.ui.clusters import HOST, Cluster, clusters
from console.ui.creating import may_create_any
from console.ui.freshness import LIVE, LiveState, live_state
from console.ui.level import Level, level_of, may_see_platform, recent
from console.ui.links import import_url
from console.ui.nav import Navigation, PlaceProblems, nav, place_problems
from console.ui.projects import projects_in, visible_namespaces, visible_workspaces

THEMES = ("light", "dark", "auto")
THEME_COOKIE = "theme"


@dataclass(frozen=True, slots=True)
class ScopeView:
    """Where one is, and what else there is for the viewer. `clusters`: names of those that one
    is led to; `platform`: whether the viewer is led there. `recent`: workspaces and projects where they
    were. `problems`: of projects and workspaces; None where nobody counts."""

    level: Level
    platform: bool = False
    clusters: tuple[str, ...] = ()
    workspaces: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    recent: tuple[Level, ...] = ()
    problems: PlaceProblems | None = None

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
    def member(self) -> str:
        """The cluster that pages which are not below one's address must be told; "" for the host."""
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
    # Also of a page for which nobody has said so, as one of an error.
    cluster: Cluster | None = getattr(request, "cluster", None) or clusters.get(HOST)
    level, named = level_of(request, access)
    if named:
        # The browser is told to remember it (`console.middleware.LevelMiddleware`).
        request.level = level  # type: ignore[attr-defined]
    return {
        **basis,
        "docked": False,
        "frame": "shell.html",
        "viewing": getattr(request, "viewing", None),
        "live": live_of(cluster) if cluster is not None else LiveState("off"),
        "scope": _scope(request, access, level),
        "nav": _nav(request, access, level),
        "create_from_yaml": _create_url(access, level),
    }


def _scope(request: HttpRequest, access: Access | None, level: Level) -> ScopeView:
    if access is None:
        return ScopeView(level)
    platform = may_see_platform(access)
    return ScopeView(
        level,
        platform,
        tuple(one.name for one in clusters) if platform else (level.cluster,),
        visible_workspaces(access),
        projects_in(access, level.workspace) if level.workspace else visible_namespaces(access),
        recent(request, access, level),
        place_problems(access),
    )


def _create_url(access: Access | None, level: Level) -> str:
    """Where anything is made from manifests; "" for whoever may make nothing."""
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
    """The kinds that the viewer has pinned to the cluster's rail."""
    pins: Mapping[str, tuple[str, ...]] = getattr(request, "pins", {})
    return pins.get(cluster, ())


def theme_of(request: HttpRequest) -> str:
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in THEMES else "auto"


def live_of(cluster: Cluster) -> LiveState:
    """Of the page as a whole. Pages about one kind say their own instead."""
    informers = cluster.runtime.informers()
    states = [state for item in informers.values() if (state := live_state(item)) is not LIVE]
    stale = [state for state in states if state.state == "stale" and state.since is not None]
    if stale:
        return min(stale, key=lambda state: state.since.timestamp() if state.since else 0.0)
    return LIVE if informers else LiveState("off")
