"""Every address of the console: those asked for most first, for Django looks at one after another."""

from django.urls import include, path

from accounts.administration.show import from_list

urlpatterns = [
    path("clusters/<cluster:cluster>/<str:resource>/<str:name>/account", from_list, name="account"),
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
