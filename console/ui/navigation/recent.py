"""The levels that a viewer visited last, stored in a cookie. They are offered by the pickers and are
the start page, but never the level of a page (ADR 24).
"""

from django.http import HttpRequest

from console.kube.names import is_dns_label
from console.ui.core.access import Access
from console.ui.core.clusters import HOST, clusters
from console.ui.navigation.level import Level, accessible

COOKIE = "recent"
#: Maximum number of levels in the cookie.
RECENT = 6


def last_level(request: HttpRequest, access: Access) -> Level | None:
    """Return the viewer's most recent level, or None if the viewer can no longer access it."""
    level = next(iter(_levels_in_cookie(request)), None)
    if level is None or level.cluster != access.cluster.name:
        return None
    return accessible(level, access)


def recent_levels(request: HttpRequest, access: Access, level: Level) -> tuple[Level, ...]:
    """Return the other workspaces and projects in the cookie that the viewer can still access, most
    recent first.
    """
    found = []
    for one in _levels_in_cookie(request):
        cluster = clusters.get(one.cluster)
        if one.name not in ("workspace", "project") or cluster is None:
            continue
        there = access if cluster is access.cluster else cluster.access_for(access.identity)
        found.append(accessible(one, there))
    return tuple(one for one in found if one is not None and one != level)


def cookie_value(level: Level, request: HttpRequest) -> str:
    """Return the new cookie value with `level` first, or "" if the level can't be stored."""
    account = str(getattr(request, "account", ""))
    first = _to_cookie(level, account)
    before = (_to_cookie(one, account) for one in _levels_in_cookie(request))
    return "|".join(list(dict.fromkeys((first, *before)))[:RECENT]) if first else ""


def _levels_in_cookie(request: HttpRequest) -> list[Level]:
    """Return the levels in the viewer's cookie, most recent first, without access checks."""
    found = []
    for text in request.COOKIES.get(COOKIE, "").split("|")[:RECENT]:
        parts = text.split("/")
        if len(parts) == 5 and parts[0] == getattr(request, "account", None):
            found.append(_parse_level(*parts[1:]))
    return [level for level in found if level is not None]


def _to_cookie(level: Level, account: str) -> str:
    """Return the cookie value of a level for the account, or "" if a name can't be stored."""
    # The workspace of a project is looked up on each request.
    workspace = level.workspace if level.name == "workspace" else ""
    parts = (level.name, level.cluster, workspace, level.namespace)
    fits = all(is_dns_label(part) for part in parts if part) and account.isascii()
    return "/".join((account, *parts)) if fits else ""


def _parse_level(name: str, cluster: str, workspace: str, namespace: str) -> Level | None:
    """Parse one level of the cookie. Return None if it is invalid."""
    if not all(is_dns_label(part) for part in (cluster, workspace or "x", namespace or "x")):
        return None
    match name:
        case "platform":
            return Level("platform")
        case "cluster":
            return Level("cluster", cluster)
        case "workspace" if workspace:
            return Level("workspace", HOST, workspace)
        case "project" if namespace:
            return Level("project", cluster, workspace, namespace)
        case _:
            return None
