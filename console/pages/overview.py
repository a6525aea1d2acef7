"""Overview pages of the platform, a cluster and a project: problems, object counts, capacity and
recent changes.

All data is read from the shared cache and filtered by the viewer's permissions. Counts are
updated incrementally on read, so a page does not iterate over all objects (ADR 7). Browsers poll
the changing part with its ETag and receive 304 while it is unchanged.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.http import (
    Http404,
    HttpResponse,
    HttpResponseNotModified,
    HttpResponseRedirect,
    JsonResponse,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, override
from django.utils.translation import gettext as _

from console.kube.compatibility import NEWEST, OLDEST, release_text
from console.kube.gvr import (
    EVENTS,
    GVR,
    INGRESSES,
    JOBS,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    SERVICES,
    USERS,
    WORKLOADS,
    WORKSPACES,
    Key,
)
from console.kube.status import Severity
from console.pages.capacity import TIME_RANGES, capacity
from console.pages.changes import recent_changes
from console.pages.landing import administrator_contact, landing_url
from console.pages.quotas import quotas
from console.pages.rankings import rank_nodes, rank_projects
from console.ui.core.access import Access, may_list_everything
from console.ui.core.clusters import HOST, Cluster, clusters
from console.ui.core.menu import OVERVIEW, MenuEntry
from console.ui.core.page_data import PageData, load_page_data
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate_message
from console.ui.details.detail import ObjectHead, TabLink, object_head
from console.ui.diagnosis.attention import (
    AttentionLine,
    attention,
    cached_types,
    checked_types,
    update_problem_indexes,
)
from console.ui.fragments.cached_fragments import render_fragment
from console.ui.fragments.empty_states import EmptyState
from console.ui.lists.selection import ensure_current
from console.ui.lists.summary import TallyItem, make_tally
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.counts import counts_of
from console.ui.navigation.level import Level
from console.ui.navigation.nav import update_counts
from console.ui.navigation.page_frame import cluster_freshness
from console.ui.navigation.projects import MANAGED, known_namespaces, workspace_of
from console.ui.navigation.recent import last_level
from console.ui.usage.gauges import HOUR, Gauge
from console.ui.usage.reading import CapacityView
from console.views.back_link import Crumb, ObjectPath, object_path
from console.views.denial import withheld_page
from console.views.guard import access_of
from console.views.page import page

#: Counted kinds of each page.
PLATFORM = (WORKSPACES, USERS, NAMESPACES, NODES, PODS)
CLUSTER = (NODES, NAMESPACES, PODS, *WORKLOADS, JOBS, SERVICES, INGRESSES, PERSISTENT_VOLUME_CLAIMS)
PROJECT = (PODS, *WORKLOADS, JOBS, SERVICES, INGRESSES, PERSISTENT_VOLUME_CLAIMS)


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """Cluster in the list of clusters. `ready` is the number of ready nodes out of `rank_nodes`."""

    name: str
    url: str
    ready: int
    nodes: int
    gauges: tuple[Gauge, ...]


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Kubernetes version of a cluster. `text` reports whether it is supported. `protections` and
    `limitations` list missing features.
    """

    title: str
    supported: bool
    text: str
    protections: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProjectHeader:
    """Project of an overview page."""

    object: ObjectHead
    tabs: tuple[TabLink, ...]
    crumbs: tuple[Crumb, ...]


@page("GET")
async def home(request: ConsoleRequest) -> HttpResponse:
    """GET /: redirect to the last visited page, or else to the user's start page."""
    access = access_of(request)
    last = last_level(request, access)
    return HttpResponseRedirect(last.url if last is not None else await landing_url(access))


@page("GET", menu=MenuEntry(("platform",), *OVERVIEW))
async def dashboard(request: ConsoleRequest) -> HttpResponse:
    """GET /dashboard: everything visible to the viewer.

    Viewers without permissions in this cluster are redirected to the pages they may see.
    """
    gvrs = (*PLATFORM, *checked_types(), *WORKLOADS, EVENTS)
    sight = await _visible_objects(access_of(request), gvrs)
    title = _("Overview")
    if sight.nothing_visible:
        begin = await landing_url(sight.access)
        if begin != request.path:
            return HttpResponseRedirect(begin)
        values = {"state": _nothing(request), "asking": administrator_contact(sight.access)}
        return await _answer(request, title, values)
    usage = await capacity(sight)
    return await _answer(
        request,
        title,
        {
            "figures": await kind_counts(sight, PLATFORM),
            "usage": usage,
            "attention": attention(sight),
            "clusters": _clusters(sight, usage),
            "projects": await rank_projects(sight),
            "changes": await recent_changes(sight),
        },
    )


