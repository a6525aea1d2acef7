"""Whether a request wants a whole page or the part of one that htmx swaps in."""

from django.http import HttpResponse
from django.utils.cache import patch_vary_headers

from console.ui.http import ConsoleRequest


def is_fragment(request: ConsoleRequest) -> bool:
    """True for htmx's own requests; not for boosted links, which replace the page, nor for those that
    restore a page which fell out of the browser's history."""
    htmx = request.htmx
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def vary_on_htmx(response: HttpResponse) -> None:
    """Keeps caches, the browser's included, from giving a fragment for a page."""
    patch_vary_headers(response, ["HX-Request"])
