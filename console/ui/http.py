"""The request as Quarterdeck's middleware leaves it."""

from collections.abc import Mapping

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from console.ui.access import Access
from console.ui.clusters import Cluster
from console.ui.presence import Presence


class ConsoleRequest(HttpRequest):
    """`account`: the signed-in user's name or None. `access`: what they may do, None for nobody.
    `cluster`: the one that the address names, else the host. `presence`: for what outlasts the request,
    None for nobody.

    `pins`: the kinds that they have in the rails of clusters, by cluster.

    `docked`: it is shown in the dock, without what pages have around their content.

    `pending`: the name of one who is signed in but has to choose a password first; `account` is None.
    """

    htmx: HtmxDetails
    account: str | None
    pending: str | None
    access: Access | None
    presence: Presence | None
    cluster: Cluster
    pins: Mapping[str, tuple[str, ...]]
    csp_nonce: str
    docked: bool
