"""The request as Quarterdeck's middleware leaves it."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

from console.ui.access import Access


class ConsoleRequest(HttpRequest):
    """`account`: the signed-in user's name or None. `access`: what they may do, None for nobody.

    `pending`: the name of one who is signed in but has to choose a password first; `account` is None.
    """

    htmx: HtmxDetails
    account: str | None
    pending: str | None
    access: Access | None
    csp_nonce: str
