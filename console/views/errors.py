"""Error pages. They reveal no internals of the console.

Signed-in users keep the menu and a link to the list that the URL belongs to. Requests that
accept JSON receive a Kubernetes `Status`.
"""

from dataclasses import dataclass
from typing import TypeGuard

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from console.kube.gvr import Key
from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.kind import ResourceKind
from console.ui.core.links import list_url, object_url
from console.ui.core.permissions import may_know_kind
from console.ui.core.requests import ConsoleRequest, is_fragment
from console.ui.core.statuses import status_response, wants_status
from console.ui.core.text import escape_invisible
from console.ui.fragments.empty_states import missing_text
from console.ui.navigation.page_frame import theme_of
from console.ui.navigation.page_routes import find_kind

TITLES: dict[int, str | Promise] = {
    400: gettext_lazy("Bad request"),
    403: gettext_lazy("Permission denied"),
    404: gettext_lazy("Not found"),
    409: gettext_lazy("Action not possible right now"),
    422: gettext_lazy("Not accepted"),
    429: gettext_lazy("Too many requests"),
    500: gettext_lazy("Internal error"),
    502: gettext_lazy("Cluster error"),
    503: gettext_lazy("Temporarily unavailable"),
    504: gettext_lazy("Request timed out"),
}

#: Seconds after which to retry while data is loading: for API clients, and for pages, which many
#: users may have open.
RETRY_AFTER, LOAD_AGAIN_AFTER = 1, 5


@dataclass(frozen=True, slots=True)
class ParentLink:
    """Link to the parent list or object of a URL."""

    title: str | Promise
    url: str


def loading_page(request: ConsoleRequest, text: str) -> HttpResponse:
    """Return a 503 page for data that is still loading. GET requests of pages reload automatically."""
    again = request.method == "GET" and not (wants_status(request) or is_fragment(request))
    response = error_page(request, 503, text, again=again)
    response["Retry-After"] = str(RETRY_AFTER)
    if again:
        response["Refresh"] = str(LOAD_AGAIN_AFTER)
    return response


def error_page(request: HttpRequest, code: int, text: str, *, again: bool = False) -> HttpResponse:
    """Return an error page.

    Codes outside `TITLES` use the title of 400 or 503. `again`: the page reloads automatically.
    """
    if wants_status(request):
        return status_response(code, text)
    title = TITLES.get(code) or TITLES[400 if code < 500 else 503]
    context = {"code": code, "title": title, "text": text, "again": again}
    context["request_id"] = str(getattr(request, "request_id", ""))
    if _has_a_menu(request) and not is_fragment(request):
        inside = {**context, "up": _up(request, code)}
        return render(request, "errors/inside.html", inside, status=code)
    return render(request, "errors/page.html", context, status=code)


def incomplete_form(request: HttpRequest) -> HttpResponse:
    """Return the page for a form that the console did not create."""
    return error_page(request, 400, _("The form is incomplete. Reload the page."))


def _has_a_menu(request: HttpRequest) -> TypeGuard[ConsoleRequest]:
    """Return True if the user is signed in and the permissions are known."""
    return bool(getattr(request, "account", None) and getattr(request, "access", None))


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return error_page(request, 400, _("Check the address or the form and try again."))


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return error_page(request, 403, _("You don't have permission to do this."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Return the page for a failed CSRF check. `reason` is Django's text for developers."""
    return error_page(
        request,
        403,
        _(
            "This form has expired or was submitted from another site. Reload the page and try "
            "again."
        ),
    )


def object_not_found(request: HttpRequest, kind: ResourceKind, key: Key) -> HttpResponse:
    return error_page(request, 404, missing_text(kind, key))


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return error_page(request, 404, _("The console has no page at this address."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page for unhandled exceptions. Rendered without the page shell, which may be the
    cause of the error.
    """
    text = _(
        "The console encountered an internal error. The console log contains the details "
        "under the number below."
    )
    if wants_status(request):
        return status_response(500, text)
    context = {
        "code": 500,
        "title": TITLES[500],
        "text": text,
        "request_id": str(getattr(request, "request_id", "")),
        "lang": get_language() or "en",
        "theme": theme_of(request),
    }
    return HttpResponse(render_to_string("errors/page.html", context), status=500)


def _up(request: HttpRequest, code: int) -> ParentLink | None:
    given = request.resolver_match.kwargs if request.resolver_match is not None else {}
    cluster: Cluster | None = given.get("cluster")
    kind = find_kind(cluster, given.get("resource", ""))
    access: Access | None = getattr(request, "access", None)
    if cluster is None or kind is None or access is None or not may_know_kind(access, kind):
        return None
    namespace = given.get("namespace", "") if kind.view.namespaced else ""
    if code == 409 and (name := given.get("name", "")):
        # The object exists, and its page shows the current state.
        return ParentLink(
            escape_invisible(name), object_url(cluster.name, kind.segment, Key(namespace, name))
        )
    return ParentLink(kind.view.title, list_url(cluster.name, kind.view.segment, namespace))
