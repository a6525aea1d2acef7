"""URL patterns for sign-in and accounts, included at the root."""

from django.urls import include, path

from accounts.mfa.views import second_factor
from accounts.myaccount.password import choose_password
from accounts.signin.views import login, logout

app_name = "accounts"
urlpatterns = [
    path("", include("accounts.oauth.urls")),
    path("access/accounts", include("accounts.admin.urls")),
    path("account", include("accounts.myaccount.urls")),
    path("access/view-as", include("accounts.impersonation.urls")),
    path("", include("accounts.federation.urls")),
    path("login", login, name="login"),
    path("login/second-factor", second_factor, name="second_factor"),
    path("oauth/login/<str:provider>", login, name="login_through"),
    path("logout", logout, name="logout"),
    path("password/confirm", choose_password, name="choose_password"),
]
