"""Request log, used by tests that count requests and to find out which user sent a request."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

# Number of requests to keep.
_KEPT = 20_000


@dataclass(slots=True)
class RequestRecord:
    """A logged request. `code` is 0 until the request is complete, for example during a watch."""

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
    """Ring buffer of recent requests. All methods are thread-safe."""

    def __init__(self) -> None:
        self._records: deque[RequestRecord] = deque(maxlen=_KEPT)
        self._count = 0
        self._lock = Lock()

    def mark(self) -> int:
        """Return the current position in the log, to pass to `requests_since`."""
        return self._count

    def begin(self, **about: Any) -> RequestRecord:
        """Log a new request and return its record. The caller sets `code` when it sends the
        response.
        """
        with self._lock:
            self._count += 1
            found = RequestRecord(number=self._count, **about)
            self._records.append(found)
        return found

    def requests_since(self, mark: int = 0, **fields: str) -> list[RequestRecord]:
        """Return copies of the requests logged after `mark` whose fields match, such as
        `verb="list"`.
        """
        with self._lock:
            return [
                replace(record)
                for record in self._records
                if record.number > mark
                and all(getattr(record, name) == value for name, value in fields.items())
            ]
