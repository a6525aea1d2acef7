"""Deletes what is left of shells: pods that have ended, and those whose time is over.

A pod is deleted as whoever opened the shell when its terminal ends. This is for all other cases: they may
not delete it, the console ended meanwhile, or the node is gone. Every web process does it, as the
console; a second time does no harm.
"""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from console.kube.errors import ApiError, Conflict, NotFound
from console.kube.gvr import PODS
from console.kube.indexes import indexes_of
from console.kube.runtime import Runtime
from console.kube.store import Entry
from console.ui.nodes.shell import LASTS, is_shell, shells

log = logging.getLogger(__name__)

#: Seconds between two rounds.
EVERY = 30.0
#: What the kubelet is given to end a pod in time.
GRACE = timedelta(minutes=1)


async def keep_swept(runtime: Runtime) -> None:
    """Until it is cancelled."""
    while True:
        await sweep(runtime)
        await runtime.clock.sleep(EVERY)


async def sweep(runtime: Runtime) -> None:
    pods = indexes_of(runtime.informer(PODS).store).by_namespace.get(shells())
    for pod in [one for one in pods if is_over(one, runtime.clock.now())]:
        key, uid = pod.key, pod.projection.uid
        try:
            await runtime.console.delete(PODS, namespace=key.namespace, name=key.name, uid=uid)
        except (NotFound, Conflict):
            # Somebody was quicker.
            continue
        except ApiError as error:
            log.warning("The pod %s of a shell cannot be deleted: %s", key, error)


def is_over(pod: Entry[Any], now: datetime) -> bool:
    """True of a pod of a shell that nobody uses any more."""
    item = pod.projection
    if not is_shell(pod) or item.deleted is not None:
        return False
    created = item.created or datetime.min.replace(tzinfo=UTC)
    return item.ended or now - created > LASTS + GRACE
