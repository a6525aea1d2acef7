"""How many connections this process has, in all and of one address, and who gives way for others.

A connection costs a file, and a process without files serves nobody: it cannot even look at its database.

- The process may open as many files as the system lets it; `file_limit` sees to that.
- There are only so many connections, in all and of one address. Whoever comes beyond that takes the place
  of one on which nothing is being answered: of the same address, or of the address that has most. If
  there is none, the new one is closed.
- Addresses of proxies that are trusted are not counted: they bring everybody.
"""

import resource
from collections.abc import Callable
from typing import NamedTuple, Protocol

from console.live.counters import counters

#: Files that are enough for any console, and those that are not for browsers' connections: the database,
#: the watches of all kinds, and requests to kube-apiserver.
MOST_FILES, OTHER_FILES = 65_536, 256
#: Connections at most, in all and of one address, and of one address where there are few in all.
MOST, MOST_OF_ONE, FEWEST_OF_ONE = 10_000, 1_000, 32


class Limits(NamedTuple):
    """Of connections. `of_one`: address."""

    most: int
    of_one: int

    @classmethod
    def of(cls, files: int) -> "Limits":
        most = max(FEWEST_OF_ONE, min(MOST, files - OTHER_FILES))
        return cls(most, min(MOST_OF_ONE, max(FEWEST_OF_ONE, most // 4)))


def file_limit() -> tuple[int, int]:
    """How many files this process could open, and how many it can from now on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft, soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return soft, wanted


class Connection(Protocol):
    """Twisted's transport."""

    def abortConnection(self) -> None: ...


class Seats:
    """Who is connected. `is_idle`: nothing is being answered on it. `is_exempt`: of addresses."""

    def __init__(
        self,
        limits: Limits,
        is_idle: Callable[[Connection], bool],
        is_exempt: Callable[[str], bool],
    ) -> None:
        self._limits = limits
        self._is_idle, self._is_exempt = is_idle, is_exempt
        # The oldest first.
        self._of: dict[str, dict[Connection, None]] = {}
        self._address: dict[Connection, str] = {}

    def enter(self, connection: Connection, address: str) -> bool:
        """False, and no place, for one too many."""
        there = self._of.get(address, {})
        if len(there) >= self._limits.of_one and not self._is_exempt(address):
            admitted = self._makes_way(there)
        elif len(self._address) >= self._limits.most:
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

    def leave(self, connection: Connection) -> None:
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
                self.leave(connection)
                counters.connections_dropped += 1
                connection.abortConnection()
                return True
        return False
