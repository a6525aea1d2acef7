"""Whether KubeSphere's own controllers work in this cluster too. Then what they own is left to them:
Workspaces, their finalizers and those of projects, the roles that all workspaces and all projects have,
whoever manages one, and what a workspace's quota says is used. Whose a project is, both read from its
label and say in the same words: that is not.

Their lease says so. It is counted by our own clock, from when it was first seen as it is, since the times
in it are another machine's (as in `console.kube.leader`).
"""

import msgspec

from console.kube.client import ObjectClient
from console.kube.clock import Clock
from console.kube.errors import NotFound, ServerError
from console.kube.gvr import LEASES
from console.kube.projections.coordination import DECODERS, Lease
from console.kube.sentences import Sentence

NAMESPACE, NAME = "kubesphere-system", "ks-controller-manager-leader-election"
#: Seconds for which an answer counts, and until another look at what was left to them.
LOOK_EVERY = 5.0
#: A lease is over when nobody has renewed it for so many times of what it is good for.
_PATIENCE = 2.0
#: Seconds that a lease is good for which does not say, or says nonsense.
_USUAL = 30
#: Seconds within which they renew it, or end: their `RenewDeadline`; and between two looks at that.
_RENEWED_WITHIN, _PAUSE = 15.0, 1.0


class KubeSphere:
    def __init__(self, client: ObjectClient, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._asked_at, self._works = -LOOK_EVERY, False
        # What the lease was when it was looked at last, and when it was first seen so.
        self._seen: object = None
        self._seen_at = 0.0

    async def works(self) -> bool:
        """Whether they work, for whoever asks again and again: a lease that is seen for the first time
        counts until nobody has renewed it for long enough. Raises `ApiError` where that is not known."""
        if self._clock.monotonic() - self._asked_at >= LOOK_EVERY:
            lease = await self._read()
            self._works = lease is not None and not self._has_run_out(lease)
            self._asked_at = self._clock.monotonic()
        return self._works

    async def renews(self) -> bool:
        """Whether they work, for whoever asks once: watches until somebody renews the lease, as long as
        that may take. Raises `ApiError`, too."""
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
        """None where nobody holds it."""
        try:
            found = await self._client.get(LEASES, namespace=NAMESPACE, name=NAME)
        except NotFound:
            return None
        try:
            lease: Lease = DECODERS[LEASES](msgspec.json.encode(found))[0]
        except msgspec.DecodeError as error:
            raise ServerError(
                502, Sentence("The answer of the Kubernetes API is no Lease")
            ) from error
        return lease if lease.holder else None

    def _has_run_out(self, lease: Lease) -> bool:
        now, seen = self._clock.monotonic(), _spec(lease)
        if seen != self._seen:
            self._seen, self._seen_at = seen, now
        lasts = lease.seconds if lease.seconds > 0 else _USUAL
        return now - self._seen_at >= lasts * _PATIENCE


def _spec(lease: Lease | None) -> object:
    """What differs after each renewal."""
    return lease and (lease.holder, lease.renewed, lease.seconds, lease.transitions)
