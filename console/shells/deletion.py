"""Delete the pod of a shell when its terminal closes."""

import logging
from dataclasses import replace

from django.db import DatabaseError

from console.audit.trail import AuditUnavailable, record
from console.kube.clients import ObjectClient
from console.kube.errors import ApiError
from console.kube.gvr import PODS
from console.streams.stream import StreamRequest
from console.ui.core.actions import Permission

log = logging.getLogger(__name__)

_DELETE = Permission("delete")


async def delete_shell_pod(order: StreamRequest, uid: str) -> None:
    """Delete the pod with UID `uid`.

    Use the identity of the user who opened the terminal if they still may delete it, otherwise
    the console's identity. If this fails, `console.shells.cleanup` retries it.
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
