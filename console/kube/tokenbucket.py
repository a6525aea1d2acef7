"""Limit for the rate of operations."""


class TokenBucket:
    """Rate limiter that allows bursts of `burst` and `per_second` on average. Times are seconds of
    any clock.
    """

    def __init__(self, *, burst: float, per_second: float) -> None:
        self._burst = burst
        self._per_second = per_second
        self._tokens = burst
        self._at: float | None = None

    def take(self, now: float) -> bool:
        if self._at is not None:
            gained = max(0.0, now - self._at) * self._per_second
            self._tokens = min(self._burst, self._tokens + gained)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
