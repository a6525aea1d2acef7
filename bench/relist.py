"""Response times while the console lists all pods again, as after an expired watch."""

import asyncio
from collections.abc import Sequence
from statistics import median

from bench.churn import ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.expiring_watch import Relist
from bench.pages import AT_MOST, FEW_PODS, LIST, RATE
from bench.reading import Page, Reader, percentiles
from bench.result import Result
from bench.webconsole import WebConsole
from tests.controlplane.build import Report

#: Seconds between two relists. After a shorter watch, the console waits longer before it continues.
_CALM = 10.5
_RELISTS = 6
_RELISTS_OF_FEW = 3
#: Timeout for one relist in seconds. With 50,000 pods, a relist takes ten seconds or more.
_SECONDS = 120.0
_POLL = 0.1


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Run the benchmark. `rounds` is ignored."""
    report("starting the console\n")
    with (
        WebConsole(cluster) as console,
        ChurnProcess(order(cluster, AT_MOST, RATE, generation=5)),
    ):
        times = _RELISTS if cluster.pods > FEW_PODS else _RELISTS_OF_FEW
        pages, relists = asyncio.run(_read(console, times, report))
    return _results(pages, relists, cluster.pods)


async def _read(
    console: WebConsole, times: int, report: Report
) -> tuple[list[Page], Sequence[Relist]]:
    """Return all pages and the relists during that time."""
    known = len(console.relists())
    done = asyncio.Event()
    async with await console.signed_in(console.accounts[0]) as session:
        reading = asyncio.create_task(Reader(console, session).until(LIST, done))
        try:
            for number in range(1, times + 1):
                report(f"relist {number} of {times}\n")
                await asyncio.sleep(_CALM)
                console.forget()
                await _until(console, known + number)
        finally:
            done.set()
        return await reading, console.relists()[known:]


async def _until(console: WebConsole, relists: int) -> None:
    """Wait for a number of relists. Raise TimeoutError."""
    async with asyncio.timeout(_SECONDS):
        while len(console.relists()) < relists:
            await asyncio.sleep(_POLL)


def _results(pages: Sequence[Page], relists: Sequence[Relist], n: int) -> list[Result]:
    """Return the results. Page times are omitted if no page overlaps with a relist."""
    during = [
        page.server
        for page in pages
        if any(page.began < one.ended and one.began < page.ended for one in relists)
    ]
    results = [
        Result("relist_seconds", n, median(one.ended - one.began for one in relists), "s"),
        Result("pages_during_relist", n, len(during), ""),
    ]
    if during:
        results += percentiles("page_{}_during_relist_ms", n, during)
        results.append(Result("page_most_during_relist_ms", n, max(during), "ms"))
    return results
