"""An injectable clock, so that tests do not have to wait, and delays between retries."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Protocol


class Clock(Protocol):
    def monotonic(self) -> float:
        """Return monotonic seconds since an arbitrary start."""
        ...

    def now(self) -> datetime:
        """Return the current time in UTC."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass(slots=True)
class Backoff:
    """Exponential backoff with jitter, like client-go's reflector: 0.8 s to 30 s by default.

    `next()` returns seconds between the step and twice the step, so that clients that failed
    together do not retry together. `reset()` starts over after a success.
    """

    first: float = 0.8
    limit: float = 30.0
    random: Random = field(default_factory=Random)
    _step: float = 0.0

    def next(self) -> float:
        self._step = min(self.limit, self._step * 2 or self.first)
        return min(self.limit, self._step * (1 + self.random.random()))

    def reset(self) -> None:
        self._step = 0.0
