"""Views that need no login, by name. Never by path: a path can be written in many ways."""

from django.urls import ResolverMatch

PUBLIC_ROUTES = frozenset(
    {
        "accounts:login",
        "accounts:logout",
        "livez",
        "readyz",
        "set_language",
        "set_theme",
    }
)


def is_public(match: ResolverMatch | None) -> bool:
    return match is not None and match.view_name in PUBLIC_ROUTES
