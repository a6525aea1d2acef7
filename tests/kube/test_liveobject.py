"""Reading a single object with the user's permissions if the server fails."""

import asyncio
from typing import Any

from console.kube.errors import Unavailable
from console.kube.gvr import SECRETS, Key
from console.kube.livelist import LiveObject
from console.kube.messages import Message
from console.kube.uncached import UNCACHED


class Absent:
    """A client of a server that does not respond."""

    async def get(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise Unavailable(Message("The Kubernetes API is not responding"))


async def test_failure_is_reported_without_waiting() -> None:
    spawn: Any = asyncio.ensure_future
    client: Any = Absent()
    decode = UNCACHED[SECRETS].decode
    with LiveObject(SECRETS, decode, Key("vault", "first"), client, spawn) as found:
        async with asyncio.timeout(20):
            assert not await found.wait(timeout=3600)
        assert found.freshness.problem == "The Kubernetes API is not responding"
