"""Detect whether KubeSphere's own controllers run in this cluster.

While they run, the console leaves their objects to them: Workspaces, the finalizers of
workspaces and projects, the built-in roles of all workspaces and projects, the workspace
manager's binding, and the usage in a workspace quota's status. The owner of a project is not
left to them, because both implementations derive the same owner from the project's label.

Detection uses the leader election lease of the controllers. Its age is measured with our own
clock from the time it was first seen with its current content, because its timestamps come from
another machine (as in `console.kube.leader`).
"""

import msgspec

from console.kube.clients import ObjectClient
from console.kube.clock import Clock
from console.kube.errors import InvalidResponse, NotFound
from console.kube.gvr import LEASES
from console.kube.messages import Message
from console.kube.projections.coordination import DECODERS, Lease

NAMESPACE, NAME = "kubesphere-system", "ks-controller-manager-leader-election"
#: Seconds for which a result is cached, and until objects that were left to KubeSphere are checked
#: again.
CHECK_INTERVAL = 5.0
#: A lease is considered expired after it was not renewed for its duration times this factor.
_PATIENCE = 2.0
#: Duration in seconds of a lease with a missing or invalid duration.
_USUAL = 30
#: Seconds within which the holder renews the lease or stops (its `RenewDeadline`), and seconds
#: between two checks.
_RENEWED_WITHIN, _PAUSE = 15.0, 1.0


class KubeSphereDetector:
    def __init__(self, client: ObjectClient, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._asked_at, self._works = -CHECK_INTERVAL, False
        # The last seen content of the lease, and when it was first seen.
        self._seen: object = None
        self._seen_at = 0.0

    async def is_running(self) -> bool:
        """Return True if KubeSphere's controllers run. For repeated calls.

        A lease that is seen for the first time counts until it has not been renewed for long
        enough. Raise `ApiError` if the lease cannot be read.
        """
        if self._clock.monotonic() - self._asked_at >= CHECK_INTERVAL:
            lease = await self._read()
            self._works = lease is not None and not self._is_expired(lease)
            self._asked_at = self._clock.monotonic()
        return self._works

    async def is_renewing_lease(self) -> bool:
        """Return True if KubeSphere's controllers run. For a single call.

        Waits until the lease is renewed, up to the controllers' renewal deadline. Raise
        `ApiError` if the lease cannot be read.
        """
        first = await self._read()
        end = self._clock.monotonic() + _RENEWED_WITHIN
        found = first
        while found is not None and self._clock.monotonic() < end:
            if _spec(found) != _spec(first):
                return True
            await self._clock.sleep(_PAUSE)
            found = await self._read()
        return False

    async def _read(self) -> Lease | None:
        """Return the lease, or None if it does not exist or has no holder."""
        try:
            found = await self._client.get(LEASES, namespace=NAMESPACE, name=NAME)
        except NotFound:
            return None
        try:
            lease: Lease = DECODERS[LEASES](msgspec.json.encode(found))[0]
        except msgspec.DecodeError as error:
            raise InvalidResponse(
                Message("The response from the Kubernetes API is not a Lease")
            ) from error
        return lease if lease.holder else None

    def _is_expired(self, lease: Lease) -> bool:
        now, seen = self._clock.monotonic(), _spec(lease)
        if seen != self._seen:
            self._seen, self._seen_at = seen, now
        lasts = lease.seconds if lease.seconds > 0 else _USUAL
        return now - self._seen_at >= lasts * _PATIENCE


def _spec(lease: Lease | None) -> object:
    """Return the fields that change with each renewal."""
    return lease and (lease.holder, lease.renewed, lease.seconds, lease.transitions)
