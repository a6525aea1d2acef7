"""URL patterns of the console, most frequently requested first, because Django tries them in order."""

from django.urls import include, path

from console.pages.kubesphere.urls import IN_CLUSTERS

urlpatterns = [
    path("", include("console.pages.urls")),
    path("", include(IN_CLUSTERS)),
    path("", include("console.views.urls")),
    path("", include("accounts.urls")),
    path("", include("access.urls")),
    path("", include("workspaces.urls")),
    path("", include("console.pages.kubesphere.urls")),
]

handler400 = "console.views.errors.bad_request"
handler403 = "console.views.errors.permission_denied"
handler404 = "console.views.errors.page_not_found"
handler500 = "console.views.errors.server_error"
