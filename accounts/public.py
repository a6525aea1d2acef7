"""Views that need no login, by name. Never by path: a path can be written in many ways."""

from django.urls import ResolverMatch

#: Of signing in through providers.
_FEDERATION = ("backchannel", "callback", "confirm", "landing")
#: Of the token service: they decide by themselves who asks.
_OAUTH = (
    "authorize",
    "cluster_user",
    "discovery",
    "discovery_below",
    "keys",
    "logout",
    "review",
    "revoke",
    "token",
    "user",
    "userinfo",
)

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
).union(
    (f"accounts:federation:{name}" for name in _FEDERATION),
    (f"accounts:oauth:{name}" for name in _OAUTH),
)


def is_public(match: ResolverMatch | None) -> bool:
    return match is not None and match.view_name in PUBLIC_ROUTES
