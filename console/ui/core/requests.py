"""Requests with the attributes that middleware sets, and the user sessions that outlast them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

from console.ui.core.access import Access
from console.ui.core.clusters import Cluster
from console.ui.core.text import escape_invisible


@dataclass(frozen=True, slots=True)
class UserSession:
    """A user's session or token after the request.

    `is_valid` returns True while the session or token still belongs to the same user. `access_for`
    returns the user's current permissions in a cluster. `session` is the session key, or "" for
    a token.
    """

    is_valid: Callable[[], Awaitable[bool]]
    access_for: Callable[[Cluster], Access]
    session: str = ""


class ConsoleRequest(HttpRequest):
    """A request with the attributes that middleware sets.

    - `account`: name of the signed-in user, or None.
    - `access`: permissions of the user, or None if not signed in.
    - `cluster`: the cluster in the URL, or the host cluster.
    - `presence`: for operations that outlast the request, or None if not signed in.
    - `pins`: the kinds pinned in the navigation, by cluster.
    - `docked`: True if the page is shown in the dock, without the surrounding layout.
    - `pending`: name of a signed-in user who must choose a new password first. `account` is None
      then.
    """

    htmx: HtmxDetails
    account: str | None
    pending: str | None
    access: Access | None
    presence: UserSession | None
    cluster: Cluster
    pins: Mapping[str, tuple[str, ...]]
    csp_nonce: str
    docked: bool


def is_fragment(request: ConsoleRequest) -> bool:
    """Return True for htmx requests, except boosted links and history restoration, which replace
    the whole page.
    """
    htmx = request.htmx
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def own_path(url: str | None) -> str:
    """Return the path and query of a URL of the console, or "" for other URLs.

    The origins in the settings are compared, because a proxy that terminates TLS changes the scheme
    of the request.
    """
    for origin in settings.ORIGINS:
        if url and url.startswith(f"{origin}/"):
            return url.removeprefix(origin).partition("#")[0]
    return ""


def vary_on_htmx(response: HttpResponse) -> None:
    """Prevent caches, including the browser's, from returning a fragment for a page."""
    patch_vary_headers(response, ["HX-Request"])


#: Value of the `?frame=` parameter for pages in the dock.
DOCK = "dock"


def tab_name(*parts: str) -> str:
    """Return the title of a dock tab, such as the pod and the container."""
    return " · ".join(escape_invisible(one) for one in parts if one)
