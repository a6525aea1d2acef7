"""The generic pages, and a login page to be sent to."""

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path


def _login(request: HttpRequest) -> HttpResponse:
    return HttpResponse("login")


_federation: tuple[list[URLPattern | URLResolver], str] = (
    [path("access/providers", _login, name="providers")],
    "federation",
)
_accounts: tuple[list[URLPattern | URLResolver], str] = (
    [
        path("login", _login, name="login"),
        path("logout", _login, name="logout"),
        path("", include(_federation)),
    ],
    "accounts",
)

urlpatterns = [path("", include("console.views.urls")), path("", include(_accounts))]

handler400 = "console.views.errors.bad_request"
handler403 = "console.views.errors.permission_denied"
handler404 = "console.views.errors.page_not_found"
handler500 = "console.views.errors.server_error"
