"""Metrics in Prometheus format, and access to them."""

import re
from collections.abc import Iterator
from ipaddress import ip_network

import aiohttp
import pytest
from django.test import AsyncClient, AsyncRequestFactory
from pytest_django import Settings

from console.kube.gvr import GVR, PODS
from console.kube.informer import Informer
from console.live.counters import Counters
from console.metrics import families
from console.metrics.families import RequestMetrics, resident_bytes
from console.metrics.standalone import MetricsServer
from console.views.health import metrics
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kube import generic
from tests.support.informers import preloaded
from tests.support.ports import LOOPBACK, free_port
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import small_world

TOKEN = "a-token-of-sixteen-or-more"
SAMPLE = re.compile(r'[a-z_]+(\{([a-z_]+="[^"\n]*")(,[a-z_]+="[^"\n]*")*\})? ([0-9.e+-]+|\+Inf)')
COLD = GVR("apps", "v1", "widgets")


@pytest.fixture
def counted(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[RequestMetrics]:
    settings.METRICS_TOKEN = TOKEN
    settings.MIDDLEWARE = ["console.web.middleware.CountingMiddleware", *settings.MIDDLEWARE]
    found = RequestMetrics()
    monkeypatch.setattr("console.web.middleware.requests", found)
    monkeypatch.setattr(families, "requests", found)
    pods = preloaded(PODS, small_world())
    set_host_cluster(StaticRuntime({PODS: pods, COLD: Informer(COLD, generic.decode)}))
    yield found
    unset_host_cluster()


async def read(
    token: str = "", host: str = "localhost:8000", source: str = "127.0.0.1", **headers: str
) -> tuple[int, str]:
    given = {**({"Authorization": token} if token else {}), **headers}
    request = AsyncRequestFactory().get("/metrics", headers=given)
    request.META |= {"REMOTE_ADDR": source, "HTTP_HOST": host}
    response = await metrics(request)
    return response.status_code, response.content.decode()


def samples(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


async def test_response_is_prometheus_text(counted: RequestMetrics) -> None:
    client = AsyncClient()
    response = await client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    text = response.content.decode()
    assert text.endswith("\n")
    names: list[str] = []
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            names.append(line.split()[2])
            assert line.split()[3] in ("counter", "gauge", "histogram")
        elif not line.startswith("# HELP "):
            assert SAMPLE.fullmatch(line), line
    assert len(names) == len(set(names))


async def test_cache_metrics_are_reported(counted: RequestMetrics) -> None:
    found = samples((await read())[1])
    pods = '{cluster="host",group="",resource="pods",version="v1"}'
    cold = '{cluster="host",group="apps",resource="widgets",version="v1"}'
    assert found[f"quarterdeck_cache_objects{pods}"] == 6
    assert found[f"quarterdeck_cache_bytes{pods}"] > 0
    assert found[f"quarterdeck_cache_synced{pods}"] == 1
    assert found[f"quarterdeck_cache_synced{cold}"] == 0
    assert 0 <= found[f"quarterdeck_cache_lag_seconds{pods}"] < 5
    assert f"quarterdeck_cache_lag_seconds{cold}" not in found
    for name in ("events", "undecodable", "relists", "watch_restarts", "listener_failures"):
        assert found[f"quarterdeck_cache_{name}_total{pods}"] == 0
    assert found[f"quarterdeck_cache_listeners{pods}"] == 0
    assert found["process_resident_memory_bytes"] > 10_000_000
    assert found["process_cpu_seconds_total"] > 0
    assert found["process_start_time_seconds"] > 1_700_000_000


async def test_cached_fragments_are_reported(counted: RequestMetrics) -> None:
    await AsyncClient().get("/clusters/host/pods?limit=100")
    found = samples((await read())[1])
    kept = {name: n for name, n in found.items() if name.startswith("quarterdeck_drawn_")}
    assert {name.partition("{")[0] for name in kept} == {
        "quarterdeck_drawn_kept",
        "quarterdeck_drawn_bytes",
    }
    assert all(number >= 0 for number in kept.values())


async def test_derived_data_is_reported(counted: RequestMetrics) -> None:
    await AsyncClient().get("/clusters/host/pods?limit=100")
    found = samples((await read())[1])
    for name in ("counts", "lists", "problems", "recent changes", "schemas", "search indexes"):
        assert found[f'quarterdeck_derived_kept{{what="{name}"}}'] >= 0
        assert found[f'quarterdeck_derived_items{{what="{name}"}}'] >= 0
    for name in ("form", "headers", "links", "make_pager", "picker"):
        assert found[f'quarterdeck_derived_kept{{what="{name}"}}'] >= 0


async def test_requests_are_counted_by_route_and_never_by_url(counted: RequestMetrics) -> None:
    client = AsyncClient()
    for path in ("/clusters/host/pods?q=canary", "/clusters/host/pods", "/canary", "/livez"):
        await client.get(path)
    found = samples((await read())[1])
    assert found['quarterdeck_http_requests_total{route="list",status="3xx"}'] == 2
    assert found['quarterdeck_http_requests_total{route="none",status="4xx"}'] == 1
    assert found['quarterdeck_http_requests_total{route="livez",status="2xx"}'] == 1
    assert found['quarterdeck_http_render_seconds_count{route="list"}'] == 2
    assert found['quarterdeck_http_render_seconds_bucket{le="+Inf",route="list"}'] == 2
    assert "canary" not in "".join(found)
    assert not any("_created" in name for name in found)


async def test_metrics_contain_no_tenant_names(counted: RequestMetrics) -> None:
    text = (await read())[1]
    for word in ("shop", "team-a", "web-1", "node-1", "admin"):
        assert word not in text


async def test_websocket_metrics_are_reported(
    counted: RequestMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    counters = Counters(sockets=3, frames=10, bytes=2048, overflows=1, refreshes=4, slow_closed=2)
    for seconds in (0.0004, 0.02, 3.0):
        counters.flush_seconds.observe(seconds)
    monkeypatch.setattr(families, "counters", counters)
    found = samples((await read())[1])
    assert found["quarterdeck_live_sockets"] == 3
    assert found["quarterdeck_live_frames_total"] == 10
    assert found["quarterdeck_live_bytes_total"] == 2048
    assert found["quarterdeck_live_mailbox_overflows_total"] == 1
    assert found["quarterdeck_live_refreshes_total"] == 4
    assert found["quarterdeck_live_slow_closed_total"] == 2
    assert found['quarterdeck_live_flush_seconds_bucket{le="0.001"}'] == 1
    assert found['quarterdeck_live_flush_seconds_bucket{le="0.025"}'] == 2
    assert found['quarterdeck_live_flush_seconds_bucket{le="1.0"}'] == 2
    assert found['quarterdeck_live_flush_seconds_bucket{le="+Inf"}'] == 3
    assert found["quarterdeck_live_flush_seconds_count"] == 3
    assert found["quarterdeck_live_flush_seconds_sum"] == pytest.approx(3.0204)


async def test_metrics_work_without_a_runtime(counted: RequestMetrics) -> None:
    unset_host_cluster()
    status, text = await read()
    assert status == 200
    assert "quarterdeck_cache" not in text
    assert "quarterdeck_live_sockets" in text


def test_resident_memory_is_reported() -> None:
    assert resident_bytes() > 10_000_000


# Access


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:1"])
async def test_loopback_requests_are_permitted(counted: RequestMetrics, host: str) -> None:
    assert (await read(host=host))[0] == 200
    assert (await read(host=host, source="::1"))[0] == 200
    assert (await read(host=host, source="::ffff:127.0.0.1"))[0] == 200


@pytest.mark.parametrize(
    "host", ["console.example.com", "127.0.0.1.example.com", "", "[::1", "x:y"]
)
async def test_proxied_requests_are_refused(counted: RequestMetrics, host: str) -> None:
    """Requests forwarded by a proxy on this machine, or of a browser that resolved a foreign name
    to it (DNS rebinding).
    """
    status, text = await read(host=host)
    assert status == 403
    assert "quarterdeck_" not in text


@pytest.mark.parametrize("source", ["10.0.0.7", "203.0.113.9", "fe80::1", ""])
async def test_remote_requests_are_refused(counted: RequestMetrics, source: str) -> None:
    status, text = await read(source=source)
    assert status == 403
    assert "METRICS_TOKEN" in text
    assert "quarterdeck_" not in text


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:8000", "[::1]:8000", "console.example.com"]
)
async def test_requests_of_a_local_proxy_are_refused_with_any_host(
    counted: RequestMetrics, settings: Settings, host: str
) -> None:
    settings.BASE_URL = "https://console.example.com"
    status, text = await read(host=host)
    assert status == 403
    assert "quarterdeck_" not in text
    assert (await read(f"Bearer {TOKEN}", host=host))[0] == 200


async def test_client_address_is_taken_from_the_trusted_proxy(
    counted: RequestMetrics, settings: Settings
) -> None:
    from_elsewhere = {"X-Forwarded-For": "203.0.113.9"}
    settings.TRUSTED_PROXIES = ()
    assert (await read(**from_elsewhere))[0] == 200
    settings.TRUSTED_PROXIES = (ip_network("127.0.0.0/8"),)
    assert (await read(**from_elsewhere))[0] == 403


async def test_token_is_accepted_from_anywhere(counted: RequestMetrics) -> None:
    for token in (f"Bearer {TOKEN}", f"bearer {TOKEN}"):
        assert (await read(token, host="console.example.com", source="10.0.0.7"))[0] == 200


@pytest.mark.parametrize(
    "token", ["Bearer wrong", "Bearer", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", "Bearer ü"]
)
async def test_wrong_token_is_refused_even_from_loopback(
    counted: RequestMetrics, token: str
) -> None:
    assert (await read(token))[0] == 403


async def test_token_is_disabled_unless_configured(
    counted: RequestMetrics, settings: Settings
) -> None:
    settings.METRICS_TOKEN = ""
    for token in ("Bearer ", "Bearer", f"Bearer {TOKEN}"):
        assert (await read(token))[0] == 403
    assert (await read())[0] == 200


async def test_standalone_metrics_server_requires_a_token_or_a_local_request(
    counted: RequestMetrics, settings: Settings
) -> None:
    console, port = MetricsServer(lambda: True), free_port()
    assert await console.start(LOOPBACK, port) is None
    try:
        async with aiohttp.ClientSession(f"http://{LOOPBACK}:{port}") as session:

            async def read(**headers: str) -> tuple[int, bool]:
                async with session.get("/metrics", headers=headers) as answer:
                    return answer.status, "quarterdeck_" in await answer.text()

            assert await read() == await read(Authorization=f"Bearer {TOKEN}") == (200, True)
            assert await read(Authorization="Bearer another") == (403, False)
            assert await read(Host="console.example.com") == (403, False)
            # Only the web process is behind a proxy.
            settings.BASE_URL = "https://console.example.com"
            assert await read() == (200, True)
    finally:
        await console.stop()
