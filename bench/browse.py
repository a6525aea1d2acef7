"""Response times of all pages except the pod list while pods change: searches, details, overviews,
lists.

Each view is requested for some seconds, for several objects in turn. A group's result is that of
its slowest view, so that no view hides behind others.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from urllib.parse import quote

import aiohttp

from bench.churn import ChurnProcess, order
from bench.cluster import LoadedControlPlane
from bench.loading import nodes_for
from bench.pages import AT_MOST, FEW_PODS, RATE
from bench.podspec import NAMESPACES, REPLICAS, Pod, namespace_name, node_name
from bench.reading import MISTAKE, ROWS, Page, Reader, percentiles
from bench.recent import make_recent
from bench.result import Result, percentile
from bench.webconsole import WebConsole
from bench.worldspec import BACKUPS, RelatedObject, around, around_namespace
from console.kube import gvr as types
from console.kube.gvr import BUILT_IN_GROUPS, GVR
from tests.controlplane.build import Report

CLUSTER = "/clusters/host"

_WARM = 5
_ENOUGH = 60
#: Objects per kind that are requested in turn.
_OBJECTS = 20
#: Seconds to wait until the search index is complete, and between two checks.
_READY_SECONDS, _LOOK = 300.0, 0.5

_PANEL, _OPTION, _OVERVIEW = 'id="panel-', 'role="option"', 'class="overview"'

_SEARCHES = {
    "name": "checkout-3",
    "letter": "e",
    "image": "registry",
    "nothing": "no-such-thing",
    "label": "team=payments",
    "kind": "po ledger",
    "ip": "10.128.0.1",
    "two_words": "search team-01",
}
_OVERVIEWS = {
    "platform": "/dashboard",
    "cluster": CLUSTER,
    "project": f"{CLUSTER}/projects/{{namespace}}",
}
_LISTS = (
    types.CONFIG_MAPS,
    types.EVENTS,
    types.SERVICES,
    types.REPLICA_SETS,
    types.DEPLOYMENTS,
    types.NODES,
    BACKUPS,
)
#: Tabs of detail pages, "" for the first one.
_TABS: Mapping[GVR, tuple[str, ...]] = {
    types.PODS: ("", "resources", "events", "yaml"),
    types.NODES: ("", "resources", "events", "yaml"),
    types.NAMESPACES: ("yaml",),
    types.DEPLOYMENTS: ("", "resources", "revisions", "events", "yaml"),
    types.REPLICA_SETS: ("", "resources"),
    types.STATEFUL_SETS: ("", "resources", "revisions"),
    types.DAEMON_SETS: ("resources",),
    types.CRON_JOBS: ("resources",),
    types.JOBS: ("resources",),
    types.SERVICES: ("", "resources"),
    types.ENDPOINT_SLICES: ("",),
    types.INGRESSES: ("resources",),
    types.CONFIG_MAPS: ("", "resources"),
    types.SERVICE_ACCOUNTS: ("resources",),
    types.PERSISTENT_VOLUME_CLAIMS: ("", "resources"),
    types.POD_DISRUPTION_BUDGETS: ("resources",),
    types.HORIZONTAL_POD_AUTOSCALERS: ("resources",),
    types.NETWORK_POLICIES: ("resources",),
    types.ROLE_BINDINGS: ("resources",),
    types.EVENTS: ("",),
    BACKUPS: ("", "yaml"),
}


@dataclass(frozen=True, slots=True)
class _View:
    """A group of URLs. `shows`: text that each page must contain, "" if pages may be empty."""

    urls: tuple[str, ...]
    shows: str


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    """Measure with one client that requests pages at a fixed rate. `rounds` is ignored."""
    asyncio.run(make_recent(cluster.access))
    report("starting the console\n")
    with (
        WebConsole(cluster) as console,
        ChurnProcess(order(cluster, AT_MOST, RATE, generation=7)),
    ):
        return asyncio.run(_Browsing(console, cluster.pods, report).results())


class _Browsing:
    def __init__(self, console: WebConsole, pods: int, report: Report) -> None:
        self._console, self._pods, self._report = console, pods, report
        self._enough = _ENOUGH if pods > FEW_PODS else _ENOUGH // 3

    async def results(self) -> list[Result]:
        async with await self._console.signed_in(self._console.accounts[0]) as session:
            await _ready(session)
            found = []
            for group, views in _groups(self._pods).items():
                found += await self._group(session, group, views)
        return found

    async def _group(
        self, session: aiohttp.ClientSession, group: str, views: Mapping[str, _View]
    ) -> list[Result]:
        """Return the percentiles of the slowest view under the group's name, and the p95 of each
        view.
        """
        read = {}
        for name, view in views.items():
            self._report(f"reading {group}_{name}\n")
            reader = Reader(self._console, session, view.shows, MISTAKE)
            pages = await reader.read_each(_turns(view.urls, _WARM + self._enough))
            read[name] = _times(pages[_WARM:])
        slowest = max(read.values(), key=lambda times: percentile(times, 0.95))
        return [
            *percentiles(group + "_{}_ms", self._pods, slowest),
            *(
                Result(f"{group}_{name}_p95_ms", self._pods, percentile(times, 0.95), "ms")
                for name, times in read.items()
            ),
        ]


async def _ready(session: aiohttp.ClientSession) -> None:
    """Wait until all kinds are listed, because a search uses every kind. Raise OSError after a
    timeout.
    """
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        async with session.get("/search?q=e&format=json") as response:
            found = json.loads(await response.read())
        if not found["loading"]:
            return
        if time.monotonic() > deadline:
            raise OSError(f"the console is still listing {', '.join(found['loading'])}")
        await asyncio.sleep(_LOOK)


def _groups(pods: int) -> Mapping[str, Mapping[str, _View]]:
    asked = {name: quote(text) for name, text in _SEARCHES.items()}
    searches = {name: _View((f"/search?q={text}",), "") for name, text in asked.items()}
    # The second request of a page, which also searches types that the cache doesn't follow.
    complete = {"name": _View((f"/search?q={asked['name']}&all=1",), "")}
    typed = {
        f"palette_{name}": _View((f"/palette?q={text}",), _OPTION)
        for name, text in asked.items()
        if name in ("name", "letter", "label")
    }
    spaces = [namespace_name(number) for number in range(_OBJECTS)]
    overviews = {
        name: _View(tuple(dict.fromkeys(url.format(namespace=one) for one in spaces)), _OVERVIEW)
        for name, url in _OVERVIEWS.items()
    }
    lists = {gvr.resource: _View((f"{CLUSTER}/{_segment(gvr)}",), ROWS) for gvr in _LISTS}
    return {
        "search": {**searches, **typed},
        "search_all": complete,
        "overview": overviews,
        "detail": dict(_details(pods)),
        "list": lists,
    }


def _details(pods: int) -> Iterator[tuple[str, _View]]:
    objects = _objects(pods)
    for gvr, tabs in _TABS.items():
        for tab in tabs:
            name = f"{gvr.resource}_{tab}" if tab else gvr.resource
            urls = tuple(f"{url}/{tab}" if tab else url for url in objects.get(gvr, ()))
            if urls:
                yield name, _View(urls, _PANEL)
    # All pods of a project use these objects.
    for other in around_namespace(1):
        if other.gvr in (types.CONFIG_MAPS, types.SERVICE_ACCOUNTS):
            yield f"{other.gvr.resource}_of_all", _View((f"{_url(other)}/resources",), _PANEL)


def _objects(pods: int) -> Mapping[GVR, Sequence[str]]:
    """Return URLs of some objects of each kind. With few pods, kinds can be missing."""
    nodes = range(1, min(nodes_for(pods), _OBJECTS) + 1)
    found: dict[GVR, list[str]] = {
        types.PODS: [_address(types.PODS, one.namespace, one.name) for one in _some_pods(pods)],
        types.NODES: [_address(types.NODES, "", node_name(number)) for number in nodes],
        types.NAMESPACES: [
            _address(types.NAMESPACES, "", namespace_name(number))
            for number in range(min(NAMESPACES, _OBJECTS))
        ],
    }
    for workload in range(-(-pods // REPLICAS)):
        for other in around(workload):
            urls = found.setdefault(other.gvr, [])
            if len(urls) < _OBJECTS:
                urls.append(_url(other))
        if workload > 10 * _OBJECTS:
            break
    return found


def _some_pods(pods: int) -> Iterator[Pod]:
    return (Pod(number) for number in islice(range(0, pods, max(1, pods // _OBJECTS)), _OBJECTS))


def _url(other: RelatedObject) -> str:
    metadata = other.body["metadata"]
    return _address(other.gvr, metadata["namespace"], metadata["name"])


def _address(gvr: GVR, namespace: str, name: str) -> str:
    place = f"{CLUSTER}/projects/{namespace}" if namespace else CLUSTER
    return f"{place}/{_segment(gvr)}/{name}"


def _segment(gvr: GVR) -> str:
    return gvr.resource if gvr.group in BUILT_IN_GROUPS else gvr.qualified


def _turns(urls: Sequence[str], pages: int) -> list[str]:
    return list(islice(cycle(urls), pages))


def _times(pages: Sequence[Page]) -> list[float]:
    return [page.server for page in pages]
