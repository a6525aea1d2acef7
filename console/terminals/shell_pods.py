"""Delete the pods of shells when their terminals close, and leftover pods: pods that have ended or
exceeded their maximum lifetime.

A shell's pod is normally deleted when its terminal closes, with the user's identity. The cleanup
covers all other cases: the user may not delete it, the console stopped, or the node is
unavailable. Every web process runs it with the console's identity. Concurrent runs are harmless.
"""

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import DatabaseError

from console.actions.node_shell import MAX_LIFETIME, is_shell_pod, shell_namespace
from console.audit.trail import AuditUnavailable, record
from console.kube.clients import ObjectClient
from console.kube.errors import ApiError, Conflict, NotFound
from console.kube.gvr import PODS
from console.kube.indexes import indexes_of
from console.kube.runtime import Runtime
from console.kube.store import Entry
from console.streams.stream import StreamRequest
from console.ui.core.actions import Permission

log = logging.getLogger(__name__)

_DELETE = Permission("delete")
#: Seconds between two runs of the cleanup.
CLEANUP_INTERVAL = 30.0
#: Extra time for the kubelet to stop the pod at its deadline.
GRACE = timedelta(minutes=1)


async def delete_shell_pod(order: StreamRequest, uid: str) -> None:
    """Delete the pod with UID `uid`.

    Use the identity of the user who opened the terminal if they still may delete it, otherwise
    the console's identity. If this fails, `run_cleanup` retries it.
    """
    key, recorded = order.key, replace(order.recorded, verb="delete", subresource="")
    try:
        async with record(recorded) as recording:
            await (await _client(order)).delete(
                PODS, namespace=key.namespace, name=key.name, uid=uid, audit_id=recording.audit_id
            )
    except (ApiError, AuditUnavailable, DatabaseError) as error:
        log.info("The pod %s of a shell is not deleted yet: %s", key, error)


async def _client(order: StreamRequest) -> ObjectClient:
    runtime = order.cluster.runtime
    if not await order.presence.is_valid():
        return runtime.console
    access = order.presence.access_for(order.cluster)
    may = _DELETE.granted(access, PODS, order.key)
    return runtime.as_user(access.identity) if may else runtime.console


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
