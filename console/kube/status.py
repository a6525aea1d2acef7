"""How an object is, in one word that a person can act on."""

import enum

import msgspec


class Severity(enum.StrEnum):
    """Eight states, the worst first. `rank` is the sort order of every list."""

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
    """`word`: plain English, translated where it is shown. `reason`: Kubernetes' own text, or ""."""

    severity: Severity
    word: str
    reason: str = ""
