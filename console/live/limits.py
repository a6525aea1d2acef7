"""How much one socket may send, and how many sockets one account may hold."""

from collections import Counter

#: Characters of one message; a subscription needs a few hundred.
MAX_MESSAGE = 64 * 1024
#: Messages that may come at once, and per second after that.
BURST, PER_SECOND = 20, 5.0
#: Sockets of one account in this process.
MAX_SOCKETS = 20


class TokenBucket:
    """Lets `burst` through at once and `per_second` in the long run. Times are seconds of any clock."""

    def __init__(self, *, burst: float = BURST, per_second: float = PER_SECOND) -> None:
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


class SocketCap:
    """Counts open sockets by account. Every successful `enter` needs one `leave`."""

    def __init__(self, most: int = MAX_SOCKETS) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def enter(self, account: str) -> bool:
        if self._open[account] >= self._most:
            return False
        self._open[account] += 1
        return True

    def leave(self, account: str) -> None:
        self._open[account] -= 1
        if self._open[account] <= 0:
            del self._open[account]

    def open(self, account: str) -> int:
        return self._open[account]


sockets = SocketCap()
