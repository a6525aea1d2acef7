"""Limits on the messages of a websocket and on the number of websockets per account."""

from collections import Counter

#: Maximum characters of a message; a subscription needs a few hundred.
MAX_MESSAGE = 64 * 1024
#: Messages that may arrive in a burst, and per second on average.
BURST, PER_SECOND = 20, 5.0
#: Websockets per account in this process.
MAX_SOCKETS = 20


class SocketCap:
    """Counts open websockets per account. Call `leave` once for each successful `enter`."""

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
