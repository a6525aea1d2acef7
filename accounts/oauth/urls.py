"""URL patterns of the token service and of KubeSphere's user API, included at the root."""

from django.urls import path

from accounts.oauth.authorize import authorize, confirm
from accounts.oauth.kapis import user
from accounts.oauth.openid import discovery, jwks, logout, revoke, userinfo
from accounts.oauth.review import review
from accounts.oauth.token import token

app_name = "oauth"
_USER = "iam.kubesphere.io/v1alpha2/users/<str:name>"
urlpatterns = [
    path(".well-known/openid-configuration", discovery, name="discovery"),
    # KubeSphere's discovery URL.
    path("oauth/.well-known/openid-configuration", discovery, name="discovery_below"),
    path("oauth/authenticate", review, name="review"),
    path("oauth/authorize", authorize, name="authorize"),
    path("oauth/authorize/confirm", confirm, name="confirm"),
    path("oauth/keys", jwks, name="keys"),
    path("oauth/logout", logout, name="logout"),
    path("oauth/revoke", revoke, name="revoke"),
    path("oauth/token", token, name="token"),
    path("oauth/userinfo", userinfo, name="userinfo"),
    path(f"kapis/{_USER}", user, name="user"),
    path(f"kapis/clusters/<str:cluster_name>/{_USER}", user, name="cluster_user"),
]
