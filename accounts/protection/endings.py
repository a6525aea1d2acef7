"""Ending what a user has: sessions, tokens, sockets.

Sessions and tokens are looked up in SQL at every use, so they are over at once, everywhere. Open sockets
look again when a User changes: a change is what the cluster tells every replica within moments. Where
nothing else changes, the time goes into an annotation.
"""

import logging
from datetime import datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from accounts import apitokens
from accounts.mfa import register as factors
from accounts.oauth import register
from accounts.oauth.options import options
from accounts.protection import attempts, signins
from console.drafts.keeping import forget_all
from console.kube.client import ObjectClient
from console.kube.clock import Clock
from console.kube.controller import Away, Request, Result
from console.kube.errors import ApiError
from console.kube.gvr import GVR, USERS, Key
from console.kube.runtime import Runtime
from console.kube.store import Entry
from console.saved.book import forget_own
from console.saved.pins import unpin_all
from rbac.authorizer import is_usable

log = logging.getLogger(__name__)

#: When sessions of the user were ended last.
ENDED_ANNOTATION = "quarterdeck.io/sessions-ended"


async def end_everything(name: str, reason: str, now: datetime) -> int:
    """Sessions and tokens; returns how many sessions there were. Raises DatabaseError."""
    ended = await sync_to_async(signins.end_all)(name)
    await sync_to_async(apitokens.end_all)(name)
    await sync_to_async(register.end_user)(name, reason, now)
    return ended


def ended_patch(now: datetime) -> dict[str, Any]:
    """Makes every replica look at the user's sockets again."""
    return {"metadata": {"annotations": {ENDED_ANNOTATION: now.isoformat()}}}


async def tell_replicas(client: ObjectClient, name: str, now: datetime) -> None:
    """After sessions were ended. If it cannot be written, sockets notice a few seconds later."""
    try:
        await client.patch(USERS, ended_patch(now), name=name)
    except ApiError as error:
        log.warning("The end of sessions of %s is not in the cluster: %s", name, error)


class Endings:
    """Runs in each web process: whoever was disabled or deleted, by whatever means, has no session and
    no token left, also when they are enabled again before anybody asked."""

    name = "endings"
    gvr: GVR = USERS

    def __init__(self, runtime: Runtime) -> None:
        self._users = runtime.informer(USERS)
        self._clock: Clock = runtime.clock

    async def reconcile(self, request: Request) -> Result:
        entry: Entry[Any] | None = self._users.store.get(Key("", request.name))
        if not self._users.freshness.synced or (entry and is_usable(entry.projection)):
            return Result()
        try:
            await end_everything(request.name, "UserEnded", self._clock.now())
            if entry is not None and entry.projection.deleted is not None:
                # On its word alone: a cache that has lost a user must not weaken one who is there.
                await sync_to_async(factors.turn_off)(request.name)
                for forget in (forget_all, forget_own, unpin_all):
                    await sync_to_async(forget)(request.name)
        except DatabaseError as error:
            raise Away(f"The database: {error}") from error
        return Result()


# Removes rows that mean nothing any more. Every web process does it: a second time does no harm.

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
    apitokens.discard_expired(now)
    attempts.discard_old(options().limits, now)
