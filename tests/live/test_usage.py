"""Open lists of pods when new usage readings arrive."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.errors import NotFound
from console.kube.gvr import NAMESPACES, POD_METRICS, PODS, ROLE_BINDINGS
from console.kube.informer import Informer
from console.live.detailview import DetailView
from console.live.mailbox import Mail
from console.ui.details.detail import start_informers
from console.ui.navigation.page_routes import DetailRoute, resolve_page
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.live.conftest import Browsers
from tests.pages.overview.world import Measuring, pod_usage
from tests.support.informers import preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin, namespace

URL = "/clusters/host/pods?sort=-cpu_used"


@pytest.fixture
def metrics() -> Measuring:
    return Measuring(nodes=[], pods=[pod_usage("shop", "web-1", ("600m", "1Gi"))])


@pytest.fixture(autouse=True)
def runtime(
    pods: Informer[Any], bindings: Informer[Any], metrics: Measuring
) -> Iterator[StaticRuntime]:
    namespaces = preloaded(NAMESPACES, [namespace("shop")])
    found = StaticRuntime(
        {PODS: pods, NAMESPACES: namespaces, ROLE_BINDINGS: bindings}, metrics=metrics
    )
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def test_rows_with_changed_usage_are_sent(
    browsers: Browsers, runtime: StaticRuntime, metrics: Measuring
) -> None:
    await runtime.usage.take()
    browser = await browsers(admin())
    await browser.subscribe(URL)
    assert 'id="freshness"' in await browser.html()
    metrics.answers["pods"] = [pod_usage("shop", "web-1", ("700m", "1Gi"))]
    await runtime.usage.take()
    frame = await browser.html()
    assert "700m" in frame
    assert frame.count("<tr ") == 1
    # An unchanged reading sends nothing.
    await runtime.usage.take()
    assert await browser.quiet()


async def test_rows_are_reordered_by_usage(
    browsers: Browsers, runtime: StaticRuntime, metrics: Measuring
) -> None:
    await runtime.usage.take()
    browser = await browsers(admin())
    await browser.subscribe(URL)
    await browser.html()
    other = next(row for row in browser.page(URL).rows if row.name != "web-1")
    metrics.answers["pods"] += [pod_usage(other.namespace, other.name, ("900m", "1Mi"))]
    await runtime.usage.take()
    assert "900m" in await browser.html()
    order = (await browser.control())["order"]
    assert order[:2] == [other.key, "shop/web-1"]


async def test_viewers_fetch_the_list_when_usage_columns_appear_or_disappear(
    browsers: Browsers, runtime: StaticRuntime, metrics: Measuring
) -> None:
    browser = await browsers(admin())
    before = browser.page(URL)
    assert "cpu_used" not in [column.id for column in before.columns]
    await browser.subscribe(URL)
    await browser.html()
    await runtime.usage.take()
    assert await browser.control() == {"refresh": True}
    after = browser.page(URL)
    assert "cpu_used" in [column.id for column in after.columns]
    # A viewer that was disconnected during the change receives no rows with the wrong columns.
    away = await browsers(admin())
    await away.return_with(before)
    assert 'id="freshness"' in await away.html()
    assert await away.control() == {"refresh": True}
    await browser.return_with(after)
    assert 'id="freshness"' in await browser.html()
    assert await browser.quiet()
    metrics.answers["pods"] = NotFound(404, "")
    await runtime.usage.take()
    assert await browser.control() == {"refresh": True}


async def test_open_page_of_a_pod_follows_its_usage(
    pods: Informer[Any], runtime: StaticRuntime, metrics: Measuring
) -> None:
    place, access = resolve_page("/clusters/host/projects/shop/pods/web-1"), admin()
    assert isinstance(place, DetailRoute)
    view = DetailView(place, "en", pods, start_informers(place.needs, access), runtime.usage)
    assert view.others[POD_METRICS] is runtime.usage
    await runtime.usage.take()
    assert view.update(Mail(), access, anew=True) == []
    metrics.answers["pods"][0]["containers"][0]["name"] = "app"
    await runtime.usage.take()
    [frame] = view.update(Mail(types=frozenset({POD_METRICS})), access)
    assert 'id="panel-usage"' in frame and "600m" in frame
    assert 'id="panel-summary"' not in frame
