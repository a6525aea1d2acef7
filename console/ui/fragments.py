"""Distinguish requests for whole pages from htmx requests for fragments."""

from django.http import HttpResponse
from django.utils.cache import patch_vary_headers

from console.ui.http import ConsoleRequest


def is_fragment(request: ConsoleRequest) -> bool:
    """Return True for htmx requests, except boosted links and history restoration, which replace
    the whole page.
    """
    htmx = request.htmx
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def vary_on_htmx(response: HttpResponse) -> None:
    """Prevent caches, including the browser's, from returning a fragment for a page."""
    patch_vary_headers(response, ["HX-Request"])
