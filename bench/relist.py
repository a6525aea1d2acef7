"""How long pages take while the console lists all pods again, as it must when a watch cannot go on.

A proxy between the console and kube-apiserver breaks all connections, and answers 410 to the watch that
the console then asks for; so it lists, from the real server. A relist lasts from when that begins to
answer, which takes it a while when it is busy, until the console asks for the next watch, which is when
the list is in the cache.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.churn import ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.pages import AT_MOST, FEW_PODS, LIST, RATE
from bench.reading import Page, Reader, percentiles
from bench.result import Result
from bench.webconsole import WebConsole
from tests.controlplane.build import Report
from tests.controlplane.proxy import Answer, CuttingProxy, Seen, refusal

#: Seconds between two relists: after a shorter watch the console waits longer before it goes on.
_CALM = 10.5
_RELISTS = 6
_RELISTS_OF_FEW = 3
#: For one relist. With 50,000 pods it takes ten seconds or more.
_SECONDS = 120.0
_POLL = 0.02


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """`rounds` is not used."""
    report("starting the console behind a proxy\n")
    with (
        CuttingProxy(cluster) as proxy,
        _kubeconfig(cluster, proxy) as kubeconfig,
        WebConsole(cluster, kubeconfig=kubeconfig) as console,
        ChurnProcess(order(cluster, AT_MOST, RATE, generation=5)),
    ):
        times = _RELISTS if cluster.pods > FEW_PODS else _RELISTS_OF_FEW
        pages, relists = asyncio.run(_read(console, proxy, times, report))
    return _results(pages, relists, cluster.pods)


@contextmanager
def _kubeconfig(cluster: LoadedControlPlane, proxy: CuttingProxy) -> Iterator[Path]:
    """The cluster's own, but by way of the proxy, through which no client certificate gets."""
    config = json.loads(cluster.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = proxy.url
    config["users"][0]["user"] = {"token": cluster.access.token}
    with TemporaryDirectory(prefix="kubeconfig-") as folder:
        path = Path(folder, "config")
        path.touch(mode=0o600)
        path.write_text(json.dumps(config))
        yield path


async def _read(
    console: WebConsole, proxy: CuttingProxy, times: int, report: Report
) -> tuple[list[Page], list[tuple[float, float]]]:
    """All pages, and when each relist began and ended (`time.monotonic()`)."""
    relists: list[tuple[float, float]] = []
    done = asyncio.Event()
    async with await console.signed_in(console.accounts[0]) as session:
        reading = asyncio.create_task(Reader(console, session).until(LIST, done))
        try:
            for number in range(times):
                report(f"relist {number + 1} of {times}\n")
                await asyncio.sleep(_CALM)
                relists.append(await _relist(proxy))
        finally:
            done.set()
        return await reading, relists


async def _relist(proxy: CuttingProxy) -> tuple[float, float]:
    seen = len(proxy.seen)
    proxy.answer(_expired)
    proxy.reset()
    asked = await _next(proxy, "list", seen)
    began = time.monotonic() - _POLL
    proxy.answer(None)
    ended = await _next(proxy, "watch", seen, after=asked)
    return began, ended


def _expired(seen: Seen) -> Answer | None:
    if seen.verb == "watch" and seen.resource == "pods":
        return refusal(410, "Expired")
    return None


async def _next(proxy: CuttingProxy, verb: str, since: int, *, after: float = 0.0) -> float:
    """When pods were asked for in this way, once kube-apiserver has begun to answer. Raises
    TimeoutError."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        for seen in proxy.seen[since:]:
            asked = seen.verb == verb and seen.resource == "pods" and seen.at > after
            if asked and seen.status == 200:
                return seen.at
        await asyncio.sleep(_POLL)
    raise TimeoutError(f"the console did not {verb} pods again in {_SECONDS:g} s")


def _results(pages: Sequence[Page], relists: Sequence[tuple[float, float]], n: int) -> list[Result]:
    """Without a page that was read during a relist there is nothing to tell."""
    during = [
        page.server
        for page in pages
        if any(page.began < ended and began < page.ended for began, ended in relists)
    ]
    results = [
        Result("relist_seconds", n, median(ended - began for began, ended in relists), "s"),
        Result("pages_during_relist", n, len(during), ""),
    ]
    if during:
        results += percentiles("page_{}_during_relist_ms", n, during)
        results.append(Result("page_most_during_relist_ms", n, max(during), "ms"))
    return results
