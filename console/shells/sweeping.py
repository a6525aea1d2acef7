"""Delete leftover pods of shells: pods that have ended or exceeded their maximum lifetime.

A shell's pod is normally deleted when its terminal closes, with the user's identity. This module
covers all other cases: the user may not delete it, the console stopped, or the node is
unavailable. Every web process runs this with the console's identity. Concurrent runs are
harmless.
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

#: Seconds between two runs.
EVERY = 30.0
#: Extra time for the kubelet to stop the pod at its deadline.
GRACE = timedelta(minutes=1)


async def keep_swept(runtime: Runtime) -> None:
    """Run `sweep` periodically until cancelled."""
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
            # Another process deleted it first.
            continue
        except ApiError as error:
            log.warning("The pod %s of a shell cannot be deleted: %s", key, error)


def is_over(pod: Entry[Any], now: datetime) -> bool:
    """Return True if `pod` is a leftover pod of a shell."""
    item = pod.projection
    if not is_shell(pod) or item.deleted is not None:
        return False
    created = item.created or datetime.min.replace(tzinfo=UTC)
    return item.ended or now - created > LASTS + GRACE
