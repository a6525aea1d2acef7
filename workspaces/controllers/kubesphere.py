"""Whether KubeSphere's own controllers work in this cluster too. Then what they own is left to them:
Workspaces and their finalizers, the roles that all workspaces have, and whose a project is."""

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
#: Clocks differ: a lease is over after so many times of what it is good for.
_PATIENCE = 2.0
#: Seconds that a lease is good for which does not say.
_USUAL = 30


class KubeSphere:
    def __init__(self, client: ObjectClient, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._asked_at, self._works = -LOOK_EVERY, False

    async def works(self) -> bool:
        """Raises `ApiError` where that is not known."""
        if self._clock.monotonic() - self._asked_at >= LOOK_EVERY:
            self._works = await self._ask()
            self._asked_at = self._clock.monotonic()
        return self._works

    async def _ask(self) -> bool:
        try:
            found = await self._client.get(LEASES, namespace=NAMESPACE, name=NAME)
        except NotFound:
            return False
        try:
            lease: Lease = DECODERS[LEASES](msgspec.json.encode(found))[0]
        except msgspec.DecodeError as error:
            raise ServerError(
                502, Sentence("The answer of the Kubernetes API is no Lease")
            ) from error
        if not lease.holder or lease.renewed is None:
            return False
        age = (self._clock.now() - lease.renewed).total_seconds()
        return age < (lease.seconds or _USUAL) * _PATIENCE
