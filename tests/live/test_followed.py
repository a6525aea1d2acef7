"""Live pages declare all types they read; otherwise changes would not reach their websockets."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import Http404
from django.urls import resolve
from django.utils.translation import override

from console.kube.gvr import GVR, USERS
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.live.sessionmonitor import RIGHTS
from console.ui.core.clusters import clusters
from console.ui.navigation.page_routes import PageRoute, resolve_page
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.leaks.view_urls import NAMES
from tests.leaks.world import ADMIN, Clusters
from tests.support.addresses import addresses
from tests.support.staticruntime import StaticRuntime


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    """A runtime with objects of every kind."""
    found = Clusters().runtime(True)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def test_each_live_page_declares_the_types_it_reads(
    runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[GVR] = set()
    informer, access = runtime.informer, clusters.host.access_for(Identity(ADMIN))

    def noted(gvr: GVR) -> Informer[Any]:
        asked.add(gvr)
        return informer(gvr)

    monkeypatch.setattr(runtime, "informer", noted)
    pages, seen = set(), set()
    for url in addresses(NAMES):
        place = resolve_page(url)
        if not isinstance(place, PageRoute):
            continue
        view = resolve(url).view_name
        pages.add(view)
        asked.clear()
        try:
            with override("en"):
                place.etag(access)
        except Http404:
            continue
        seen.add(view)
        # Changes of permission objects reach every page; changes of a User reach the pages of that
        # user.
        assert asked <= {*place.types, *(set(RIGHTS) - {USERS})}, url
    assert seen == pages
