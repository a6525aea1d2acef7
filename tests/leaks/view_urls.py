"""URLs of all views that are not about one kind."""

from collections.abc import Iterator

from django.urls import resolve, reverse

from console.kube.gvr import GLOBAL_ROLES, GROUPS, GVR, ROLES, USERS, WORKSPACE_ROLES, WORKSPACES
from console.ui.core.registry import kinds
from rbac.levels import Level
from tests.leaks.world import CANARY, SECRET_PROJECT, secret, visible
from tests.support.addresses import addresses
from tests.support.depth import some

#: A part of the secret name, so that the query itself does not contain the secret.
PART = CANARY[:6]


def _names(*types: GVR) -> tuple[str, ...]:
    found = (kinds.by_type(gvr) for gvr in types)
    return tuple(
        make(kind)["metadata"]["name"] for kind in found if kind for make in (visible, secret)
    )


#: Values of URL parameters.
NAMES = {
    "cluster": ("host",),
    "workspace": _names(WORKSPACES),
    "namespace": ("shop", SECRET_PROJECT),
    "user": _names(USERS),
    "group": _names(GROUPS),
    "level": tuple(level.value for level in Level),
    "name": _names(USERS, GLOBAL_ROLES, WORKSPACE_ROLES, ROLES),
    "act": ("edit", "delete", "password"),
}


def pages_of_all() -> Iterator[str]:
    """Yield the URLs of all views that are not about one kind, with secret and visible names, and
    the overviews.
    """
    # The page of the second factor shows a new secret on each request.
    yield from addresses(NAMES, ("list", "detail", "delete", "accounts:own:second_factor"))
    yield from overviews()


def sampled_view_urls(who: str) -> list[str]:
    """Return the URLs of `pages_of_all`; in the CI run one URL of each view, which depends on the
    viewer.
    """
    views: dict[str, list[str]] = {}
    for url in pages_of_all():
        views.setdefault(resolve(url.partition("?")[0]).view_name, []).append(url)
    return [url for urls in views.values() for url in some(who, urls, 1)]


def overviews() -> Iterator[str]:
    yield reverse("dashboard")
    url = reverse("cluster_overview", args=("host",))
    yield from (url, f"{url}?format=json")
    for project in ("shop", SECRET_PROJECT):
        url = reverse("project_overview", kwargs={"cluster": "host", "namespace": project})
        yield from (url, f"{url}?format=json")
    yield f"/search?q={PART}"
    yield f"/search?q={PART}&format=json"
    yield f"/palette?q={PART}"
