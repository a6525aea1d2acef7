"""URL patterns for administering other users' accounts, included under `access/accounts`."""

from django.urls import path

from accounts.admin.views import SEGMENT, accounts, show
from console.views.actions import redirect_old_url

app_name = "administration"
urlpatterns = [
    path("", accounts, name="accounts"),
    path("/users/<str:name>", show, name="show"),
    path("/users/<str:name>/edit", redirect_old_url, {"resource": SEGMENT, "action": "profile"}),
    path("/users/<str:name>/<str:action>", redirect_old_url, {"resource": SEGMENT}),
]
