"""Detect whether KubeSphere's own controllers run in this cluster.

While they run, the console leaves their objects to them: Workspaces, the finalizers of
workspaces and projects, the built-in roles of all workspaces and projects, the workspace
manager's binding, and the usage in a workspace quota's status. The owner of a project is not
left to them, because both implementations derive the same owner from the project's label.

Detection uses the leader election lock of the controllers. The type of the lock depends on the
controller-runtime library of the KubeSphere version: a ConfigMap in 3.1 (controller-runtime 0.6), a
Lease in the latest, a ConfigMap and a Lease in between. The library also supports Endpoints. The
name is always the same. The age of a lock is measured with our own clock from the time it was first
seen with its current content, because its timestamps come from another machine (as in
`console.kube.leader`).
"""

import asyncio
from typing import Any

import msgspec

from console.kube.clients import ObjectClient
from console.kube.clock import Clock
from console.kube.errors import InvalidResponse, NotFound
from console.kube.gvr import CONFIG_MAPS, ENDPOINTS, GVR, LEASES
from console.kube.messages import Message

NAMESPACE, NAME = "kubesphere-system", "ks-controller-manager-leader-election"
#: Types of objects that can be the lock.
LOCKS = (LEASES, CONFIG_MAPS, ENDPOINTS)
#: Annotation of a ConfigMap or of Endpoints with the same fields as the spec of a Lease.
LEADER = "control-plane.alpha.kubernetes.io/leader"
#: Seconds for which a result is cached, and until objects that were left to KubeSphere are checked
#: again.
CHECK_INTERVAL = 5.0
#: A lock is considered expired after it was not renewed for its duration times this factor.
_PATIENCE = 2.0
#: Duration in seconds of a lock with a missing or invalid duration.
_USUAL = 30
#: Seconds within which the holder renews the lock or stops (its `RenewDeadline`), and seconds
#: between two checks.
_RENEWED_WITHIN, _PAUSE = 15.0, 1.0


class _Lock(msgspec.Struct, frozen=True, rename="camel"):
    """Content of a lock. It changes with each renewal."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: str | None = None


class _Metadata(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _LockObject(msgspec.Struct):
    """A Lease, a ConfigMap or Endpoints."""

    metadata: _Metadata
    spec: _Lock | None = None


class KubeSphereDetector:
    def __init__(self, client: ObjectClient, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._asked_at, self._works = -CHECK_INTERVAL, False
        # The last seen content of each lock, and when it was first seen.
        self._seen: dict[GVR, tuple[_Lock, float]] = {}

    async def is_running(self) -> bool:
        """Return True if KubeSphere's controllers run. For repeated calls.

        A lock that is seen for the first time counts until it has not been renewed for long
        enough. Raise `ApiError` if a lock cannot be read.
        """
        if self._clock.monotonic() - self._asked_at >= CHECK_INTERVAL:
            locks = await self._read_all()
            expired = [self._is_expired(gvr, lock) for gvr, lock in locks.items()]
            self._works = not all(expired)
            self._asked_at = self._clock.monotonic()
        return self._works

    async def find_renewed_lock(self) -> GVR | None:
        """Return the type of the lock that KubeSphere's controllers renew, or None if they don't
        run. For a single call.

        Waits until a lock is renewed, up to the controllers' renewal deadline. Raise `ApiError` if
        a lock cannot be read.
        """
        first = await self._read_all()
        end = self._clock.monotonic() + _RENEWED_WITHIN
        found = first
        while found and self._clock.monotonic() < end:
            await self._clock.sleep(_PAUSE)
            found = await self._read_all()
            for gvr, lock in found.items():
                if lock != first.get(gvr):
                    return gvr
        return None

    async def _read_all(self) -> dict[GVR, _Lock]:
        """Return the locks that exist and have a holder, by type."""
        read = await asyncio.gather(*(self._read(gvr) for gvr in LOCKS))
        found = zip(LOCKS, read, strict=True)
        return {gvr: lock for gvr, lock in found if lock is not None and lock.holder_identity}

    async def _read(self, gvr: GVR) -> _Lock | None:
        """Return the content of the lock of this type, or None if it does not exist."""
        try:
            found: Any = await self._client.get(gvr, namespace=NAMESPACE, name=NAME)
        except NotFound:
            return None
        try:
            if gvr == LEASES:
                return msgspec.convert(found, _LockObject).spec
            annotations = msgspec.convert(found, _LockObject).metadata.annotations or {}
            content = annotations.get(LEADER)
            return msgspec.json.decode(content, type=_Lock) if content else None
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidResponse(
                Message("The response from the Kubernetes API is not a leader election lock")
            ) from error

    def _is_expired(self, gvr: GVR, lock: _Lock) -> bool:
        now = self._clock.monotonic()
        seen, since = self._seen.get(gvr, (None, now))
        if lock != seen:
            since = now
            self._seen[gvr] = lock, now
        duration = lock.lease_duration_seconds or 0
        return now - since >= (duration if duration > 0 else _USUAL) * _PATIENCE
