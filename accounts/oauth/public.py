"""Views of the token service that decide by themselves who asks, by name."""

_NAMES = (
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
OAUTH_ROUTES = frozenset(f"accounts:oauth:{name}" for name in _NAMES)
