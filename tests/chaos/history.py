"""A log of the events of a schedule from all threads."""

import json
import time
from pathlib import Path
from typing import Any

__all__ = ["History", "Violation"]


class Violation(AssertionError):
    """The cache, or a notification to its listeners, was wrong. `str()` describes the error."""


class History:
    """A list of events. Any thread can append to it. Times are seconds since the start of the
    schedule.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._events: list[dict[str, Any]] = []

    @property
    def now(self) -> float:
        return time.monotonic() - self._began

    def note(self, what: str, **fields: Any) -> None:
        """Add an event. `fields` must be serializable as JSON."""
        self._events.append({"t": round(self.now, 4), "what": what, **fields})

    def all(self, what: str) -> list[dict[str, Any]]:
        """Return the events of one type, in order."""
        return [event for event in self._events if event["what"] == what]

    def save(self, path: Path) -> None:
        """Write one JSON object per line."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            for event in sorted(self._events, key=lambda event: float(event["t"])):
                file.write(json.dumps(event) + "\n")
