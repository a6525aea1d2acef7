"""Overview pages and their sections."""

import re

from tests.views.conftest import ClientAs

PLATFORM, CLUSTER, SHOP = "/dashboard", "/clusters/host", "/clusters/host/projects/shop"


async def page(client_as: ClientAs, path: str, name: str = "admin", code: int = 200) -> str:
    response = await client_as(name).get(path)
    assert response.status_code == code
    return str(response.content.decode())


def section(html: str, name: str) -> str:
    """Return the text of a section, from its heading to its end."""
    found = re.search(rf'<section[^>]*aria-labelledby="{name}".*?</section>', html, re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split()) if found else ""


def gauge(html: str, resource: str) -> str:
    found = re.search(rf'<div class="gauge" data-resource="{resource}".*?</dl>', html, re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())