@page(
    "GET",
    menu=MenuEntry(
        *(("platform",), 10, gettext_lazy("Clusters"), "server"),
        lambda access: access.can("list", NODES),
    ),
)
async def cluster_list(request: ConsoleRequest) -> HttpResponse:
    """GET /clusters: the clusters whose nodes the viewer may list."""
    identity = access_of(request).identity
    sights = [await load_page_data(one.access_for(identity), (NODES, PODS)) for one in clusters]
    rows = [row for sight in sights for row in _clusters(sight, await capacity(sight))]
    values = {"clusters": rows} if rows else {"state": _nothing(request)}
    return await _answer(request, _("Clusters"), values)


@page("GET", formats=("json",), menu=MenuEntry(("cluster",), *OVERVIEW))
async def cluster_overview(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """GET /clusters/{cluster}, as data with the problems only."""
    sight = await _visible_objects(access_of(request), (*CLUSTER, *checked_types(), EVENTS))
    title = _("Cluster %(name)s") % {"name": cluster.name}
    if request.GET.get("format") == "json":
        return _data(sight)
    if sight.nothing_visible:
        # No 403, because every menu links to this page.
        return await _answer(request, title, {"state": _nothing(request)})
    usage = await capacity(sight, _span(request))
    return await _answer(
        request,
        title,
        {
            "figures": await kind_counts(sight, CLUSTER),
            "usage": usage,
            "attention": attention(sight),
            "server": _server(sight.access),
            "capacity": usage,
            "nodes": await rank_nodes(sight),
            "projects": await rank_projects(sight),
            "changes": await recent_changes(sight),
        },
    )


@page("GET", formats=("json",), menu=MenuEntry(("project",), *OVERVIEW))
async def project_overview(
    request: ConsoleRequest, cluster: Cluster, namespace: str, workspace: str = ""
) -> HttpResponse:
    """GET /clusters/{cluster}/projects/{namespace}, as data with the problems only.

    For clusters other than the host, the URL is /workspaces/{workspace}/clusters/… if the viewer
    may see the project's workspace. The response to a forbidden request does not depend on
    whether the project exists.
    """
    gvrs = (*PROJECT, *checked_types(), EVENTS)
    sight = await _visible_objects(access_of(request), gvrs, (namespace,))
    key, kind = Key("", namespace), cluster.kinds.of(NAMESPACES)
    path = object_path(request, kind, sight.access, key) if kind is not None else None
    with_list = path.with_list if path is not None and path.query is not None else None
    found = object_head(sight.access, NAMESPACES, key, with_list)
    as_data = request.GET.get("format") == "json"
    if sight.nothing_visible and found is not None and not as_data:
        return HttpResponseRedirect(found.details_url)
    if sight.nothing_visible and sight.access.can("get", NAMESPACES, name=namespace):
        raise Http404
    if sight.nothing_visible:
        text = _("You don't have permission to view anything in project %(name)s.") % {
            "name": escape_invisible(namespace)
        }
        return withheld_page(request, text, _("Project"))
    known = known_namespaces(sight.access)
    if known is not None and namespace not in known:
        raise Http404
    if as_data:
        return _data(sight)
    owner = workspace_of(sight.access, namespace) if cluster.name != HOST else ""
    if owner != workspace:
        url = Level("project", cluster.name, owner, namespace).url
        query = request.META.get("QUERY_STRING", "")
        return HttpResponseRedirect(f"{url}?{query}" if query else url)
    usage = await capacity(sight, _span(request))
    return await _answer(
        request,
        _("Project %(name)s") % {"name": escape_invisible(namespace)},
        {
            "figures": await kind_counts(sight, PROJECT),
            "usage": usage,
            "attention": attention(sight),
            "capacity": usage,
            "quotas": quotas(sight),
            "changes": await recent_changes(sight),
        },
        _project(sight.access, found, path) if found is not None and path is not None else None,
    )


def _data(sight: PageData) -> JsonResponse:
    # Values in JSON are never translated.
    with override(None):
        found = attention(sight)
        return JsonResponse(
            {
                "problems": [_problem(line) for line in found.lines],
                "more": [
                    {"severity": one.severity, "word": str(one.word), "count": one.count}
                    for one in found.rests
                ],
                "loading": [str(one) for one in found.loading],
            }
        )


def _problem(line: AttentionLine) -> dict[str, Any]:
    return {
        "kind": str(line.noun),
        "namespace": line.namespace,
        "name": line.name,
        "url": line.url,
        "severity": line.state.severity,
        "state": str(line.state.word),
        "alsoIn": [str(one.word) for one in line.also],
        "count": line.count,
        "cause": line.reason,
        "message": line.said,
        "since": line.since.isoformat() if line.since else None,
    }


async def _visible_objects(
    access: Access, gvrs: Sequence[GVR], namespaces: tuple[str, ...] = ()
) -> PageData:
    every = tuple(dict.fromkeys((*gvrs, *cached_types(access.cluster))))
    sight = await load_page_data(access, every, namespaces=namespaces)
    await update_problem_indexes(sight)
    return sight


def _span(request: ConsoleRequest) -> int:
    """Return the time range of the plots in seconds from `?range=`, one hour by default."""
    return TIME_RANGES.get(request.GET.get("range", ""), HOUR)


def _server(access: Access) -> ServerInfo | None:
    """Return the cluster's version, or None if it is unknown. Only users who can list everything see
    what the version lacks.
    """
    served = access.cluster.runtime.served
    version = served.version
    if version is None:
        return None
    words = {"oldest": release_text(OLDEST), "newest": release_text(NEWEST)}
    text = _("Supported (%(oldest)s to %(newest)s)") % words
    if not version.supported:
        text = _("Not supported (supported versions: %(oldest)s to %(newest)s)") % words
    elif version.release > NEWEST:
        text = _("Newer than the tested versions (%(oldest)s to %(newest)s)") % words
    title = _("Kubernetes %(version)s") % {"version": escape_invisible(version.name)}
    missing = served.limitations
    if not may_list_everything(access):
        missing = ()
    return ServerInfo(
        title,
        version.supported,
        text,
        tuple(translate_message(one.text) for one in missing if one.protection),
        tuple(translate_message(one.text) for one in missing if not one.protection),
    )


def _clusters(sight: PageData, found: CapacityView | None) -> tuple[ClusterRow, ...]:
    """Return the cluster if the viewer may list its nodes."""
    seen = sight.get(NODES)
    if seen is None or found is None:
        return ()
    numbers = counts_of(seen.kind, seen.informer).of(seen.readable)
    total = sum(numbers.values())
    bad = numbers[Severity.ERROR] + numbers[Severity.UNKNOWN]
    name = sight.cluster.name
    url = reverse("cluster_overview", args=(name,))
    return (ClusterRow(name, url, total - bad, total, found.gauges),)


async def _answer(
    request: ConsoleRequest,
    title: str | Promise,
    values: Mapping[str, Any],
    of: ProjectHeader | None = None,
) -> HttpResponse:
    body = render_fragment("ui/_overview.html", dict(values))
    state = (of, body.pieces, body.placeholders, cluster_freshness(request.cluster), get_language())
    etag = f'"{hashlib.sha256(repr(state).encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == etag:
        return HttpResponseNotModified(headers={"ETag": etag})
    await update_counts(request.cluster)
    context = {
        "title": title,
        # Not part of the ETag: it depends on the page the user came from.
        "of": of,
        "body": body.html(),
        "etag": etag,
        "updated": datetime.now(UTC),
    }
    response = render(request, "console/overview.html", context)
    response["ETag"] = etag
    return response


def _project(access: Access, object_: ObjectHead, path: ObjectPath) -> ProjectHeader:
    workspace: str = object_.entry.projection.workspace
    tabs, crumbs = path.tabs(object_.tabs), path.crumbs(inside=False)
    # Only the host cluster has workspace pages.
    on_host = workspace and access.cluster.name == HOST
    if on_host and access.can("get", WORKSPACES, name=workspace):
        first, *others = tabs
        manage = reverse("workspace_project", args=(workspace, object_.name))
        tabs = (first, TabLink(MANAGED, manage, current=False, elsewhere=True), *others)
    return ProjectHeader(object_, tabs, crumbs)


def _nothing(request: ConsoleRequest) -> EmptyState:
    return EmptyState(
        "first-use",
        _("You don't have access to any workspace or project yet"),
        _(
            "You are signed in as %(who)s. Ask an administrator of a workspace or a project to "
            "add you. The resources that you can view then appear here."
        )
        % {"who": escape_invisible(request.account or "")},
    )


@dataclass(frozen=True, slots=True)
class KindCount:
    """Number of objects of a kind by state. `failing_url` links to a list of the failing objects."""

    label: str | Promise
    count: int
    url: str
    failing: int
    failing_url: str
    tally: tuple[TallyItem, ...]


async def kind_counts(sight: PageData, gvrs: Sequence[GVR]) -> tuple[KindCount, ...]:
    """Return the number of objects of each kind by state, with links to matching lists."""
    found = []
    for seen in sight.all(gvrs):
        counts = counts_of(seen.kind, seen.informer)
        await ensure_current(counts)
        numbers = counts.of(seen.readable, seen.wanted)
        spec = ViewSpec(seen.kind, seen.cluster.name).with_values("namespace", seen.wanted)
        found.append(
            KindCount(
                seen.kind.title,
                sum(numbers.values()),
                spec.url,
                numbers[Severity.ERROR] if seen.kind.status_column else 0,
                spec.with_values("status", (Severity.ERROR.value,)).url,
                make_tally(spec, numbers),
            )
        )
    return tuple(found)
