"""`python -m bench.existence_timing`: test whether response times of forbidden requests reveal
which objects exist.

For each registered kind, a user without permissions requests the pages of an existing object and
of a missing one, in random order. No cluster is needed. The script prints the share of pairs in
which the existing object took longer. It is 0.5 if times reveal nothing, with a random deviation
of about 0.01 at this number of pairs.
"""

import asyncio
import os
import random
import sys
import time
from statistics import median
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "console.settings")
django.setup()

from django.test import AsyncRequestFactory  # noqa: E402  Django's apps must be ready

from console.kube.identity import Identity  # noqa: E402
from console.ui.core.clusters import clusters  # noqa: E402
from console.ui.core.kind import ResourceKind  # noqa: E402
from console.ui.core.registry import kinds  # noqa: E402
from console.views.detail import detail_page  # noqa: E402
from rbac.process_clusters import set_host_cluster  # noqa: E402
from tests.leaks.world import CHARLIE, Clusters, secret  # noqa: E402

PAIRS, WARM_UP = 100, 10


async def refusal(kind: ResourceKind, namespace: str, name: str) -> float:
    """Return the response time in seconds."""
    request: Any = AsyncRequestFactory().get("/")
    request.access = clusters.host.access_for(Identity(CHARLIE))
    request.account, request.htmx = CHARLIE, False
    request.cluster = clusters.host
    request.csp_nonce = request.request_id = ""
    began = time.perf_counter()
    response = await detail_page(request, clusters.host, namespace, kind.segment, name)
    took = time.perf_counter() - began
    assert response.status_code == 403  # noqa: S101
    return took


async def pairs() -> list[tuple[float, float]]:
    found = []
    for kind in kinds:
        meta = secret(kind)["metadata"]
        place, name = meta.get("namespace", ""), meta["name"]
        # A name of the same length, so that only existence differs.
        missing = name[::-1]
        for number in range(PAIRS + WARM_UP):
            there_first = random.random() < 0.5  # noqa: S311
            names = (name, missing) if there_first else (missing, name)
            times = [await refusal(kind, place, one) for one in names]
            if number >= WARM_UP:
                found.append((times[0], times[1]) if there_first else (times[1], times[0]))
    return found


def main() -> int:
    set_host_cluster(Clusters().runtime(True))
    found = asyncio.run(pairs())
    slower = sum(there > missing for there, missing in found) / len(found)
    there, missing = (median(times) * 1e6 for times in zip(*found, strict=True))
    print(f"{len(found):,} pairs: there {there:.0f} us, missing {missing:.0f} us")  # noqa: T201
    print(f"there took longer in {slower:.3f} of them")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
