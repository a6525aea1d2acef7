"""The end of what is open: once, with its record.

Requests are refused at once by whoever answers them. Here it is written down, by each web process: the
first one counts.
"""

import logging
from collections.abc import Callable

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from console.audit.trail import Action as Recorded
from console.audit.trail import AuditUnavailable, record
from console.kube.gvr import USERS
from console.kube.runtime import Runtime
from console.proxying.keeping import Open, Owner, all_open, end, is_over
from console.proxying.target import SUBRESOURCE, right_to
from console.streams.stream import Over
from console.ui.clusters import clusters
from console.ui.decisions import Denied
from console.ui.presence import Presence
from console.views.deciding import InDoubt, check_right

log = logging.getLogger(__name__)

#: Seconds between two looks at all that is open.
EVERY = 5.0

#: What the audit trail is told: code, reason and message.
Answer = tuple[int, str, str]
IDLE: Answer = (200, "Idle", "Nobody used it any more")
BY_USER: Answer = (200, "Closed", "By its user")

PresenceOf = Callable[[Owner], Presence]


async def keep_closed(runtime: Runtime, presence_of: PresenceOf) -> None:
    """Until it is cancelled. Whose session it is can be said once the users are known."""
    while True:
        await runtime.clock.sleep(EVERY)
        if not runtime.informer(USERS).freshness.synced:
            continue
        try:
            for found in await sync_to_async(all_open)():
                await _look(found, presence_of(found.owner))
        except DatabaseError as error:
            log.warning("Open ports cannot be looked at: %s", error)


async def _look(found: Open, presence: Presence) -> None:
    """Raises DatabaseError."""
    cluster, target = clusters.get(found.owner.cluster), found.target
    if cluster is None or await sync_to_async(is_over)(found):
        await close(found, IDLE)
    elif not await presence.lasts():
        await close(found, _ended(Over(401)))
    else:
        try:
            check_right(right_to("GET"), presence.access_in(cluster), target.gvr, target.called)
        except InDoubt:
            return
        except Denied:
            await close(found, _ended(Over(403)))


def _ended(over: Over) -> Answer:
    return over.code, "Ended", str(over)


async def close(found: Open, why: Answer) -> None:
    """`why`: as the trail has it. Whoever comes second does nothing."""
    if not await sync_to_async(end)(found.label):
        return
    owner, target = found.owner, found.target
    action = Recorded(
        actor=owner.account,
        as_user=owner.as_user,
        verb="close",
        gvr=target.gvr,
        namespace=target.key.namespace,
        name=target.called.name,
        subresource=SUBRESOURCE,
        cluster=owner.cluster,
    )
    try:
        async with record(action) as recording:
            recording.answered(*why)
    except AuditUnavailable:
        # It is over all the same: to go on would be worse than to be silent.
        log.warning("The end of an open port is not in the trail: %s", target.called.name)
