"""URL patterns for sign-in and accounts, included at the root."""

from django.urls import include, path

from accounts.admin.views import SEGMENT, accounts, show
from accounts.federation.backchannel import backchannel
from accounts.federation.confirm import confirm as confirm_name
from accounts.federation.listing import providers
from accounts.federation.views import callback, landing
from accounts.impersonation import views as viewing
from accounts.mfa.views import second_factor
from accounts.myaccount import views as own
from accounts.myaccount.kubeconfig import console_kubeconfig, kubeconfig
from accounts.myaccount.password import choose_password
from accounts.myaccount.second_factor import second_factor as own_second_factor
from accounts.myaccount.secret_file import secret_file
from accounts.oauth import openid
from accounts.oauth.authorize import authorize, confirm
from accounts.oauth.review import review
from accounts.oauth.token import token
from accounts.signin.views import login, logout
from console.views.actions import redirect_old_url

app_name = "accounts"
#: Token service.
_OAUTH = [
    path(".well-known/openid-configuration", openid.discovery, name="discovery"),
    # KubeSphere's discovery URL.
    path("oauth/.well-known/openid-configuration", openid.discovery, name="discovery_below"),
    path("oauth/authenticate", review, name="review"),
    path("oauth/authorize", authorize, name="authorize"),
    path("oauth/authorize/confirm", confirm, name="confirm"),
    path("oauth/keys", openid.jwks, name="keys"),
    path("oauth/logout", openid.logout, name="logout"),
    path("oauth/revoke", openid.revoke, name="revoke"),
    path("oauth/token", token, name="token"),
    path("oauth/userinfo", openid.userinfo, name="userinfo"),
]
#: Sign-in through identity providers.
_FEDERATION = [
    path("access/providers", providers, name="providers"),
    path("login/confirm", confirm_name, name="confirm"),
    path("oauth/backchannel/<str:name>", backchannel, name="backchannel"),
    path("oauth/callback/<str:name>", callback, name="callback"),
    # Redirects to a provider and, because KubeSphere uses this URL as callback, also accepts its
    # answer.
    path("oauth/redirect/<str:name>", landing, name="landing"),
]
#: Administration of other users' accounts.
_ADMINISTRATION = [
    path("", accounts, name="accounts"),
    path("/users/<str:name>", show, name="show"),
    path("/users/<str:name>/edit", redirect_old_url, {"resource": SEGMENT, "action": "profile"}),
    path("/users/<str:name>/<str:action>", redirect_old_url, {"resource": SEGMENT}),
]
#: The user's own account.
_OWN = [
    path("", own.account, name="account"),
    path("/profile", own.profile, name="profile"),
    path("/password", own.password, name="password"),
    path("/second-factor", own_second_factor, name="second_factor"),
    path("/tokens", own.make_token, name="make_token"),
    path("/tokens/end", own.end_token, name="end_token"),
    path("/ports/close", own.close_port, name="close_port"),
    path("/drafts/discard", own.discard_draft, name="delete_draft"),
    path("/kubeconfig", kubeconfig, name="kubeconfig"),
    path("/kubeconfig/console", console_kubeconfig, name="console_kubeconfig"),
    path("/secret-file", secret_file, name="secret_file"),
    path("/sessions/end", own.end_sessions, name="end_sessions"),
]
#: Viewing the console as another user.
_VIEWING = [
    path("/users/<str:name>", viewing.begin, name="begin"),
    path("/changes", viewing.confirm, name="confirm"),
    path("/end", viewing.end, name="end"),
]
#: The pages of accounts, without the token service and sign-in.
PAGES = [
    path("access/accounts", include((_ADMINISTRATION, "administration"))),
    path("account", include((_OWN, "own"))),
    path("access/view-as", include((_VIEWING, "viewing"))),
]
urlpatterns = [
    path("", include((_OAUTH, "oauth"))),
    *PAGES,
    path("", include((_FEDERATION, "federation"))),
    path("login", login, name="login"),
    path("login/second-factor", second_factor, name="second_factor"),
    path("oauth/login/<str:provider>", login, name="login_through"),
    path("logout", logout, name="logout"),
    path("password/confirm", choose_password, name="choose_password"),
]
