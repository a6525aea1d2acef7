"""Leader election with a Lease, modeled on client-go's `tools/leaderelection`.

- Work only runs while this replica holds the Lease. A replica that cannot renew it for
  `RENEW_WITHIN` seconds stops. Others start at the earliest after `LEASE_SECONDS`, measured by
  their own clock, so clock skew does not matter.
- A replica that was frozen notices before it writes: `check` is called before each write and
  measures from the *start* of the last renewal. Requests in flight end within the call timeout,
  which is shorter than the difference between the two.
- On exit the Lease is released, so that the next replica does not have to wait.

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

from console.kube.clients import ObjectClient
from console.kube.clock import Clock
from console.kube.errors import ApiError, InvalidResponse, NotFound, Unavailable
from console.kube.gvr import LEASES
from console.kube.messages import Message
from console.kube.transport import CALL_TIMEOUT

log = logging.getLogger(__name__)

Manifest = dict[str, Any]
Work = Callable[[], Coroutine[Any, Any, None]]

#: Seconds: duration of a Lease, renewal deadline, and interval between attempts.
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
    """Decode a Lease. Raise `ServerError` if the object is not one."""
    try:
        return msgspec.convert({**lease, "spec": lease.get("spec") or {}}, _Lease)
    except msgspec.ValidationError as error:
        raise InvalidResponse(
            Message("The response from the Kubernetes API is not a Lease")
        ) from error


class NotLeading(Unavailable):
    """This replica must not write because another one is the leader, or may be."""


class Leader:
    """Leader election for one replica.

    `name` and `namespace` identify the Lease. `identity` must be unique to this replica.
    """

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
        # Start time of the last successful renewal.
        self._held_since: float | None = None
        # Version of another holder's Lease, and when it was first seen.
        self._seen: Any = None
        self._seen_at = 0.0
        self.transitions = 0

    @property
    def leading(self) -> bool:
        return self._left > 0

    @property
    def _left(self) -> float:
        """Return the seconds until this replica must stop."""
        held = self._held_since
        if held is None:
            return 0.0
        return max(0.0, held + RENEW_WITHIN - self._clock.monotonic())

    def check(self) -> None:
        """Raise `NotLeading` unless this replica is the leader. Callable from any thread."""
        if not self.leading:
            raise NotLeading("Another controller replica holds the lease or may hold it")

    async def run(self, work: Work) -> None:
        """Run `work` whenever this replica holds the Lease, until cancelled or until `work`
        returns.
        """
        try:
            while True:
                await self._until_held()
                log.info("%s is the leader", self.identity)
                self.transitions += 1
                if await self._hold(work):
                    return
                log.warning("%s lost the lease", self.identity)
        finally:
            await self._release()

    async def _until_held(self) -> None:
        while not await self._try():
            await self._clock.sleep(RETRY_EVERY)

    async def _hold(self, work: Work) -> bool:
        """Run `work` while the Lease is held. Return True if `work` returned; raise its exceptions."""
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
        """Acquire or renew the Lease and return True if it is held. A failed request changes
        nothing.
        """
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(min(CALL_TIMEOUT, self._left or CALL_TIMEOUT)):
                mine = await self._take()
        except (ApiError, TimeoutError) as error:
            log.info("Cannot acquire the lease: %s", error or "timed out")
            return False
        self._held_since = began if mine else None
        return mine

    async def _take(self) -> bool:
        """Acquire or renew the Lease. Return False if another replica holds it.

        Raise `ApiError`, in particular `Conflict` if another replica was faster.
        """
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
        """Return True if the Lease has not changed for its duration, measured by the local clock.

        The timestamps in the Lease come from another machine.
        """
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
        """Release the Lease, best effort. Otherwise the next replica waits until it expires."""
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
