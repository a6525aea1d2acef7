"""Close open ports, and record the end in the audit log.

Requests to a closed port are refused immediately by the application. This loop records the end.
It runs in each web process; the first process that deletes the row writes the record.
"""

import logging
from collections.abc import Callable

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from console.audit.trail import AuditAction as Recorded
from console.audit.trail import AuditUnavailable, record
from console.kube.gvr import USERS
from console.kube.runtime import Runtime
from console.proxying.store import (
    OpenPortRecord,
    PortOwner,
    delete_open_port,
    is_expired,
    open_ports,
)
from console.proxying.target import SUBRESOURCE
from console.streams.stream import StreamEnded
from console.ui.core.clusters import clusters
from console.ui.core.permissions import Denied
from console.ui.core.requests import UserSession
from console.views.authorization import PermissionsUnconfirmed

log = logging.getLogger(__name__)

#: Seconds between two checks of all open ports.
CHECK_INTERVAL = 5.0

#: Outcome in the audit log: status code, reason and message.
AuditOutcome = tuple[int, str, str]
IDLE: AuditOutcome = (200, "Idle", "Closed because it was idle")
BY_USER: AuditOutcome = (200, "Closed", "Closed by the user")

PresenceOf = Callable[[PortOwner], UserSession]


async def run_closing(runtime: Runtime, presence_of: PresenceOf) -> None:
    """Check all open ports periodically until cancelled. Sessions can be checked once the users are
    loaded.
    """
    while True:
        await runtime.clock.sleep(CHECK_INTERVAL)
        if not runtime.informer(USERS).freshness.synced:
            continue
        try:
            for found in await sync_to_async(open_ports)():
                await _look(found, presence_of(found.owner))
        except DatabaseError as error:
            log.warning("Open ports could not be checked: %s", error)


async def _look(found: OpenPortRecord, presence: UserSession) -> None:
    """Close the port if it is idle, or if its session or permission ended. Raise DatabaseError if
    that fails.
    """
    cluster = clusters.get(found.owner.cluster)
    if cluster is None or await sync_to_async(is_expired)(found):
        await close(found, IDLE)
    elif not await presence.is_valid():
        await close(found, (401, "Ended", str(StreamEnded(401))))
    else:
        try:
            found.target.check(presence.access_for(cluster))
        except PermissionsUnconfirmed:
            return
        except Denied:
            await close(found, (403, "Ended", str(StreamEnded(403))))


async def close(found: OpenPortRecord, why: AuditOutcome) -> None:
    """Close the port, and record `why` in the audit log. Do nothing if it is already closed."""
    if not await sync_to_async(delete_open_port)(found.label):
        return
    owner, target = found.owner, found.target
    action = Recorded(
        actor=owner.account,
        as_user=owner.as_user,
        verb="close",
        gvr=target.gvr,
        namespace=target.key.namespace,
        name=target.resource_name.name,
        subresource=SUBRESOURCE,
        cluster=owner.cluster,
    )
    try:
        async with record(action) as recording:
            recording.set_outcome(*why)
    except AuditUnavailable:
        # Keep the port closed: an open port without permission is worse than a missing record.
        log.warning("The audit record for closing a port is missing: %s", target.resource_name.name)
