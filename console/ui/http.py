"""The type of requests after Quarterdeck's middleware."""

from collections.abc import Mapping

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.presence import UserSession


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
