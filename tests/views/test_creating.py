"""The page with all kinds that the viewer may create."""

import pytest

from tests.support.responses import text_of
from tests.views.conftest import ClientAs

URL = "/clusters/host/new"


@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("bob", 403)])
async def test_kinds_that_the_viewer_may_create_are_listed(
    client_as: ClientAs, who: str, status: int
) -> None:
    response = await client_as(who).get(URL)
    html = await text_of(response)
    assert response.status_code == status
    assert ('href="/clusters/host/new/deployments"' in html) is (status == 200)


async def test_kinds_are_found_by_a_part_of_their_name(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get(f"{URL}?q=DEPLOY&namespace=shop"))
    assert 'href="/clusters/host/new/deployments?namespace=shop"' in html
    assert "/new/configmaps" not in html and "kind=configmaps" not in html


async def test_rarely_created_kinds_are_behind_a_disclosure(client_as: ClientAs) -> None:
    html = await text_of(await client_as("admin").get(URL))
    common, _details, rest = html.partition('<details class="rare">')
    rare = rest.partition("</details>")[0]
    assert "/new/deployments" in common and "kind=replicasets" in rare
    assert "kind=replicasets" not in common and "/new/deployments" not in rare
    found = await text_of(await client_as("admin").get(f"{URL}?q=replicaset"))
    assert '<details class="rare" open>' in found
