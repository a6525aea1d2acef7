"""Caches are kept per cluster.

The member cluster has the same objects as the host, plus one object of every kind that no page
of the host may show. A user with full access requests pages of both clusters in random order.
Each page must always return its first response, and no page of the host may contain an object of
the member.
"""

import re
from collections.abc import Iterator
from random import Random

import pytest

from console.kube.gvr import USERS
from console.ui.core.clusters import HOST, clusters
from console.ui.core.kind import ResourceKind
from console.ui.core.links import detail_url, list_url
from console.ui.details.panels.standard import tabs_of
from rbac.process_clusters import create_cluster, set_host_cluster, unset_host_cluster
from tests.clusters.conftest import MEMBER, Person, told, without_picker
from tests.leaks.world import ADMIN, CANARY, KINDS, Clusters, key_of, visible
from tests.support.audit_ranges import without_range
from tests.support.depth import SEED, number
from tests.support.staticruntime import StaticRuntime

#: Parts of a page that depend on the request or the clock.
_OWN = re.compile(r"\b\w{64,}\b|data-etag=\"[^\"]*\"|data-now=\"[^\"]*\"|(<time [^>]*>)[^<]*")
_NOW = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{6}")

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _two_that_are_alike() -> Iterator[None]:
    worlds = Clusters()
    set_host_cluster(worlds.runtime(False))
    informers = dict(worlds.runtime(True).informers())
    # A member cluster has no users.
    del informers[USERS]
    member = StaticRuntime(informers)
    clusters.add(create_cluster(MEMBER, member))
    yield
    clusters.remove(MEMBER)
    unset_host_cluster()


def pages(cluster: str, kind: ResourceKind) -> Iterator[str]:
    listed = list_url(cluster, kind.segment)
    yield from (listed, f"{listed}?limit=500&sort=-name", f"{listed}?format=json")
    key = key_of(visible(kind))
    for at, tab in enumerate(tabs_of(kind)):
        # The URL without a tab may redirect to another page.
        named = at or kind.page_url(cluster, key)
        yield detail_url(cluster, kind.segment, key, tab.id if named else "")


async def test_response_does_not_depend_on_requests_to_the_other_cluster() -> None:
    random, asker, first = Random(SEED), Person(ADMIN), dict[str, str]()  # noqa: S311  chance
    known = [kind for kind in KINDS if not kind.private and kind.gvr != USERS]
    asked: list[tuple[str, str]] = []
    for _ in range(number(30, 1500)):
        kind = random.choice(known)
        # The same page of both clusters, in random order.
        both = [(one, page) for one in (HOST, MEMBER) for page in pages(one, kind)]
        asked += random.sample(both, 4)
    extra = (f"/search?q={CANARY[:6]}", "/palette?q=anchor", "/clusters/{}", "/clusters/{}/cache")
    for path in extra * 3:
        both = [(one, _of(one, path)) for one in (HOST, MEMBER)]
        asked += random.sample(both, 2)
    random.shuffle(asked)
    for cluster, url in asked:
        response = await asker.get(url)
        text = _NOW.sub("", _OWN.sub("", await told(response, response.status_code)))
        text = without_range(text)
        assert response.status_code == 200, url
        other = MEMBER if cluster == HOST else HOST
        assert f"/clusters/{other}" not in without_picker(text), url
        if cluster == HOST:
            assert CANARY not in text.replace(url, ""), url
        if "/cache" not in url:
            assert first.setdefault(url, text) == text, url
    assert any(CANARY in text for url, text in first.items() if f"/clusters/{MEMBER}" in url)


def _of(cluster: str, path: str) -> str:
    if "{}" in path:
        return path.format(cluster)
    return path if cluster == HOST else f"{path}&cluster={cluster}"
