"""The generic pages and a stub of the sign-in page."""

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, include, path

from accounts import urls as accounts_urls
from accounts.federation.listing import providers
from console.urls import PAGES


def _login(request: HttpRequest) -> HttpResponse:
    return HttpResponse("login")


_federation: tuple[list[URLPattern | URLResolver], str] = (
    [path("access/providers", providers, name="providers")],
    "federation",
)
_accounts: list[URLPattern | URLResolver] = [
    path("login", _login, name="login"),
    path("logout", _login, name="logout"),
    *accounts_urls.PAGES,
    path("", include(_federation)),
]

urlpatterns = [
    path("", include("access.urls")),
    path("", include("workspaces.urls")),
    path("", include("console.pages.urls")),
    *PAGES,
    path("", include((_accounts, "accounts"))),
]

handler400 = "console.views.errors.bad_request"
handler403 = "console.views.errors.permission_denied"
handler404 = "console.views.errors.page_not_found"
handler500 = "console.views.errors.server_error"
