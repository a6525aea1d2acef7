"""Response times of the pod list while pods change."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from bench.churn import ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.rate import ChangeRate
from bench.reading import Page, Reader, percentiles
from bench.result import Result, percentile
from bench.webconsole import WebConsole
from tests.controlplane.build import Report

#: Changes per second, if the machine is fast enough.
RATE = 300.0
#: Maximum seconds of changes; they stop with the last page.
AT_MOST = 3600.0
LIST = "/clusters/host/pods"

_LIMIT = 50
_WARM = 10
#: Pages per view; fewer for clusters with few pods, so that a trial run is short.
_ENOUGH = 120
FEW_PODS = 2000
#: Sort columns. Ascending status is the default order, measured as the first page.
_SORTS = ("name", "namespace", "ready", "restarts", "node", "ip", "age")


@dataclass(frozen=True, slots=True)
class _View:
    """A page. `query`: query string of the list. `tenant`: requested by a user with access to three
    namespaces.
    """

    query: str = ""
    tenant: bool = False


def _views(pods: int) -> Mapping[str, _View]:
    """Return views by the prefix of their result names."""
    far = min(100, -(-pods // _LIMIT))
    sorts = {f"page_sort_{column}": _View(f"?sort={column}") for column in _SORTS}
    falling = {f"page_sort_{column}_desc": _View(f"?sort=-{column}") for column in _SORTS}
    return {
        "page": _View(),
        "page_100": _View(f"?page={far}"),
        "page_search": _View("?q=checkout"),
        **sorts,
        **falling,
        "page_sort_status_desc": _View("?sort=-status"),
        "page_sort_age_100": _View(f"?sort=age&page={far}"),
        "page_namespaces": _View("?namespace=team-001&namespace=team-002&namespace=team-003"),
        "page_tenant": _View(tenant=True),
    }


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Measure with one client that requests pages at a fixed rate. `rounds` is ignored."""
    report("starting the console\n")
    with (
        WebConsole(cluster) as console,
        ChurnProcess(order(cluster, AT_MOST, RATE, generation=4)),
    ):
        changes = ChangeRate(cluster)
        read = asyncio.run(_read(console, cluster.pods, report))
        rate = changes.per_second()
    return [
        Result("page_changes_per_second", cluster.pods, rate, "1/s"),
        *_results(read, cluster.pods),
    ]


async def _read(console: WebConsole, pods: int, report: Report) -> dict[str, list[Page]]:
    """Return the pages by view. The first page of each view is at [0]; it counts only as the first
    request.
    """
    enough = _ENOUGH if pods > FEW_PODS else _ENOUGH // 3
    read: dict[str, list[Page]] = {}
    async with (
        await console.signed_in(console.accounts[0]) as admin,
        await console.signed_in(console.tenant) as tenant,
    ):
        for name, view in _views(pods).items():
            report(f"reading {name}\n")
            session = tenant if view.tenant else admin
            read[name] = await _pages(Reader(console, session), view, enough)
        # Measure the first page again at the end, so that drift of the machine's load is included.
        read["page"] += await _again(console, admin, enough)
    return read


async def _pages(reader: Reader, view: _View, enough: int) -> list[Page]:
    first, *rest = await reader.read(LIST + view.query, 1 + _WARM + enough)
    return [first, *rest[_WARM:]]


async def _again(console: WebConsole, session: aiohttp.ClientSession, enough: int) -> list[Page]:
    pages = await Reader(console, session).read(LIST, _WARM + enough * 2)
    return pages[_WARM:]


def _results(read: Mapping[str, list[Page]], n: int) -> list[Result]:
    results: list[Result] = []
    for name, (first, *pages) in read.items():
        results += percentiles(name + "_{}_ms", n, [page.server for page in pages])
        results.append(Result(f"{name}_first_ms", n, first.server, "ms"))
    seen = [page.client for page in read["page"][1:]]
    results += percentiles("page_client_{}_ms", n, seen)
    slow = {name: _p95(pages) / _p95(read["page"]) for name, pages in read.items()}
    tenant = slow.pop("page_tenant")
    results.append(Result("page_tenant_ratio", n, tenant, "x"))
    results.append(Result("page_slowest_view_ratio", n, max(slow.values()), "x"))
    return results


def _p95(pages: list[Page]) -> float:
    return percentile([page.server for page in pages[1:]], 0.95)
