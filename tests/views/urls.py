"""The generic pages, and a login page to be sent to."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def _login(request: HttpRequest) -> HttpResponse:
    return HttpResponse("login")


_accounts = (
    [
        path("login", _login, name="login"),
        path("logout", _login, name="logout"),
        path("account", include("accounts.own.urls")),
        path("access/accounts", include("accounts.administration.urls")),
        path("clusters/<str:c>/<str:r>/<str:n>/account", _login, name="manage_account"),
    ],
    "accounts",
)

urlpatterns = [path("", include("console.views.urls")), path("", include(_accounts))]

handler400 = "console.views.errors.bad_request"
handler403 = "console.views.errors.permission_denied"
handler404 = "console.views.errors.page_not_found"
handler500 = "console.views.errors.server_error"
