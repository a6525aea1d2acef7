"""Who may send a request to a port that is open: its own pages, and whoever follows a link.

All ports are below one name, so to browsers they are one site, and cookies with SameSite go from one to
the other. What another port's page sends is refused as another site's, as the console does it.
"""

from collections.abc import Mapping

from console.views.guard import SAFE_METHODS, is_navigation


def may_pass(method: str, headers: Mapping[str, str], origin: str) -> bool:
    """`headers`: the names in small letters; `origin`: that of the host which is asked."""
    site, given = headers.get("sec-fetch-site"), headers.get("origin")
    if given is not None and given != origin:
        return False
    if method not in SAFE_METHODS:
        # A browser that says nothing of the site says the origin.
        return site == "same-origin" if site is not None else given == origin
    return site in (None, "same-origin", "none") or is_navigation(headers)
