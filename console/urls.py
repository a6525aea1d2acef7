"""Every address of the console: those asked for most first, for Django looks at one after another."""

from django.urls import include, path

urlpatterns = [
    path("", include("console.pages.urls")),
    path("", include("console.views.urls")),
    path("", include("accounts.urls")),
    path("", include("access.urls")),
    path("", include("workspaces.urls")),
]

handler400 = "console.views.errors.bad_request"
handler403 = "console.views.errors.permission_denied"
handler404 = "console.views.errors.page_not_found"
handler500 = "console.views.errors.server_error"
