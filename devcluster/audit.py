"""The log of requests: for tests that count them, and for people who ask who did what."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

# Requests that are remembered.
_KEPT = 20_000


@dataclass(slots=True)
class RequestRecord:
    """One request, noted when it begins; `code` is 0 while it is under way (a watch)."""

    number: int
    user: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    path: str
    query: Mapping[str, str]
    user_agent: str
    audit_id: str
    code: int = 0


class RequestLog:
    """The requests of late. Any thread may read."""

    def __init__(self) -> None:
        self._records: deque[RequestRecord] = deque(maxlen=_KEPT)
        self._count = 0
        self._lock = Lock()

    def mark(self) -> int:
        """A point in time, for `requests_since`."""
        return self._count

    def begin(self, **about: Any) -> RequestRecord:
        """Whoever answers the request sets the code."""
        with self._lock:
            self._count += 1
            found = RequestRecord(number=self._count, **about)
            self._records.append(found)
        return found

    def requests_since(self, mark: int = 0, **fields: str) -> list[RequestRecord]:
        """The requests after `mark` whose fields are the given ones: `verb="list", user="x"`."""
        with self._lock:
            return [
                replace(record)
                for record in self._records
                if record.number > mark
                and all(getattr(record, name) == value for name, value in fields.items())
            ]
