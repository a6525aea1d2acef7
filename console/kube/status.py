"""The status of an object as one word."""

import enum

import msgspec


class Severity(enum.StrEnum):
    """Eight severities, worst first. `rank` is the sort order of all lists."""

    ERROR = "error"
    WARN = "warn"
    UNKNOWN = "unknown"
    PROGRESS = "progress"
    ENDING = "ending"
    OK = "ok"
    PAUSED = "paused"
    DONE = "done"

    @property
    def rank(self) -> int:
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


class Status(msgspec.Struct, frozen=True, gc=False):
    """A status. `word` is English and translated when shown. `reason` is Kubernetes' text, or ""."""

    severity: Severity
    word: str
    reason: str = ""
