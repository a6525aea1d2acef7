"""`…/pods/{name}/terminal/starting`: progress of a container's startup; redirects to its terminal
afterwards.
"""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from console.kube.gvr import PODS, Key
from console.kube.status import Severity
from console.kube.store import Entry
from console.ui.core.clusters import Cluster
from console.ui.core.links import terminal_url
from console.ui.core.manifests import mapping, text
from console.ui.core.object_source import find_entry
from console.ui.core.permissions import check_visible
from console.ui.core.podspecs import ContainerView, containers_of
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.diagnosis.diagnosis import diagnose, diagnose_container
from console.ui.navigation.page_routes import find_kind
from console.views.actions import FIND_WAIT
from console.views.back_link import object_path
from console.views.errors import error_page, object_not_found
from console.views.guard import access_of
from console.views.page import page

#: Seconds between two polls.
POLL_SECONDS = 1


@dataclass(frozen=True, slots=True)
class StartupState:
    """Startup state of a container. `reason` is Kubernetes' message, or ""."""

    severity: Severity
    text: str | Promise
    reason: str = ""


@page("GET")
async def starting_page(
    request: ConsoleRequest, cluster: Cluster, namespace: str, resource: str, name: str
) -> HttpResponse:
    """GET: show the startup of `container`."""
    kind = find_kind(cluster, resource)
    if kind is None or kind.gvr != PODS:
        raise Http404
    access, key = access_of(request), Key(namespace, name)
    check_visible(kind, access, key)
    entry = await find_entry(kind, access, key, seconds=FIND_WAIT)
    if entry is None:
        return object_not_found(request, kind, key)
    wanted = request.GET.get("container", "")
    container = next((one for one in containers_of(entry.original()) if one.name == wanted), None)
    if container is None:
        words = {"container": escape_invisible(wanted)}
        return error_page(request, 404, _("No container %(container)s found in the pod.") % words)
    if container.since is not None:
        url = terminal_url(cluster.name, kind.segment, key, wanted, attach=True)
        return HttpResponseRedirect(url)
    path = object_path(request, kind, access, key)
    context = {
        "kind": kind.view,
        "name": key.name,
        "crumbs": path.crumbs(),
        "url": path.object_url,
        "container": container,
        "step": _step(entry, container),
        "every": POLL_SECONDS,
    }
    return render(request, "console/starting.html", context)


def _step(entry: Entry[Any], container: ContainerView) -> StartupState:
    manifest, ended = entry.original(), container.ended
    status = mapping(manifest, "status")
    if ended is not None and not ended.code:
        return StartupState(
            Severity.DONE, _("The container terminated: %(how)s.") % {"how": ended.how}
        )
    if container.severity == Severity.ERROR:
        cause = diagnose_container(container)
        return StartupState(Severity.ERROR, cause.text, cause.reason)
    # Problems of a running pod don't delay the container.
    if status.get("phase") != "Running" and (found := diagnose(manifest)) is not None:
        return StartupState(Severity.WARN, found.text, found.reason)
    if entry.projection.ended:
        reasons = map(text, (status.get("reason"), status.get("message")))
        return StartupState(
            Severity.ERROR, _("The pod terminated."), ": ".join(filter(None, reasons))
        )
    if not container.waiting:
        return StartupState(
            Severity.PROGRESS, _("The node has not started creating the container yet.")
        )
    return StartupState(
        Severity.PROGRESS,
        _("The node is pulling the image %(image)s if the image is not already present.")
        % {"image": container.image},
    )
