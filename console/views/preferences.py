"""Theme and language of a browser, stored in cookies.

Both forms work before sign-in and without JavaScript.
"""

from django.conf import settings
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from console.ui.core.requests import ConsoleRequest
from console.ui.navigation.page_frame import THEME_COOKIE, THEMES
from console.views.errors import error_page

YEAR = 365 * 24 * 3600


@require_POST
async def set_theme(request: ConsoleRequest) -> HttpResponse:
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return error_page(request, 400, _("Parameter theme must be light, dark or auto."))
    response = HttpResponseRedirect(own_page(request.POST.get("next", "")))
    set_preference(response, THEME_COOKIE, theme)
    return response


@require_POST
async def set_language(request: ConsoleRequest) -> HttpResponse:
    language = request.POST.get("language", "")
    if language not in dict(settings.LANGUAGES):
        return error_page(request, 400, _("The console does not support this language."))
    response = HttpResponseRedirect(own_page(request.POST.get("next", "")))
    set_preference(response, settings.LANGUAGE_COOKIE_NAME, language)
    return response


def set_preference(response: HttpResponse, cookie: str, value: str) -> None:
    """Set the cookie of a preference for one year."""
    secure = bool(settings.SESSION_COOKIE_SECURE)
    response.set_cookie(cookie, value, max_age=YEAR, secure=secure, httponly=True, samesite="Lax")


def own_page(url: str) -> str:
    """Return `url` if it is a path on this host, otherwise the dashboard."""
    here = url_has_allowed_host_and_scheme(url, allowed_hosts=None) and url.startswith("/")
    return url if here else reverse("dashboard")
