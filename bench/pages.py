"""How long the list of pods takes, while pods change."""

import asyncio
import time
from collections.abc import Mapping

import aiohttp

from bench.churn import ChurnProcess
from bench.cluster import LoadedControlPlane
from bench.live import order
from bench.rate import ChangeRate
from bench.result import Result, percentile
from bench.webconsole import WebConsole
from tests.controlplane.build import Report

#: Changes a second meanwhile, if the machine makes so many.
RATE = 300.0
_SECONDS = 8.0
#: Seconds that pods change at most; it ends with the last page.
_AT_MOST = 3600.0
_WARM = 20
#: Of requests that count, at least.
_ENOUGH = 100
_LIST = "/clusters/host/pods"
_FIRST = "page"

#: Result names begin with the key. The default order is the first page's.
_VIEWS: Mapping[str, str] = {
    _FIRST: "",
    "page_middle": "?page={middle}",
    "page_search": "?q=checkout-1",
    "page_sort_name": "?sort=name",
    "page_sort_age": "?sort=-age",
    "page_sort_restarts": "?sort=-restarts",
    "page_sort_node": "?sort=node",
    "page_sort_ip": "?sort=ip",
    "page_namespaces": "?namespace=team-001&namespace=team-002&namespace=team-003",
}


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """One reader on one connection, so no time in a queue. `rounds` is not used."""
    report("starting the console\n")
    with (
        WebConsole(cluster) as console,
        ChurnProcess(order(cluster, _AT_MOST, RATE, generation=4)),
    ):
        changes = ChangeRate(cluster)
        results = asyncio.run(_read(console, cluster.pods, report))
        rate = changes.per_second()
    return [Result("page_changes_per_second", cluster.pods, rate, "1/s"), *results]


async def _read(console: WebConsole, pods: int, report: Report) -> list[Result]:
    results: list[Result] = []
    session = await console.signed_in(console.accounts[0])
    async with session:
        for name, query in _VIEWS.items():
            report(f"reading {name}\n")
            # Fifty rows a page; the middle is as far as a page can be from both ends.
            url = _LIST + query.format(middle=max(1, pods // 100))
            times = await _times(session, url)
            for share, suffix in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
                results.append(Result(f"{name}_{suffix}_ms", pods, percentile(times, share), "ms"))
    return results


async def _times(session: aiohttp.ClientSession, url: str) -> list[float]:
    """Milliseconds from sending a request to having read all of the answer."""
    times: list[float] = []
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end or len(times) < _WARM + _ENOUGH:
        started = time.perf_counter()
        async with session.get(url) as response:
            await response.read()
            if response.status != 200:
                raise OSError(f"{url} answered {response.status}")
        times.append((time.perf_counter() - started) * 1000)
    return times[_WARM:]
