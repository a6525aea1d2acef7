"""What happened during a schedule, from all its threads, in one list."""

import json
import time
from pathlib import Path
from typing import Any

__all__ = ["History", "Violation"]


class Violation(AssertionError):
    """The cache, or what it told its listeners, was wrong; `str()` says how."""


class History:
    """Appended to from any thread. Times are seconds since the schedule began."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._events: list[dict[str, Any]] = []

    @property
    def now(self) -> float:
        return time.monotonic() - self._began

    def note(self, what: str, **fields: Any) -> None:
        """One event; `fields` must be JSON."""
        self._events.append({"t": round(self.now, 4), "what": what, **fields})

    def all(self, what: str) -> list[dict[str, Any]]:
        """The events of one sort, in order."""
        return [event for event in self._events if event["what"] == what]

    def save(self, path: Path) -> None:
        """One JSON object a line."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as file:
            for event in sorted(self._events, key=lambda event: float(event["t"])):
                file.write(json.dumps(event) + "\n")
