"""Views that redirect KubeSphere's URLs. The patterns in `urls` validate all names."""

from urllib.parse import quote

from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse

from console.kube.gvr import PODS, USERS, Key
from console.pages.kubesphere import segments
from console.ui.core.clusters import HOST, Cluster, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.links import detail_url, terminal_url
from console.ui.core.requests import ConsoleRequest
from console.ui.details.panels.standard import tabs_of
from console.ui.lists.viewspec import ViewSpec
from console.ui.navigation.page_routes import find_kind
from console.views.guard import access_of
from console.views.page import page

#: KubeSphere's query parameters that filter a list, and their names here. Ordering and paging can't
#: be converted.
_FILTERS = {"keyword": "q", "labelSelector": "label", "name": "q", "namespace": "namespace"}


@page("GET")
async def kind_page(
    request: ConsoleRequest,
    words: segments.SegmentMap,
    word: str = "overview",
    cluster: Cluster | None = None,
    workspace: str = "",
    namespace: str = "",
    name: str = "",
    rest: str = "",
) -> HttpResponse:
    """Redirect to a list or an object of a kind, or to the closest page. `cluster` defaults to the
    host.
    """
    cluster = cluster or clusters.host
    of_workspace = workspace and cluster.name == HOST and words is segments.OF_PROJECT
    if of_workspace and word in segments.OF_WORKSPACE_PROJECT:
        return HttpResponseRedirect(reverse("workspace_project", args=(workspace, namespace)))
    kind = find_kind(cluster, words.get(word, word))
    if kind is None:
        if word not in words:
            raise Http404
        overview = "project_overview" if namespace else "cluster_overview"
        args = [*filter(None, (cluster.name, namespace))]
        return HttpResponseRedirect(reverse(overview, args=args))
    if name and kind.view.namespaced is bool(namespace):
        tab = _tab(kind, rest)
        return HttpResponseRedirect(
            detail_url(cluster.name, kind.segment, Key(namespace, name), tab)
        )
    return HttpResponseRedirect(_list_url(request, cluster.name, kind, namespace))


def _tab(kind: ResourceKind, rest: str) -> str:
    """Return the tab for the URL segment after the object's name; "" is the first tab."""
    tab = segments.TABS.get(rest, rest)
    return tab if any(tab == one.id for one in tabs_of(kind)[1:]) else ""


def _list_url(request: ConsoleRequest, cluster: str, kind: ResourceKind, namespace: str) -> str:
    """Return the URL of the list with all supported filters of the query. Unknown filters are
    ignored.
    """
    params = QueryDict(mutable=True)
    for theirs, ours in _FILTERS.items():
        if request.GET.get(theirs):
            params[ours] = request.GET[theirs]
    if namespace:
        params["namespace"] = namespace
    return ViewSpec.parse(kind, params, cluster=cluster).url


@page("GET")
async def workspace_page(
    request: ConsoleRequest, workspace: str, word: str, rest: str = ""
) -> HttpResponse:
    return HttpResponseRedirect(reverse(segments.OF_WORKSPACE[word], args=(workspace,)))


@page("GET")
async def member_page(
    request: ConsoleRequest, workspace: str, name: str, rest: str = ""
) -> HttpResponse:
    """Redirect to the account page, or to the members if the viewer may not see the account."""
    if access_of(request).can("get", USERS, name=name):
        return HttpResponseRedirect(reverse("accounts:administration:show", args=(name,)))
    return HttpResponseRedirect(reverse("workspace_members", args=(workspace,)))


@page("GET")
async def redirect_same_args(
    request: ConsoleRequest, to: str, rest: str = "", workspace: str = "", **names: str
) -> HttpResponse:
    """Redirect to the page `to`, which takes the same arguments, except `rest` and `workspace`."""
    return HttpResponseRedirect(reverse(to, kwargs=names))


@page("GET")
async def container_terminal(
    request: ConsoleRequest, cluster: Cluster, namespace: str, name: str, container: str
) -> HttpResponse:
    key = Key(namespace, name)
    return HttpResponseRedirect(terminal_url(cluster.name, PODS.resource, key, container))


@page("GET")
async def default_cluster(
    request: ConsoleRequest, default: str, before: str = "", rest: str = ""
) -> HttpResponse:
    """Redirect URLs of a single-cluster KubeSphere to the host cluster."""
    parts = [before, "clusters", HOST, rest]
    path = "/" + "/".join(quote(part) for part in parts if part)
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(f"{path}?{query}" if query else path)
