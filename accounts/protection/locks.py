"""For how long nobody may sign in as a user."""

from datetime import datetime

from asgiref.sync import sync_to_async

from accounts.oauth.options import options
from accounts.protection import attempts
from accounts.states import LOCKED, lock_left
from accounts.time import now
from console.kube.projections import User
from console.kube.store import Entry


async def locked_for(entry: Entry[User]) -> float | None:
    """Seconds until the user may try again; None if they may now. Raises DatabaseError."""
    limits, moment = options().limits, now()
    counted = await sync_to_async(attempts.locked_for)(entry.key.name, limits, moment)
    return max(counted or 0.0, locked_by_state(entry, moment) or 0.0) or None


def locked_by_state(entry: Entry[User], moment: datetime) -> float | None:
    """The same by the state alone, which another installation may have set."""
    if entry.projection.state != LOCKED:
        return None
    left = lock_left(entry.original().get("status") or {}, options().limits.duration, moment)
    return left if left > 0 else None
