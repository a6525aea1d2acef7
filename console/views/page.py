"""Decorator of all pages: requires sign-in and converts exceptions to error pages."""

from collections.abc import Callable, Collection, Coroutine, Mapping
from functools import wraps
from typing import Any

from django.contrib import messages
from django.db import DatabaseError
from django.http import Http404, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError
from console.kube.factory import UnknownKind
from console.kube.names import is_dns_label
from console.ui.core.menu import MenuEntry
from console.ui.core.permissions import Denied, NotLoaded, Refused
from console.ui.core.requests import DOCK, ConsoleRequest
from console.ui.core.statuses import success_response, wants_status
from console.ui.navigation.page_routes import LivePage, find_kind
from console.views import problems
from console.views.authorization import PermissionsUnconfirmed, wait_until_confirmed
from console.views.denial import denied_page, workspace_denied_page
from console.views.errors import error_page, loading_page
from console.views.guard import SAFE_METHODS, refuse_anonymous

View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


def page(
    *methods: str,
    signed_in: bool = True,
    bearer: bool = True,
    formats: Collection[str] = (),
    dockable: bool = False,
    follows: LivePage | None = None,
    menu: MenuEntry | None = None,
    resumes: bool = False,
) -> Callable[[View], View]:
    """Decorate a view that requires sign-in and may raise the exceptions handled here. GET also
    allows HEAD.

    - `signed_in`: require sign-in. Pages between the steps of a sign-in don't.
    - `bearer`: accept access tokens in addition to browser sessions.
    - `formats`: values of `?format=` besides html.
    - `dockable`: the page can be displayed in the dock with `?frame=dock` (ADR 18).
    - `follows`: changes on which the live page is rendered again.
    - `menu`: the menu entry that the page belongs to.
    - `resumes`: a form that is submitted after the session ended can be submitted again.

    Return 404 if `namespace` in the URL is not a valid name.
    """
    allowed = [*methods, "HEAD"] if "GET" in methods else list(methods)
    known = [[], ["html"], *([one] for one in formats)]

    def decorate(view: View) -> View:
        @require_http_methods(allowed)
        @wraps(view)
        async def guarded(request: ConsoleRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            refused = refuse_anonymous(request, resumes=resumes) if signed_in else None
            if refused is not None:
                return refused
            frames = request.GET.getlist("frame") if dockable else []
            request.docked = frames == [DOCK]
            if frames not in ([], [DOCK]):
                return error_page(
                    request, 400, _("Parameter frame must be dock and must appear only once.")
                )
            if not bearer and getattr(request, "bearer", None) is not None:
                return error_page(request, 403, _("You don't have permission to do this."))
            if not is_dns_label(kwargs.get("namespace") or "x"):
                raise Http404
            if formats and request.GET.getlist("format") not in known:
                text = _("Parameter format must be one of %(formats)s and must appear only once.")
                return error_page(request, 400, text % {"formats": ", ".join(("html", *formats))})
            access = getattr(request, "access", None)
            changes = request.method not in SAFE_METHODS
            if changes:
                await wait_until_confirmed(access)
            try:
                try:
                    return await view(request, *args, **kwargs)
                except PermissionsUnconfirmed:
                    if changes:
                        raise
                    await wait_until_confirmed(access)
                    return await view(request, *args, **kwargs)
            except Denied as denied:
                return _denied(request, denied, kwargs)
            except Refused as error:
                return error_page(request, error.page_code, str(error))
            except UnknownKind as error:
                # The custom resource definition was deleted during the request.
                raise Http404 from error
            except NotLoaded as error:
                return loading_page(request, str(error))
            except (AuditUnavailable, DatabaseError):
                return error_page(request, 503, _("The database is not available."))
            except ApiError as error:
                return error_page(request, error.page_code, problems.error_text(error))

        guarded.following, guarded.menu = follows, menu  # type: ignore[attr-defined]
        guarded.resumes = resumes  # type: ignore[attr-defined]
        return guarded

    return decorate


def success_redirect(request: ConsoleRequest, text: str, url: str) -> HttpResponse:
    """Return the response to a completed action: `text` on the page at `url`, or a `Status` for API
    clients.
    """
    if wants_status(request):
        return success_response(text)
    messages.success(request, text)
    return HttpResponseRedirect(url)


def _denied(request: ConsoleRequest, denied: Denied, named: Mapping[str, Any]) -> HttpResponse:
    """Return the 403 response. `named` are the arguments in the URL. Workspaces have permissions
    that don't exist in Kubernetes.
    """
    if "workspace" in named:
        return workspace_denied_page(request, denied, str(named["workspace"]))
    return denied_page(request, denied, find_kind(named.get("cluster"), named.get("resource", "")))
