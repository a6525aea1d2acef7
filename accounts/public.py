"""Views that need no login, by name. Never by path: a path can be written in many ways."""

from django.urls import ResolverMatch

from accounts.federation.public import FEDERATION_ROUTES
from accounts.oauth.public import OAUTH_ROUTES

PUBLIC_ROUTES = frozenset(
    {
        "accounts:login",
        "accounts:login_through",
        "accounts:logout",
        "livez",
        "metrics",
        "readyz",
        "set_language",
        "set_theme",
    }
).union(OAUTH_ROUTES, FEDERATION_ROUTES)


def is_public(match: ResolverMatch | None) -> bool:
    return match is not None and match.view_name in PUBLIC_ROUTES
