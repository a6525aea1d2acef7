"""CSRF tokens that name the user for whom a page was rendered.

A session can change its user while a page is open: another tab starts or stops viewing the console
as another user (`accounts.impersonation`). A form that was rendered for one user must not be
submitted as another user, whose permissions differ. Every form and every request of htmx contains
the CSRF token, so the token of a page also contains the username, signed:
`<Django's token>_<name in hex>_<signature>`. All characters are word characters.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.middleware.csrf import get_token
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from accounts.impersonation.refusal import no_changes
from console.kube.identity import Identity
from console.ui.core.requests import ConsoleRequest
from console.views.errors import csrf_failure
from console.views.guard import kept_form
from console.web.async_middleware import InlineCsrfMiddleware

#: Names of views with the same effect for every user. Their forms can be submitted after the user of
#: the session changed.
SAME_FOR_ALL = frozenset(
    {"accounts:logout", "accounts:viewing:end", "set_language", "set_theme"},
)
_FIELD = "csrfmiddlewaretoken"
_SALT = "accounts.csrf"


def csrf_token(request: HttpRequest) -> Mapping[str, Any]:
    """Context processor that replaces Django's `csrf_token`. Like Django's, it is lazy, because
    reading the token sets the cookie.
    """
    return {"csrf_token": SimpleLazyObject(lambda: page_token(request))}


def page_token(request: HttpRequest) -> str:
    """Return the CSRF token of a page for the current user."""
    name = _acting(request)
    return f"{get_token(request)}_{name.encode().hex()}_{_signature(name)}"


class CsrfMiddleware(InlineCsrfMiddleware):
    """Django's CSRF protection, which also refuses forms that were rendered for another user.

    Requests with a bearer token are not checked, because another site can't make a browser send a
    bearer token. Must come before the middleware that sets `identity` and `bearer`.
    """

    async def process_view(  # type: ignore[override]
        self, request: ConsoleRequest, callback: Any, args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        if getattr(request, "bearer", None) is not None:
            return None
        refused = await super().process_view(request, callback, args, kwargs)
        if refused is not None and getattr(callback, "resumes", False):
            # Signing in again replaced the token. The origin of the request was checked before.
            who, token = _acting(request), getattr(request, "form_token", "")
            if who and rendered_for(token) == who:
                return kept_form(request, page_token(request))
        if refused is not None or not hasattr(request, "rendered_for"):
            return refused
        return _refuse_other_user(request, request.rendered_for)

    def _check_token(self, request: HttpRequest) -> None:
        """Check Django's part of the token, and set `request.rendered_for`: the username, or None
        for an invalid signature. `request.form_token` is the whole token of a form. Django calls
        this method unless the request needs no token.
        """
        form = request.POST.copy() if request.method == "POST" else None
        if form is not None and form.get(_FIELD):
            request.form_token = str(form[_FIELD])  # type: ignore[attr-defined]
            token, _mark, rest = str(form[_FIELD]).partition("_")
            form[_FIELD] = token
            request.POST = form  # type: ignore[assignment]
        else:
            header = request.META.get(settings.CSRF_HEADER_NAME, "")
            token, _mark, rest = header.partition("_")
            if header:
                request.META[settings.CSRF_HEADER_NAME] = token
        super()._check_token(request)  # type: ignore[misc]
        request.rendered_for = _read(rest)  # type: ignore[attr-defined]


async def is_forged(request: HttpRequest) -> bool:
    """Return True if a request outside of Django's middleware has no valid CSRF token of a page that
    was rendered for `request.identity`. Safe methods need no token.
    """
    middleware = CsrfMiddleware(_no_view)
    middleware.process_request(request)
    request.resolver_match = None
    return await middleware.process_view(request, _no_view, (), {}) is not None  # type: ignore[arg-type]


async def _no_view(_request: HttpRequest) -> HttpResponseBase:
    return HttpResponseBase()


def rendered_for(token: str) -> str | None:
    """Return the user for whom the page with this token was rendered, or None for an invalid
    signature. Websockets need no other part of the token, because their origin is checked.
    """
    return _read(token.partition("_")[2])


def _refuse_other_user(request: ConsoleRequest, rendered: str | None) -> HttpResponseBase | None:
    """Return None if the page was rendered for the current user.

    Anonymous users, and users whose viewing has ended, are refused by other middleware.
    """
    current = _acting(request)
    view = request.resolver_match.view_name if request.resolver_match else ""
    if not current or current == rendered or view in SAME_FOR_ALL:
        return None
    if rendered is None:
        return csrf_failure(request)
    text = _(
        "You opened this page as %(before)s, and now you use the console as %(now)s. Open the page "
        "again to make changes as %(now)s."
    )
    return no_changes(request, text % {"before": rendered, "now": current})


def _acting(request: HttpRequest) -> str:
    """Return the name of the user whose permissions apply, or "" for anonymous users."""
    identity: Identity | None = getattr(request, "identity", None)
    return identity.name if identity is not None else ""


def _read(text: str) -> str | None:
    name, _mark, signature = text.partition("_")
    try:
        found = bytes.fromhex(name).decode()
    except ValueError:
        return None
    return found if constant_time_compare(signature, _signature(found)) else None


def _signature(name: str) -> str:
    return salted_hmac(_SALT, name, algorithm="sha256").hexdigest()
