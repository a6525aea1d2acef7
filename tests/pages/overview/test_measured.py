"""CPU and memory usage on the overview pages, and the note shown when usage is unavailable."""

from collections.abc import Collection

import pytest

from console.kube.errors import Forbidden, NotFound, Unavailable
from console.kube.gvr import POD_METRICS
from console.kube.metrics_server import UsageProblem
from console.kube.prometheus import HistoryResult, Prometheus
from console.kube.usage_history import UsageHistory
from rbac.process_clusters import set_host_cluster
from tests.pages.overview.pages import CLUSTER, SHOP, gauge, page, section
from tests.pages.overview.world import Measuring, measured
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import But
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

NOTES: list[tuple[Measuring, str]] = [
    (Measuring(nodes=NotFound(404, ""), pods=NotFound(404, "")), "metrics-server is not installed"),
    (
        Measuring(nodes=Forbidden(403, ""), pods=Forbidden(403, "")),
        "does not have permission to read resource usage",
    ),
    (
        Measuring(nodes=Unavailable("slow"), pods=Unavailable("slow")),
        "metrics-server is not responding",
    ),
    (Measuring(nodes=b"<html>", pods=b"<html>"), "could not be parsed"),
]


@pytest.mark.parametrize(("metrics", "note"), NOTES, ids=[note for _, note in NOTES])
async def test_overview_explains_why_usage_is_unavailable(
    client_as: ClientAs, runtime: StaticRuntime, note: str
) -> None:
    assert "Loading resource usage." in await page(client_as, CLUSTER)
    await runtime.usage.take()
    for path in (CLUSTER, SHOP):
        html = await page(client_as, path)
        assert note in html
        assert "Used" not in gauge(html, "cpu")


MEASURED = pytest.mark.parametrize("metrics", [measured()], ids=["measured"])


@MEASURED
async def test_overview_shows_usage_of_cluster_and_project(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    await runtime.usage.take()
    html = await page(client_as, CLUSTER)
    assert gauge(html, "cpu").startswith("CPU of 12 Used 1.2 10 %")
    assert gauge(html, "memory").startswith("Memory of 24Gi Used 3Gi 12 %")
    shop = await page(client_as, SHOP)
    assert gauge(shop, "cpu").startswith("CPU Used 600m")
    assert gauge(shop, "memory").startswith("Memory Used 1Gi")
    # A single reading doesn't make a chart.
    assert "<figure" not in html
    await runtime.usage.take()
    html = await page(client_as, CLUSTER)
    assert "CPU usage in the last 1h: 1.2 now, peak 1.2" in html


@MEASURED
async def test_overview_shows_usage_of_the_viewers_projects_only(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    await runtime.usage.take()
    html = await page(client_as, CLUSTER, "alice")
    assert gauge(html, "cpu") == "CPU Used 200m Requested 250m"
    assert section(html, "projects").endswith("team-a 2 250m used 200m 64Mi used 64Mi 1")


@MEASURED
async def test_overview_hides_usage_of_projects_without_metrics_permission(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user may list the pods of two projects but read the usage of one."""
    monkeypatch.setitem(VIEWERS, "erin", lambda: But(POD_METRICS, "team-a"))
    await runtime.usage.take()
    html = await page(client_as, CLUSTER, "erin")
    assert gauge(html, "cpu").startswith("CPU Used 200m Requested 1.8")
    found = section(html, "projects")
    assert "shop 2 1.5 1.5Gi 2 team-a 2 250m used 200m" in found


class _Past(Prometheus):
    """A Prometheus with a fixed result."""

    def __init__(self, past: HistoryResult) -> None:
        super().__init__(lambda: self.address)
        self.address = "http://prometheus:9090"
        self.past_ = past
        self.asked: list[tuple[object, int]] = []

    async def usage_history(
        self, namespaces: Collection[str] | None, *, seconds: int
    ) -> HistoryResult:
        self.asked.append((namespaces, seconds))
        return self.past_


async def test_overview_shows_longer_history_with_prometheus(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    assert "?range=" not in await page(client_as, CLUSTER)
    known = _Past(HistoryResult(UsageHistory([1.0] * 120, [2.0**30] * 120)))
    set_host_cluster(runtime, prometheus=known)
    assert 'href="?range=1d"' in await page(client_as, CLUSTER)
    assert known.asked == []
    known.address = ""
    assert 'href="?range=' not in await page(client_as, f"{CLUSTER}?range=1d")
    assert known.asked == []
    known.address = "http://prometheus:9090"
    html = await page(client_as, f"{CLUSTER}?range=1d")
    assert "CPU usage in the last 1d: 1 now, peak 1" in html
    assert "1d ago" in html
    await page(client_as, f"{CLUSTER}?range=7d", "alice")
    assert known.asked == [(None, 86_400), (frozenset({"team-a"}), 7 * 86_400)]
    known.past_ = HistoryResult(problem=UsageProblem.UNAVAILABLE)
    assert "Prometheus is not responding." in await page(client_as, f"{SHOP}?range=6h")
    for nonsense in ("?range=", "?range=9y", "?range=1d&range=%00", "?range=%FF"):
        await page(client_as, CLUSTER + nonsense)
