"""The first lines of every view behind the login: who asks, and what for."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from console.ui.access import Access, NoAccess, require_access
from console.ui.clusters import Cluster, clusters
from console.ui.http import ConsoleRequest
from console.ui.statuses import status_response, wants_status

#: Requests that change nothing (RFC 9110, section 9.2.1).
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Destinations whose document another site's page would contain.
EMBEDDED = frozenset({"object", "embed", "iframe", "frame", "fencedframe"})


def is_navigation(headers: Mapping[str, str]) -> bool:
    """Following a link, which a page of another site may offer. `headers`: whose names are found in small
    letters."""
    to = headers.get("sec-fetch-dest", "document")
    return headers.get("sec-fetch-mode") == "navigate" and to not in EMBEDDED


def access_of(request: ConsoleRequest) -> Access:
    """The viewer's rights; `PermissionDenied` if nobody decided what they are."""
    try:
        return require_access(getattr(request, "access", None))
    except NoAccess as error:
        raise PermissionDenied from error


def access_in(request: ConsoleRequest, cluster: Cluster) -> Access:
    """The viewer's rights in a cluster that another part of the request names."""
    access = access_of(request)
    return access if access.cluster is cluster else cluster.access_for(access.identity)


def asked_access(request: ConsoleRequest) -> Access:
    """The viewer's rights in the cluster that `?cluster=` names, else in that of the request. Sets
    `request.cluster` and `request.access`; `Http404` for a name that no cluster has."""
    if "cluster" in request.GET:
        cluster = clusters.get(request.GET["cluster"])
        if cluster is None:
            raise Http404
        request.access, request.cluster = access_in(request, cluster), cluster
    return access_of(request)


def refuse_anonymous(request: ConsoleRequest) -> HttpResponse | None:
    """The answer to somebody who is not signed in; None for everybody else."""
    if getattr(request, "account", None):
        return None
    if wants_status(request):
        return status_response(401, _("Log in first."))
    login = reverse("accounts:login")
    if request.htmx:
        # htmx would follow a redirect and swap the login form into the page.
        response: HttpResponse = status_response(401, _("Log in first."))
        here = request.htmx.current_url_abs_path or reverse("dashboard")
        response["HX-Redirect"] = f"{login}?{urlencode({'next': here})}"
        return response
    here = request.get_full_path() if request.method in {"GET", "HEAD"} else reverse("dashboard")
    return HttpResponseRedirect(f"{login}?{urlencode({'next': here})}")
