"""Delete leftover pods of shells: pods that have ended or exceeded their maximum lifetime.

A shell's pod is normally deleted when its terminal closes, with the user's identity. This module
covers all other cases: the user may not delete it, the console stopped, or the node is
unavailable. Every web process runs this with the console's identity. Concurrent runs are
harmless.
"""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from console.actions.node_shell import MAX_LIFETIME, is_shell_pod, shell_namespace
from console.kube.errors import ApiError, Conflict, NotFound
from console.kube.gvr import PODS
from console.kube.indexes import indexes_of
from console.kube.runtime import Runtime
from console.kube.store import Entry

log = logging.getLogger(__name__)

#: Seconds between two runs.
CLEANUP_INTERVAL = 30.0
#: Extra time for the kubelet to stop the pod at its deadline.
GRACE = timedelta(minutes=1)


async def run_cleanup(runtime: Runtime) -> None:
    """Run `delete_leftover_pods` periodically until cancelled."""
    while True:
        await delete_leftover_pods(runtime)
        await runtime.clock.sleep(CLEANUP_INTERVAL)


async def delete_leftover_pods(runtime: Runtime) -> None:
    pods = indexes_of(runtime.informer(PODS).store).by_namespace.get(shell_namespace())
    for pod in [one for one in pods if is_leftover(one, runtime.clock.now())]:
        key, uid = pod.key, pod.projection.uid
        try:
            await runtime.console.delete(PODS, namespace=key.namespace, name=key.name, uid=uid)
        except (NotFound, Conflict):
            # Another process deleted it first.
            continue
        except ApiError as error:
            log.warning("The pod %s of a shell cannot be deleted: %s", key, error)


def is_leftover(pod: Entry[Any], now: datetime) -> bool:
    """Return True if `pod` is a leftover pod of a shell."""
    item = pod.projection
    if not is_shell_pod(pod) or item.deleted is not None:
        return False
    created = item.created or datetime.min.replace(tzinfo=UTC)
    return item.ended or now - created > MAX_LIFETIME + GRACE
