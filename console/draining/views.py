"""The address of a drain's progress."""

from django.http import HttpResponse

from console.draining.actions import Drain
from console.draining.progress import progress_html
from console.kube.gvr import Key
from console.ui.clusters import Cluster
from console.ui.decisions import check_seen
from console.ui.http import ConsoleRequest
from console.ui.reading import find_entry
from console.views.actions import FIND_WAIT, find_action
from console.views.guard import access_of
from console.views.page import page


@page("GET")
async def drain_progress(
    request: ConsoleRequest, cluster: Cluster, resource: str, name: str
) -> HttpResponse:
    """Nothing for a node that is gone: then it is not asked for again."""
    kind, _action = find_action(cluster, "", resource, Drain.name)
    access, key = access_of(request), Key("", name)
    check_seen(kind, access, key)
    entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    return HttpResponse(await progress_html(access, kind, entry) if entry is not None else "")
