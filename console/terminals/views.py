"""Terminal page: `…/pods/{name}/terminal`. Without JavaScript, it shows the equivalent kubectl
command.
"""

from urllib.parse import quote

from django.http import Http404, HttpResponseBase
from django.shortcuts import render

from console.kube.errors import NotFound
from console.kube.gvr import PODS, Key
from console.logs.containers import NoContainer
from console.logs.query import BadQuery
from console.terminals.query import SHELLS, TerminalQuery, read_query
from console.terminals.target import find_target
from console.ui.core.clusters import Cluster
from console.ui.core.container_actions import attach_command, exec_command
from console.ui.core.requests import ConsoleRequest, tab_name
from console.ui.navigation.page_routes import find_kind
from console.views.back_link import object_path
from console.views.errors import error_page, object_not_found
from console.views.guard import access_of
from console.views.page import page


@page("GET", dockable=True)
async def terminal_page(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponseBase:
    kind = find_kind(cluster, resource)
    if kind is None or kind.gvr != PODS:
        raise Http404
    try:
        query = read_query(request.GET)
    except BadQuery as error:
        return error_page(request, 400, str(error))
    key = Key(namespace, name)
    try:
        target = await find_target(kind, access_of(request), key, query)
    except NoContainer as error:
        return error_page(request, 400, str(error))
    except NotFound:
        return object_not_found(request, kind, key)
    viewing = getattr(request, "viewing", None)
    looks_only = viewing is not None and not viewing.writes
    if query.attach:
        command = attach_command(key, target.container)
    else:
        command = exec_command(key, target.container, query.shell)
    path = object_path(request, kind, access_of(request), key)
    context = {
        "kind": kind.view,
        "name": name,
        "crumbs": path.crumbs(),
        "list": path.query,
        "query": query,
        "tab_name": tab_name(name, target.container),
        "below_url": f"?{query.encoded()}",
        "target": target,
        "shells": SHELLS,
        "looks_only": looks_only,
        "command": command,
        "socket_url": "" if target.problem or looks_only else socket_url(cluster.name, key, query),
    }
    return render(request, "console/terminal.html", context)


def socket_url(cluster: str, key: Key, query: TerminalQuery) -> str:
    names = map(quote, (cluster, key.namespace, key.name))
    path = "/ws/clusters/{}/projects/{}/pods/{}/terminal".format(*names)
    return f"{path}?{query.encoded()}"
