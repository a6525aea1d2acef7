"""One replica works at a time, by a Lease, after client-go's `tools/leaderelection`.

Promises:
- Work runs only while the Lease says so. Whoever could not renew it for `RENEW_WITHIN` seconds stops, and
  nobody else starts before `LEASE_SECONDS` have passed, counted by the observer's own clock: clocks that
  differ do no harm.
- A replica that was frozen finds out before it writes: `check` is asked before each write, and measures
  from when the last renewal *began*. What was under way ends within a call's time-out, which is shorter
  than the gap between the two.
- Ending gives the Lease back, so that the next one need not wait.

https://kubernetes.io/docs/concepts/architecture/leases/#leader-election
"""

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from console.kube.client import CALL_TIMEOUT, ObjectClient
from console.kube.clock import Clock
from console.kube.errors import ApiError, NotFound, ServerError, Unavailable
from console.kube.gvr import LEASES
from console.kube.sentences import Sentence

log = logging.getLogger(__name__)

Manifest = dict[str, Any]
Work = Callable[[], Coroutine[Any, Any, None]]

#: Seconds: how long a Lease holds, within which it must be renewed, and between two tries.
LEASE_SECONDS, RENEW_WITHIN, RETRY_EVERY = 15.0, 10.0, 2.0
assert RENEW_WITHIN + CALL_TIMEOUT < LEASE_SECONDS  # noqa: S101


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    lease_transitions: int | None = None


class _Lease(msgspec.Struct):
    """https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/"""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


def _read(lease: Manifest) -> _Lease:
    """Raises `ServerError` for what is no Lease."""
    try:
        return msgspec.convert({**lease, "spec": lease.get("spec") or {}}, _Lease)
    except msgspec.ValidationError as error:
        raise ServerError(502, Sentence("The answer of the Kubernetes API is no Lease")) from error


class NotLeading(Unavailable):
    """This replica may not write: another one works, or may."""


class Leader:
    """`name`, `namespace`: of the Lease. `identity` is this replica's, and nobody else's."""

    def __init__(
        self,
        client: ObjectClient,
        clock: Clock,
        *,
        name: str,
        namespace: str,
        identity: str = "",
    ) -> None:
        self._client, self._clock = client, clock
        self._name, self._namespace = name, namespace
        self.identity = identity or f"{socket.gethostname()}_{os.getpid()}_{uuid.uuid4().hex[:8]}"
        # When the last renewal that went well began.
        self._held_since: float | None = None
        # Another's Lease as it was seen, and when it was first seen so.
        self._seen: Any = None
        self._seen_at = 0.0
        self.transitions = 0

    @property
    def leading(self) -> bool:
        return self._left > 0

    @property
    def _left(self) -> float:
        """Seconds until this replica has to stop."""
        held = self._held_since
        if held is None:
            return 0.0
        return max(0.0, held + RENEW_WITHIN - self._clock.monotonic())

    def check(self) -> None:
        """Raises `NotLeading`. Any thread."""
        if not self.leading:
            raise NotLeading("Another replica of the controllers has the lease, or may have it")

    async def run(self, work: Work) -> None:
        """Works whenever the Lease is ours, until cancelled or until the work ends by itself."""
        try:
            while True:
                await self._until_held()
                log.info("%s leads", self.identity)
                self.transitions += 1
                if await self._hold(work):
                    return
                log.warning("%s has lost the lease", self.identity)
        finally:
            await self._release()

    async def _until_held(self) -> None:
        while not await self._try():
            await self._clock.sleep(RETRY_EVERY)

    async def _hold(self, work: Work) -> bool:
        """True if the work ended by itself; raises what it raised."""
        working = asyncio.ensure_future(work())
        try:
            while self.leading:
                pause = asyncio.ensure_future(self._clock.sleep(min(RETRY_EVERY, self._left)))
                await asyncio.wait({working, pause}, return_when=asyncio.FIRST_COMPLETED)
                pause.cancel()
                if working.done():
                    working.result()
                    return True
                await self._try()
        finally:
            if not working.done():
                working.cancel()
                with suppress(asyncio.CancelledError):
                    await working
        self._held_since = None
        return False

    async def _try(self) -> bool:
        """Takes or renews the Lease. True if it is ours then; what cannot be asked changes nothing."""
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(min(CALL_TIMEOUT, self._left or CALL_TIMEOUT)):
                mine = await self._take()
        except (ApiError, TimeoutError) as error:
            log.info("The lease cannot be had: %s", error or "it took too long")
            return False
        self._held_since = began if mine else None
        return mine

    async def _take(self) -> bool:
        """False if another one has it. Raises `ApiError`, `Conflict` if somebody else was quicker."""
        try:
            lease = await self._client.get(LEASES, namespace=self._namespace, name=self._name)
        except NotFound:
            return await self._create()
        found = _read(lease)
        holder = found.spec.holder_identity or ""
        if holder not in ("", self.identity) and not self._has_run_out(found):
            return False
        wanted = self._spec(found.spec, taken=holder != self.identity)
        await self._client.replace(
            LEASES, {**lease, "spec": wanted}, namespace=self._namespace, name=self._name
        )
        return True

    async def _create(self) -> bool:
        body = {
            "apiVersion": LEASES.group_version,
            "kind": "Lease",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": self._spec(_Spec(), taken=True),
        }
        await self._client.create(LEASES, body, namespace=self._namespace)
        return True

    def _has_run_out(self, lease: _Lease) -> bool:
        """By our clock, since we first saw it as it is: the times in it are another machine's."""
        seen = lease.metadata.resource_version
        if seen != self._seen:
            self._seen, self._seen_at = seen, self._clock.monotonic()
        lasts = lease.spec.lease_duration_seconds or LEASE_SECONDS
        return self._clock.monotonic() - self._seen_at >= lasts

    def _spec(self, before: _Spec, *, taken: bool) -> Manifest:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        changes = before.lease_transitions or 0
        known = bool(before.acquire_time)
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(LEASE_SECONDS),
            "acquireTime": now if taken else before.acquire_time or now,
            "renewTime": now,
            "leaseTransitions": changes + 1 if taken and known else changes,
        }

    async def _release(self) -> None:
        """Best effort: without it the next one waits until the Lease has run out."""
        if not self.leading:
            return
        self._held_since = None
        with suppress(ApiError, TimeoutError):
            lease = await self._client.get(LEASES, namespace=self._namespace, name=self._name)
            if _read(lease).spec.holder_identity == self.identity:
                spec = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
                await self._client.replace(
                    LEASES, {**lease, "spec": spec}, namespace=self._namespace, name=self._name
                )
