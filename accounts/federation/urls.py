"""URL patterns for sign-in through identity providers, included at the root."""

from django.urls import path

from accounts.federation.backchannel import backchannel
from accounts.federation.confirm import confirm
from accounts.federation.listing import providers
from accounts.federation.views import callback, landing

app_name = "federation"
urlpatterns = [
    path("access/providers", providers, name="providers"),
    path("login/confirm", confirm, name="confirm"),
    path("oauth/backchannel/<str:name>", backchannel, name="backchannel"),
    path("oauth/callback/<str:name>", callback, name="callback"),
    # Redirects to a provider and, because KubeSphere uses this URL as callback, also accepts its
    # answer.
    path("oauth/redirect/<str:name>", landing, name="landing"),
]
