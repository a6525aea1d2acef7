"""Access checks at the start of every view that requires sign-in."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from console.ui.core.access import Access, NoAccess, require_access
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.requests import ConsoleRequest, own_path
from console.ui.core.statuses import status_response, wants_status
from console.ui.navigation.page_frame import theme_of

#: Methods without side effects (RFC 9110, section 9.2.1).
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Fetch destinations that embed the document in another site's page.
EMBEDDED = frozenset({"object", "embed", "iframe", "frame", "fencedframe"})


def is_navigation(headers: Mapping[str, str]) -> bool:
    """Return True for top-level navigation, which other sites may link to. `headers` must have
    lowercase names.
    """
    to = headers.get("sec-fetch-dest", "document")
    return headers.get("sec-fetch-mode") == "navigate" and to not in EMBEDDED


def access_of(request: ConsoleRequest) -> Access:
    """Return the viewer's access. Raise `PermissionDenied` if no access was determined."""
    try:
        return require_access(getattr(request, "access", None))
    except NoAccess as error:
        raise PermissionDenied from error


def access_in(request: ConsoleRequest, cluster: Cluster) -> Access:
    """Return the viewer's access in another cluster."""
    access = access_of(request)
    return access if access.cluster is cluster else cluster.access_for(access.identity)


def access_from_query(request: ConsoleRequest) -> Access:
    """Return the viewer's access in the cluster named by `?cluster=`, by default the request's
    cluster.

    Sets `request.cluster` and `request.access`. Raise `Http404` for an unknown cluster.
    """
    if "cluster" in request.GET:
        cluster = clusters.get(request.GET["cluster"])
        if cluster is None:
            raise Http404
        request.access, request.cluster = access_in(request, cluster), cluster
    return access_of(request)


def refuse_anonymous(request: ConsoleRequest, *, resumes: bool = False) -> HttpResponse | None:
    """Return the response to a user who is not signed in, or None for a signed-in user.

    With `resumes`, a submitted form is kept in a page that submits it again after signing in.
    """
    if getattr(request, "account", None):
        return None
    if wants_status(request):
        return status_response(401, _("Sign in first."))
    login = reverse("accounts:login")
    if request.htmx:
        # htmx would follow a redirect and insert the sign-in form into the page.
        response: HttpResponse = status_response(401, _("Sign in first."))
        here = own_path(request.htmx.current_url) or reverse("dashboard")
        response["HX-Redirect"] = f"{login}?{urlencode({'next': here})}"
        return response
    if resumes and request.method == "POST" and set(request.POST) - {"csrfmiddlewaretoken"}:
        # The token is only valid for the user for whom the form was rendered.
        token, here = getattr(request, "form_token", ""), urlencode({"next": request.path})
        return kept_form(request, token, f"{login}?{here}")
    here = request.get_full_path() if request.method in {"GET", "HEAD"} else reverse("dashboard")
    return HttpResponseRedirect(f"{login}?{urlencode({'next': here})}")


def kept_form(request: HttpRequest, token: str, login_url: str = "") -> HttpResponse:
    """Return a page that keeps the fields of a form that was submitted after the session ended, and
    submits them again with `token`. `login_url` is "" if the user is signed in again.
    """
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken"
    ]
    context = {"fields": fields, "token": token, "login_url": login_url, "theme": theme_of(request)}
    status = 401 if login_url else 403
    response = render(request, "console/session_ended.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response
