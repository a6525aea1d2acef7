"""Revocation of a user's sessions, tokens and websockets.

Sessions and tokens are looked up in SQL at every use, so revocation takes effect immediately on
every replica. Open websockets check their session again when the User object changes, which the
watch delivers to every replica. If the User would not change otherwise, the revocation time is
written to an annotation.
"""

import logging
from datetime import datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from accounts import apitokens
from accounts.mfa import factors as factors
from accounts.oauth import grants
from accounts.oauth.options import options
from accounts.protection import attempts, browser_sessions
from console.drafts.store import delete_all_of
from console.kube.clients import ObjectClient
from console.kube.clock import Clock
from console.kube.controller import DependencyUnavailable, Request, Result
from console.kube.errors import ApiError
from console.kube.gvr import GVR, USERS, Key
from console.kube.runtime import Runtime
from console.kube.store import Entry
from console.saved.pins import unpin_all
from console.saved.service import delete_views_of
from rbac.authorizer import is_usable

log = logging.getLogger(__name__)

#: Time when the user's sessions were last revoked.
ENDED_ANNOTATION = "quarterdeck.io/sessions-ended"


async def revoke_all(name: str, reason: str, now: datetime) -> int:
    """Revoke sessions and tokens. Return the number of ended sessions. Raise DatabaseError."""
    ended = await sync_to_async(browser_sessions.end_all_sessions)(name)
    await sync_to_async(apitokens.revoke_all_tokens)(name)
    await sync_to_async(grants.end_user)(name, reason, now)
    return ended


def revocation_patch(now: datetime) -> dict[str, Any]:
    """Return a patch that makes every replica check the user's websockets."""
    return {"metadata": {"annotations": {ENDED_ANNOTATION: now.isoformat()}}}


async def notify_replicas(client: ObjectClient, name: str, now: datetime) -> None:
    """Notify the replicas after sessions were ended.

    If the patch fails, websockets detect the end a few seconds later.
    """
    try:
        await client.patch(USERS, revocation_patch(now), name=name)
    except ApiError as error:
        log.warning("Could not notify replicas that sessions of %s ended: %s", name, error)


class RevocationReconciler:
    """Controller in each web process that revokes sessions and tokens of disabled and deleted
    users.

    They stay revoked if the user is enabled again.
    """

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
            await revoke_all(request.name, "UserEnded", self._clock.now())
            if entry is not None and entry.projection.deleted is not None:
                # Clean up only if the User object is being deleted. A missing cache entry must not
                # remove the second factor of an existing user.
                await sync_to_async(factors.disable)(request.name)
                for forget in (delete_all_of, delete_views_of, unpin_all):
                    await sync_to_async(forget)(request.name)
        except DatabaseError as error:
            raise DependencyUnavailable(f"Database unavailable: {error}") from error
        return Result()


# Periodic deletion of expired rows. Every web process runs it, which is harmless.

#: Seconds between two runs.
EVERY = 600.0


async def clean_periodically(clock: Clock) -> None:
    """Delete expired rows periodically until cancelled."""
    while True:
        try:
            await sync_to_async(clean)(clock.now())
        except DatabaseError as error:
            log.warning("Expired rows could not be deleted: %s", error)
        await clock.sleep(EVERY)


def clean(now: datetime) -> None:
    """Delete expired rows. Raise DatabaseError."""
    browser_sessions.discard_expired(now)
    grants.discard_expired(now)
    apitokens.discard_expired(now)
    attempts.discard_old(options().limits, now)
