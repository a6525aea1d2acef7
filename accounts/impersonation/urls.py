"""URL patterns for viewing the console as another user, included under `access/view-as`."""

from django.urls import path

from accounts.impersonation.views import begin, confirm, end

app_name = "viewing"
urlpatterns = [
    path("/users/<str:name>", begin, name="begin"),
    path("/changes", confirm, name="confirm"),
    path("/end", end, name="end"),
]
