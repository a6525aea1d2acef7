"""Usage columns of the lists of pods and nodes, if usage is measured and the user may read it."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest

from console.kube.errors import NotFound, Unavailable
from console.kube.gvr import POD_METRICS, PODS
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.pages.overview.world import Measuring, make_runtime, measured, pod_usage
from tests.support.informers import bring, take_away
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, pod
from tests.views import viewers
from tests.views.conftest import ClientAs

PODS_URL, NODES_URL = "/clusters/host/pods", "/clusters/host/nodes"


@pytest.fixture
def metrics() -> Measuring:
    return measured()


@pytest.fixture
def runtime(metrics: Measuring) -> Iterator[StaticRuntime]:
    found = make_runtime(datetime.now(UTC).isoformat(), metrics)
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def page(client_as: ClientAs, url: str, who: str = "admin") -> str:
    response = await client_as(who).get(url)
    assert response.status_code == 200
    return await text_of(response)


def cells(html: str, column: str) -> dict[str, str]:
    """Return the texts of a column by object name."""
    found = {}
    for row in re.findall(r"<tr [^>]*data-key.*?</tr>", html, re.S):
        name = re.search(r'data-key="(?:[^"/]*/)?([^"]*)"', row)
        cell = re.search(rf'<td[^>]*data-col="{column}".*?</td>', row, re.S)
        if name and cell:
            text = re.sub(r"<[^>]*>", "", cell.group()).replace("&nbsp;", " ")
            found[name.group(1)] = " ".join(text.split())
    return found


async def names(client_as: ClientAs, url: str) -> list[str]:
    response = await client_as("admin").get(url)
    return [item["name"] for item in json.loads(await text_of(response))["items"]]


async def test_usage_of_pods_and_nodes_is_shown(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    await runtime.usage.take()
    html = await page(client_as, PODS_URL)
    assert cells(html, "cpu_used") == {
        "web-1": "600m 30 %",
        "api-1": "200m",
        "web-2": "—",
        "plain": "—",
        "done": "—",
    }
    assert cells(html, "memory_used")["web-1"] == "1Gi 50 %"
    html = await page(client_as, NODES_URL)
    assert cells(html, "cpu_used") == {"node-1": "1 25 %", "node-2": "250m 6 %", "node-3": "—"}
    assert cells(html, "memory_used")["node-1"] == "2Gi 25 %"


async def test_lists_are_sorted_by_usage_and_follow_the_readings(
    client_as: ClientAs, runtime: StaticRuntime, metrics: Measuring
) -> None:
    await runtime.usage.take()
    falling = f"{PODS_URL}?sort=-cpu_used&format=json"
    assert (await names(client_as, falling))[:2] == ["web-1", "api-1"]
    rising = f"{PODS_URL}?sort=cpu_used&format=json"
    assert (await names(client_as, rising))[-2:] == ["api-1", "web-1"]
    metrics.answers["pods"] = [
        pod_usage("shop", "web-1", ("1m", "1Mi")),
        pod_usage("team-a", "api-1", ("2m", "2Mi")),
        pod_usage("team-b", "plain", ("3m", "1Mi")),
    ]
    await runtime.usage.take()
    assert (await names(client_as, falling))[:3] == ["plain", "api-1", "web-1"]
    # A pod that changes between two readings keeps its position by usage.
    changed = pod("plain", "team-b", restarts=7)
    bring(runtime.informer(PODS), changed)
    assert (await names(client_as, falling))[:3] == ["plain", "api-1", "web-1"]
    take_away(runtime.informer(PODS), changed)
    assert (await names(client_as, falling))[:2] == ["api-1", "web-1"]


async def test_exports_contain_the_usage_columns(
    client_as: ClientAs, runtime: StaticRuntime
) -> None:
    csv = f"{PODS_URL}?format=csv&sort=-memory_used"
    header = (await text_of(await client_as("admin").get(csv))).splitlines()[0]
    assert "used" not in header
    await runtime.usage.take()
    header, first, *_ = (await text_of(await client_as("admin").get(csv))).splitlines()
    row = dict(zip(header.split(","), first.split(","), strict=True))
    assert (row["name"], row["cpu_used"], row["memory_used"]) == ("web-1", "600m", "1024Mi")
    response = await client_as("admin").get(f"{PODS_URL}?format=json&columns=name,memory_used")
    items = json.loads(await text_of(response))["items"]
    by_name = {item["name"]: item for item in items}
    assert by_name["api-1"]["memory_used"] == "64Mi"
    assert by_name["plain"]["memory_used"] is None
    assert "cpu_used" not in by_name["api-1"]


@pytest.mark.parametrize(
    ("metrics", "note"),
    [
        (
            Measuring(nodes=NotFound(404, ""), pods=NotFound(404, "")),
            "metrics-server is not installed",
        ),
        (
            Measuring(nodes=Unavailable("slow"), pods=Unavailable("slow")),
            "metrics-server is not responding",
        ),
        (Measuring(nodes=b"<html>", pods=b"<html>"), "could not be parsed"),
    ],
)
async def test_missing_usage_hides_the_columns_and_is_explained(
    client_as: ClientAs, runtime: StaticRuntime, note: str
) -> None:
    await runtime.usage.take()
    for url in (PODS_URL, NODES_URL, f"{PODS_URL}?sort=-cpu_used", f"{PODS_URL}?columns=cpu_used"):
        html = await page(client_as, url)
        assert 'data-col="cpu_used"' not in html
        assert note in html
        # A selected usage column returns together with the readings.
        assert '<input type="hidden" name="columns" value="cpu_used">' in html


class _Unmetered(FakeAccess):
    """A user who may list everything except usage."""

    def namespaces_where(self, verb: str, gvr: Any, subresource: str = "") -> frozenset[str] | None:
        return frozenset() if gvr.group == POD_METRICS.group else None


class _Partly(FakeAccess):
    """A user who may list all pods but only the usage of one project."""

    def namespaces_where(self, verb: str, gvr: Any, subresource: str = "") -> frozenset[str] | None:
        return frozenset({"team-a"}) if gvr == POD_METRICS else None


async def test_usage_is_shown_only_with_permission(
    client_as: ClientAs, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    await runtime.usage.take()
    monkeypatch.setitem(viewers.VIEWERS, "unmetered", lambda: _Unmetered("unmetered"))
    monkeypatch.setitem(viewers.VIEWERS, "partly", lambda: _Partly("partly"))
    # Requested after a permitted user: no rendering is shared.
    by_usage = f"{PODS_URL}?sort=-cpu_used"
    assert list(cells(await page(client_as, by_usage), "cpu_used"))[0] == "web-1"
    for url in (PODS_URL, NODES_URL, by_usage):
        html = await page(client_as, url, "unmetered")
        assert 'data-col="cpu_used"' not in html
        assert "You don't have permission to view resource usage" in unescape(html)
    found = cells(await page(client_as, by_usage, "partly"), "cpu_used")
    assert list(found)[0] == "api-1"
    assert {name: text for name, text in found.items() if text != "—"} == {"api-1": "200m"}
    assert set(cells(await page(client_as, PODS_URL, "alice"), "cpu_used")) == {"api-1"}
