"""URL patterns for the user's own account, included under `account`."""

from django.urls import path

from accounts.myaccount.kubeconfig import kubeconfig
from accounts.myaccount.second_factor import second_factor
from accounts.myaccount.views import (
    account,
    close_port,
    end_sessions,
    end_token,
    make_token,
    password,
    profile,
)

app_name = "own"
urlpatterns = [
    path("", account, name="account"),
    path("/profile", profile, name="profile"),
    path("/password", password, name="password"),
    path("/second-factor", second_factor, name="second_factor"),
    path("/tokens", make_token, name="make_token"),
    path("/tokens/end", end_token, name="end_token"),
    path("/ports/close", close_port, name="close_port"),
    path("/kubeconfig", kubeconfig, name="kubeconfig"),
    path("/sessions/end", end_sessions, name="end_sessions"),
]
