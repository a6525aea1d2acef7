"""Addresses of the login. Included at the root."""

from django.urls import include, path

from accounts.views import login, logout

app_name = "accounts"
urlpatterns = [
    path("", include("accounts.oauth.urls")),
    path("", include("accounts.federation.urls")),
    path("login", login, name="login"),
    path("oauth/login/<str:provider>", login, name="login_through"),
    path("logout", logout, name="logout"),
]
