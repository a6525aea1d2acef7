"""Addresses of signing in through identity providers. Included at the root."""

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
    # The way out to a provider and, at the address that KubeSphere gives to providers, the way back.
    path("oauth/redirect/<str:name>", landing, name="landing"),
]
