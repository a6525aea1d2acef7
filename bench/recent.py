"""Update the timestamps of Events in saved data. The console drops Events that are older than an
hour.
"""

from datetime import UTC, datetime
from typing import Any

import msgspec

from bench.writing import Access, Writer, spread
from console.kube.gvr import EVENTS

_MANAGER = "bench-recent"


async def make_recent(access: Access) -> None:
    writer = Writer(access)
    try:
        answer = msgspec.json.decode(
            await writer.send("GET", EVENTS.path(), None, manager=_MANAGER)
        )
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

        async def seen(event: dict[str, Any]) -> None:
            meta = event["metadata"]
            path = EVENTS.path(meta["namespace"], meta["name"])
            await writer.send("PUT", path, {**event, "lastTimestamp": now}, manager=_MANAGER)

        await spread(answer["items"], seen)
    finally:
        await writer.close()
