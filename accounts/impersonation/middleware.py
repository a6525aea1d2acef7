"""Restrictions while a user views the console as another user: read-only and no private pages.

Must come after `accounts.middleware.AccountMiddleware` and after the bearer token middleware.
Requests with a bearer token are not affected.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.utils.translation import gettext as _

from accounts.csrf import SAME_FOR_ALL
from accounts.impersonation.refusal import no_changes
from accounts.impersonation.state import VIEWING, Viewing
from console.ui.core.requests import ConsoleRequest
from console.views.errors import error_page
from console.views.guard import SAFE_METHODS
from console.web.async_middleware import AsyncMiddleware
from rbac.middleware import access_of

#: View names of POST requests that don't change the cluster.
HARMLESS = SAME_FOR_ALL | {"accounts:viewing:confirm"}
#: Pages about the session's own user, and pages that issue tokens.
PRIVATE = (
    "accounts:choose_password",
    "accounts:federation:",
    "accounts:login",
    "accounts:oauth:",
    "accounts:own:",
)


class ViewingMiddleware(AsyncMiddleware):
    async def process_view(
        self, request: ConsoleRequest, view: object, args: object, kwargs: object
    ) -> HttpResponseBase | None:
        viewing: Viewing | None = getattr(request, "viewing", None)
        if viewing is None or getattr(request, "bearer", None) is not None:
            return None
        name = request.resolver_match.view_name if request.resolver_match else ""
        if viewing.identity is None:
            return await _ended(request, viewing)
        if name.startswith(PRIVATE) and name not in HARMLESS:
            text = _("This page is not available while you view the console as %(name)s.")
            return error_page(request, 403, text % {"name": viewing.name})
        if request.method not in SAFE_METHODS and name not in HARMLESS and not viewing.writes:
            text = _("You are viewing the console as %(name)s. Changes are not allowed.")
            return no_changes(request, text % {"name": viewing.name}, may_allow=True)
        return None


async def _ended(request: ConsoleRequest, viewing: Viewing) -> HttpResponseBase | None:
    """End viewing. Pages continue with the viewer's own permissions and a message.

    Changes are rejected, because they were intended to be made as the other user.
    """
    del request.session[VIEWING]
    await request.session.asave()
    request.viewing = None  # type: ignore[attr-defined]
    text = _("Viewing as %(name)s has ended. You are using the console as yourself again.")
    text %= {"name": viewing.name}
    if request.method not in SAFE_METHODS:
        return no_changes(request, text)
    found: Any = request
    found.identity = found.own_identity
    found.access = access_of(found.own_identity, found.cluster)
    messages.warning(request, text)
    return None
