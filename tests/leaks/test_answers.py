"""Responses are only for the requesting user and are not reused for others."""

import pytest

from console.ui.fragments import cached_fragments
from console.ui.navigation import nav
from rbac.process_clusters import set_host_cluster
from tests.leaks.view_urls import PART
from tests.leaks.world import ADMIN, BOB, CANARY, Clusters
from tests.support.responses import text_of
from tests.views.conftest import ClientAs

FOUND = f"/search?q={PART}"


@pytest.mark.parametrize(
    "url", ["/dashboard", "/clusters/host", "/clusters/host/pods", "/clusters/host/nodes", FOUND]
)
async def test_the_etag_of_another_user_does_not_match(
    clusters: Clusters, client_as: ClientAs, url: str
) -> None:
    """A browser shared by two users sends the first user's ETag."""
    set_host_cluster(clusters.runtime(True))
    first = await client_as(ADMIN).get(url)
    etag = first.get("ETag", '"none"')
    assert CANARY in await text_of(first)
    second = await client_as(BOB, **{"If-None-Match": etag}).get(url)
    assert second.status_code != 304
    assert CANARY not in await text_of(second)


@pytest.mark.parametrize("who", [ADMIN, BOB])
async def test_requests_for_unknown_projects_do_not_fill_caches(
    clusters: Clusters, client_as: ClientAs, who: str
) -> None:
    set_host_cluster(clusters.runtime(True))
    client = client_as(who)
    await client.get("/clusters/host/pods")
    await client.get("/clusters/host/projects/made-up")
    before, drawn = _kept(), cached_fragments.part_cache.weight
    for number in range(5):
        await client.get(f"/clusters/host/pods?namespace=made-up-{number}")
        await client.get(f"/clusters/host/projects/made-up-{number}")
    assert _kept() == before
    # Headers and filters of the lists are small, and are evicted by other lists.
    assert cached_fragments.part_cache.weight - drawn < 5 * 80_000


def _kept() -> tuple[int, ...]:
    return tuple(kept.cache_info().currsize for kept in (nav._declared, nav._url))
