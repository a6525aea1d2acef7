"""Connection limits of the process, in total and per client address.

Every connection uses a file descriptor, and a process without free file descriptors can't serve
requests or open its database.

- `raise_file_limit` raises the process's limit on open files.
- A new connection beyond a limit replaces an idle connection of the same address, or, if the
  total is reached, of the address with the most connections. If no connection is idle, the new
  connection is closed.
- The limit per address does not apply to trusted proxies, which forward the connections of all
  users.
"""

import resource
from collections.abc import Callable
from typing import NamedTuple, Protocol

from console.live.counters import counters

#: Maximum of open files to request, and files reserved for other uses: the database, watches, and
#: requests to kube-apiserver.
MAX_OPEN_FILES, RESERVED_FILES = 65_536, 256
#: Maximum of connections in total and per address, and the minimum for both limits if few files are
#: available.
MAX_CONNECTIONS, MAX_PER_ADDRESS, MIN_PER_ADDRESS = 10_000, 1_000, 32


class Limits(NamedTuple):
    """Maximum number of connections: in total (`total`) and per address (`per_address`)."""

    total: int
    per_address: int

    @classmethod
    def of(cls, files: int) -> "Limits":
        most = max(MIN_PER_ADDRESS, min(MAX_CONNECTIONS, files - RESERVED_FILES))
        return cls(most, min(MAX_PER_ADDRESS, max(MIN_PER_ADDRESS, most // 4)))


def raise_file_limit() -> tuple[int, int]:
    """Raise the limit on open files and return the limits before and after."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft, soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return soft, wanted


class Connection(Protocol):
    """A Twisted transport."""

    def abortConnection(self) -> None: ...


class ConnectionSlots:
    """Open connections by address.

    `is_idle` reports whether a connection has no request in progress, `is_exempt` whether the
    limit per address does not apply to an address.
    """

    def __init__(
        self,
        limits: Limits,
        is_idle: Callable[[Connection], bool],
        is_exempt: Callable[[str], bool],
    ) -> None:
        self._limits = limits
        self._is_idle, self._is_exempt = is_idle, is_exempt
        # Connections of each address, oldest first.
        self._of: dict[str, dict[Connection, None]] = {}
        self._address: dict[Connection, str] = {}

    def acquire(self, connection: Connection, address: str) -> bool:
        """Register a connection. Return False if it must be closed because a limit is reached."""
        there = self._of.get(address, {})
        if len(there) >= self._limits.per_address and not self._is_exempt(address):
            admitted = self._makes_way(there)
        elif len(self._address) >= self._limits.total:
            admitted = self._makes_way(max(self._of.values(), key=len))
        else:
            admitted = True
        if not admitted:
            counters.connections_refused += 1
            return False
        self._of.setdefault(address, {})[connection] = None
        self._address[connection] = address
        counters.connections = len(self._address)
        return True

    def release(self, connection: Connection) -> None:
        address = self._address.pop(connection, None)
        if address is None:
            return
        there = self._of[address]
        del there[connection]
        if not there:
            del self._of[address]
        counters.connections = len(self._address)

    def _makes_way(self, there: dict[Connection, None]) -> bool:
        for connection in there:
            if self._is_idle(connection):
                self.release(connection)
                counters.connections_dropped += 1
                connection.abortConnection()
                return True
        return False
