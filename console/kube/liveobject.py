"""One object that is read as one viewer, who may read it by its name and may not list its like.

A right that names objects usually is a right to `get` them, and neither list nor watch: so it is read
again every few seconds while somebody looks. In all else a `LiveObject` is a `LiveList` of one, and
promises the same: every request carries the viewer's identity, and of a private type only what
`console.kube.uncached` lets through is kept.
"""

import msgspec

from console.kube.client import UserClient
from console.kube.clock import Clock, SystemClock
from console.kube.errors import ApiError, Forbidden, NotFound
from console.kube.gvr import GVR, Key
from console.kube.livelist import ENDED, LiveList, Redact, Spawn, as_it_is
from console.kube.store import Decode, P

#: Seconds between two looks.
INTERVAL = 5.0


class LiveObject(LiveList[P]):
    """Use as a context manager."""

    def __init__(
        self,
        gvr: GVR,
        decode: Decode[P],
        key: Key,
        client: UserClient,
        spawn: Spawn,
        redact: Redact | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(gvr, decode, {}, spawn, clock=clock)
        self._key = key
        self._client = client
        self._redact = redact or as_it_is
        self._sleep = (clock or SystemClock()).sleep
        self._refusal: Forbidden | None = None

    @property
    def refusal(self) -> Forbidden | None:
        return self._refusal

    @property
    def refused_verb(self) -> str:
        return "get"

    def _is_answered(self) -> bool:
        # What has failed is not tried again soon.
        return super()._is_answered() or bool(self.freshness.problem)

    async def _run(self) -> None:
        try:
            while True:
                await self._look()
                await self._sleep(INTERVAL)
        finally:
            self.disconnected(ENDED)

    async def _look(self) -> None:
        place, name = self._key
        found: list[msgspec.Raw] = []
        version = self.store.resource_version
        try:
            item = await self._client.get(self.gvr, namespace=place, name=name)
            found = [self._redact(msgspec.Raw(msgspec.json.encode(item)))]
            version = item["metadata"].get("resourceVersion", "")
        except NotFound:
            pass
        except ApiError as error:
            self._refusal = error if isinstance(error, Forbidden) else None
            self.disconnected(error.message)
            return
        self._refusal = None
        self.replace(found, version)
        self.connected()
