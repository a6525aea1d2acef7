"""Page that lists the kinds that the viewer may create."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.names import is_dns_label
from console.saved.templates import templates_of
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.kind import NAV_GROUPS, ResourceKind
from console.ui.core.links import import_url, started_url
from console.ui.core.requests import ConsoleRequest
from console.ui.editing.creating import creations, may_create_any
from console.ui.navigation.projects import visible_workspace_uids
from console.views.errors import error_page
from console.views.guard import access_of
from console.views.page import page

#: Maximum characters of the search text.
MAX_QUERY = 100


@dataclass(frozen=True, slots=True)
class CreationGroup:
    """Kinds of a group of `NAV_GROUPS`, with the URLs of the pages that create them."""

    name: str
    label: str | Promise
    items: tuple[tuple[ResourceKind, str], ...]


@dataclass(frozen=True, slots=True)
class ExampleLink:
    """An example or a template that the viewer may create."""

    title: str | Promise
    kind: str | Promise
    hint: str | Promise
    url: str


@page("GET")
async def create_page(request: ConsoleRequest, cluster: Cluster) -> HttpResponse:
    """GET /clusters/{cluster}/new, with `q`, part of a kind's name, and `namespace`."""
    access, namespace = access_of(request), request.GET.get("namespace", "")
    if namespace and not is_dns_label(namespace):
        raise Http404
    if not may_create_any(access):
        text = _("You don't have permission to create objects in this cluster.")
        return error_page(request, 403, text)
    wanted = request.GET.get("q", "").strip()[:MAX_QUERY]
    common: list[tuple[ResourceKind, str]] = []
    rare: list[tuple[ResourceKind, str]] = []
    for one in _creatable(access, wanted.casefold(), namespace):
        (common if _is_common(one[0]) else rare).append(one)
    groups = _groups(common)
    context = {
        "groups": groups,
        "rare": _groups(rare),
        "rare_count": len(rare),
        "examples": [
            ExampleLink(one.title, kind.singular, one.hint, started_url(url, example=one.id))
            for group in groups
            for kind, url in group.items
            for one in kind.examples
        ],
        "templates": await _templates(access, (*common, *rare)),
        "q": wanted,
        "namespace": namespace,
        "import_url": import_url(cluster.name, namespace=namespace),
    }
    return render(request, "console/create.html", context)


async def _templates(
    access: Access, found: Sequence[tuple[ResourceKind, str]]
) -> list[ExampleLink]:
    """Return the templates of the viewer's workspaces that create objects of these kinds."""
    workspaces = visible_workspace_uids(access)
    offered = {kind.segment: (kind, url) for kind, url in found}
    stored = await sync_to_async(templates_of)(workspaces) if workspaces and offered else []
    return [
        ExampleLink(
            one.name,
            offered[one.kind][0].singular,
            one.description or _("Workspace %(name)s") % {"name": workspaces[one.workspace]},
            started_url(offered[one.kind][1], template=str(one.pk)),
        )
        for one in stored
        if one.kind in offered
    ]


def _is_common(kind: ResourceKind) -> bool:
    """Return True for kinds with a declared form. Objects of other kinds are mostly created by
    controllers or from files.
    """
    return kind.wizard is not None or type(kind).create_url is not ResourceKind.create_url


def _creatable(access: Access, wanted: str, namespace: str) -> list[tuple[ResourceKind, str]]:
    """Return the kinds that the viewer may create, with the URLs of the pages that create them."""
    kinds = access.cluster.kinds
    named = (
        kind
        for kind in (*kinds.creatable, *kinds.customs)
        if wanted in str(kind.singular).casefold() or wanted in kind.segment
    )
    return [*creations(access, named, namespace)]


def _groups(found: Iterable[tuple[ResourceKind, str]]) -> list[CreationGroup]:
    by_group: dict[str, list[tuple[ResourceKind, str]]] = {name: [] for name in NAV_GROUPS}
    for kind, url in found:
        by_group[kind.nav.group].append((kind, url))
    return [
        CreationGroup(name, NAV_GROUPS[name], tuple(sorted(items, key=lambda one: one[0].nav.rank)))
        for name, items in by_group.items()
        if items
    ]
