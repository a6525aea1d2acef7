"""`python -m bench.search`: a search over 10,000 pods and 30,000 objects of other kinds, in milliseconds.

Needs no cluster: the cache is filled by hand. Each search is made in an index that is up to date, which
is what the second one finds; the first one of all makes it.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()

from django.test import AsyncRequestFactory  # noqa: E402  Django's apps must be ready

from bench.podspec import Pod  # noqa: E402
from console.kube import gvr  # noqa: E402
from console.kube.informer import Informer  # noqa: E402
from console.kube.runtime import StaticRuntime, set_runtime  # noqa: E402
from console.pages.search import search_page  # noqa: E402
from console.ui.access import Access  # noqa: E402
from console.ui.links import HOST_CLUSTER  # noqa: E402
from console.ui.search import search, searchable  # noqa: E402
from console.ui.searchquery import parse_search  # noqa: E402
from tests.ui.support import FakeAccess  # noqa: E402

PODS, OTHERS, ROUNDS = 10_000, 30_000, 15
KINDS = (
    gvr.REPLICA_SETS, gvr.DEPLOYMENTS, gvr.SERVICES, gvr.ENDPOINT_SLICES, gvr.CONFIG_MAPS,
    gvr.SERVICE_ACCOUNTS, gvr.JOBS, gvr.PERSISTENT_VOLUME_CLAIMS, gvr.INGRESSES, gvr.ROLE_BINDINGS,
)  # fmt: skip
SEARCHES = (
    "checkout-3",
    "e",
    "registry",
    "no-such-thing",
    "team=payments",
    "po ledger",
    "10.0.0.1",
)


def world() -> StaticRuntime:
    pods = [Pod(number).manifest() for number in range(PODS)]
    found = {gvr.PODS: _informer(gvr.PODS, pods)}
    each = OTHERS // len(KINDS)
    for kind in KINDS:
        found[kind] = _informer(kind, [_other(pods[number]) for number in range(each)])
    return StaticRuntime(found)


def _other(pod: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": dict(pod["metadata"])}


def _informer(kind: gvr.GVR, objects: list[dict[str, Any]]) -> Informer[Any]:
    for number, item in enumerate(objects):
        item["metadata"] |= {"uid": f"{kind.resource}-{number}", "resourceVersion": str(number + 1)}
    return Informer.preloaded(kind, objects)


def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - began)


def measure(runtime: StaticRuntime, who: str, access: Access) -> None:
    informers = runtime.informers()
    where = [
        (one, informers[one.kind.gvr]) for one in searchable(access) if one.kind.gvr in informers
    ]

    def found(text: str) -> int:
        return search(parse_search(text), where, cluster=HOST_CLUSTER).total

    def page(text: str) -> None:
        request: Any = AsyncRequestFactory().get("/search", {"q": text, "format": "json"})
        request.access, request.account = access, who
        assert asyncio.run(search_page(request)).status_code == 200  # noqa: S101

    print(f"{who}: first search {milliseconds(lambda: found('a')):.0f} ms")  # noqa: T201
    for text in SEARCHES:
        own = median(milliseconds(partial(found, text)) for _ in range(ROUNDS))
        whole = median(milliseconds(partial(page, text)) for _ in range(ROUNDS))
        print(f"{text:>16} {found(text):>7,} found {own:6.1f} ms, answered {whole:6.1f} ms")  # noqa: T201


def main() -> int:
    runtime = world()
    set_runtime(runtime)
    measure(runtime, "admin", FakeAccess("admin"))
    few = {pod.namespace for pod in map(Pod, (0, 5, 10))}
    measure(runtime, "tenant of three projects", FakeAccess("tenant", list_in=few))
    return 0


if __name__ == "__main__":
    sys.exit(main())
