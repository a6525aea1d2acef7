"""Views that can be opened without signing in.

Views are listed by name, because a path can be written in several equivalent ways.
"""

from django.urls import ResolverMatch

#: Sign-in through identity providers.
_FEDERATION = ("backchannel", "callback", "confirm", "landing")
#: Token service. These views authenticate requests themselves.
_OAUTH = (
    "authorize",
    "discovery",
    "discovery_below",
    "keys",
    "logout",
    "review",
    "revoke",
    "token",
    "userinfo",
)

PUBLIC_ROUTES = frozenset(
    {
        "accounts:login",
        "accounts:login_through",
        "accounts:logout",
        "audit_events",
        "livez",
        "metrics",
        "quota_webhook",
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
