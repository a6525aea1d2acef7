"""Changes that can be identified in websocket frames.

Each change sets a restart count that increases from change to change. A frame shows the change
if its row has that number or a higher one.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence

from bench.cluster import LoadedControlPlane
from bench.etcdwriting import PodWriter
from bench.podspec import Pod
from bench.podstatus import status_of

#: First restart count. All others have the same number of digits.
FIRST = 100_001
#: Rows per page.
_ROWS = 50

#: Per row, the restart counts with the times of their writes.
Made = dict[str, list[tuple[int, float]]]


def apps_of(pods: int) -> Sequence[str]:
    """Return the distinct apps in a fixed order."""
    return tuple(dict.fromkeys(Pod(number).app for number in range(pods)))


async def restart(
    cluster: LoadedControlPlane, apps: Sequence[str], *, first: int, rate: float, seconds: float
) -> Made:
    """Change pods of the apps in turn, at `rate` changes per second."""
    rows = _first_pages(cluster.pods, apps)
    selector = f"app.kubernetes.io/name in ({','.join(apps)})"
    writer = await PodWriter.reading(cluster.etcd_url, selector)
    made: Made = {}
    started = time.monotonic()
    try:
        for count in range(int(seconds * rate)):
            await asyncio.sleep(started + count / rate - time.monotonic())
            turn, app = divmod(count, len(apps))
            pods = rows[apps[app]]
            pod = pods[turn % len(pods)]
            # Take the time before the write, so that delays in this process can't make the lag look
            # shorter.
            when = time.monotonic()
            await _restart(writer, pod, first + count)
            made.setdefault(f"{pod.namespace}/{pod.name}", []).append((first + count, when))
    finally:
        await writer.close()
    return made


def _first_pages(pods: int, apps: Sequence[str]) -> Mapping[str, Sequence[Pod]]:
    """Return the pods on the first page of each app, ordered by name."""
    found: dict[str, list[Pod]] = {app: [] for app in apps}
    for pod in map(Pod, range(pods)):
        found.get(pod.app, []).append(pod)
    by_name = {app: sorted(some, key=lambda pod: (pod.name, pod.namespace))
               for app, some in found.items()}  # fmt: skip
    return {app: some[:_ROWS] for app, some in by_name.items()}


async def _restart(writer: PodWriter, pod: Pod, number: int) -> None:
    """Change only the restart count, so that the row keeps its position."""
    status = status_of(pod)
    first, *others = status["containerStatuses"]
    status["containerStatuses"] = [
        {**first, "restartCount": number},
        *({**one, "restartCount": 0} for one in others),
    ]
    await writer.set_status(pod.namespace, pod.name, status)


def lags(made: Mapping[str, list[tuple[int, float]]], shown: Made) -> list[float]:
    """Return the milliseconds from each change until it was shown. Changes that were never shown
    are omitted.
    """
    found: list[float] = []
    for key, changes in made.items():
        for number, when in changes:
            times = [at for other, at in shown.get(key, ()) if other >= number]
            if times:
                found.append((min(times) - when) * 1000)
    return found
