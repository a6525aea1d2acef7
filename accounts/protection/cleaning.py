"""Removes rows that mean nothing any more. Every web process does it: a second time does no harm."""

import logging
from datetime import datetime

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from accounts.named import register as named
from accounts.oauth import register
from accounts.oauth.options import options
from accounts.protection import attempts, signins
from console.kube.clock import Clock

log = logging.getLogger(__name__)

#: Seconds between two rounds.
EVERY = 600.0


async def keep_clean(clock: Clock) -> None:
    """Until it is cancelled."""
    while True:
        try:
            await sync_to_async(clean)(clock.now())
        except DatabaseError as error:
            log.warning("Old rows could not be removed: %s", error)
        await clock.sleep(EVERY)


def clean(now: datetime) -> None:
    """Raises DatabaseError."""
    signins.discard_expired(now)
    register.discard_expired(now)
    named.discard_expired(now)
    attempts.discard_old(options().limits, now)
