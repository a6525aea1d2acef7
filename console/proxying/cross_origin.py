"""Cross-origin checks for requests to open ports: only the port's pages and links from elsewhere
may pass.

All ports are subdomains of one domain, so browsers treat them as the same site and send SameSite
cookies between them. Requests from another port's page are rejected like requests from another
site, as in the console.
"""

from collections.abc import Mapping

from console.views.guard import SAFE_METHODS, is_navigation


def is_allowed(method: str, headers: Mapping[str, str], origin: str) -> bool:
    """Return True if the request may be forwarded.

    `headers`: by lowercase name. `origin`: the origin of the requested host.
    """
    site, given = headers.get("sec-fetch-site"), headers.get("origin")
    if given is not None and given != origin:
        return False
    if method not in SAFE_METHODS:
        # Browsers that don't send `Sec-Fetch-Site` send `Origin` instead.
        return site == "same-origin" if site is not None else given == origin
    return site in (None, "same-origin", "none") or is_navigation(headers)
