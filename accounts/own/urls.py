"""Addresses of the own account. Included under `account`."""

from django.urls import path

from accounts.own.kubeconfig import kubeconfig
from accounts.own.views import account, end_sessions, password, profile

app_name = "own"
urlpatterns = [
    path("", account, name="account"),
    path("/profile", profile, name="profile"),
    path("/password", password, name="password"),
    path("/kubeconfig", kubeconfig, name="kubeconfig"),
    path("/sessions/end", end_sessions, name="end_sessions"),
]
