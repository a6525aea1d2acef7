"""Memory quota for streams. Each stream reserves its maximum size before it is opened.

Back-pressure limits the memory of a stream (`console.streams.stream`), so reserved bytes are an
upper limit per user and per process.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from django.utils.translation import gettext as _

from console.ui.core.permissions import Refused

#: Maximum bytes for the streams of one user, and of the process.
USER_LIMIT, PROCESS_LIMIT = 64 * 2**20, 512 * 2**20


class QuotaExceeded(Refused):
    page_code: ClassVar[int] = 429


class MemoryQuota:
    """Bytes that are reserved per account. Use it on one event loop only."""

    def __init__(self, user: int = USER_LIMIT, process: int = PROCESS_LIMIT) -> None:
        self._user, self._process = user, process
        self._taken: Counter[str] = Counter()

    @contextmanager
    def reserve(self, account: str, size: int) -> Iterator[None]:
        """Reserve `size` bytes for the duration of the block. Raise `QuotaExceeded` if a limit is
        reached.
        """
        if self._taken[account] + size > self._user or self._taken.total() + size > self._process:
            raise QuotaExceeded(_("Too many logs and terminals are open. Close some of them."))
        self._taken[account] += size
        try:
            yield
        finally:
            self._taken[account] -= size
            if not self._taken[account]:
                del self._taken[account]

    def reserved(self, account: str) -> int:
        return self._taken[account]


memory_quota = MemoryQuota()
