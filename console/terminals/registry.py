"""Registry of this process's open terminals, for one event loop."""

import asyncio
from collections import Counter
from hmac import compare_digest

from django.utils.translation import gettext as _

from console.live.perloop import PerLoop
from console.streams.memory_quota import QuotaExceeded
from console.terminals.terminal import Terminal, TerminalOwner

#: Maximum number of terminals per account, and in total.
MAX_PER_ACCOUNT, MAX_TERMINALS = 20, 400


class TerminalRegistry:
    def __init__(self) -> None:
        self._held: dict[str, Terminal] = {}

    def find(self, number: str, owner: TerminalOwner) -> Terminal | None:
        """Return the terminal with ID `number` if it belongs to `owner`."""
        found = self._held.get(number)
        if found is None or not compare_digest(found.id, number) or found.owner != owner:
            return None
        return found

    def add(self, terminal: Terminal) -> None:
        """Register a terminal. Raise `QuotaExceeded` if a limit is reached."""
        accounts = Counter(one.owner.account for one in self._held.values())
        if len(self._held) >= MAX_TERMINALS or accounts[terminal.owner.account] >= MAX_PER_ACCOUNT:
            raise QuotaExceeded(_("Too many terminals are open. Close some of them."))
        self._held[terminal.id] = terminal

    def forget(self, terminal: Terminal) -> None:
        self._held.pop(terminal.id, None)

    def __len__(self) -> int:
        return len(self._held)

    async def close(self) -> None:
        """Close all terminals."""
        await asyncio.gather(*(one.close() for one in [*self._held.values()]))


#: Returns the registry of the running event loop.
get_terminals = PerLoop(TerminalRegistry)
