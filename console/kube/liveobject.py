"""One object that is read on behalf of a user who may get it by name but not list its type.

A rule with `resourceNames` usually grants `get` but neither list nor watch. Therefore the object
is polled every few seconds while it is shown. Otherwise a `LiveObject` behaves like a `LiveList`
with one object: every request carries the user's identity, and objects of a private type are
redacted by `console.kube.uncached`.
"""

import msgspec

from console.kube.clients import UserClient
from console.kube.clock import Clock, SystemClock
from console.kube.errors import ApiError, Forbidden, NotFound
from console.kube.gvr import GVR, Key
from console.kube.livelist import ENDED, LiveList, Redact, Spawn, unredacted
from console.kube.store import Decode, P

#: Seconds between two requests.
INTERVAL = 5.0


class LiveObject(LiveList[P]):
    """A `LiveList` of one object. Use it as a context manager."""

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
        self._redact = redact or unredacted
        self._sleep = (clock or SystemClock()).sleep
        self._refusal: Forbidden | None = None

    @property
    def refusal(self) -> Forbidden | None:
        return self._refusal

    @property
    def refused_verb(self) -> str:
        return "get"

    def _is_answered(self) -> bool:
        # A failed request is not retried before the next interval.
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
