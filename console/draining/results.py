"""How far a drain is with each pod, and why it has ended: what is kept in SQL, and nothing for people."""

import enum
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import msgspec


class Step(enum.StrEnum):
    WAITING = "waiting"
    #: A disruption budget does not allow it now.
    BLOCKED = "blocked"
    #: Nobody knows whether it was done; it is tried again.
    UNSURE = "unsure"
    REFUSED = "refused"
    #: It would be lost, or lose data, to which nobody has agreed.
    UNAGREED = "unagreed"
    ENDING = "ending"
    GONE = "gone"


class Reason(enum.StrEnum):
    """Why it ended where it is not done and nobody stopped it."""

    SESSION = "session"
    RIGHT = "right"
    TIME = "time"
    NODE = "node"
    UNCORDONED = "uncordoned"
    #: There are pods that are `UNAGREED`.
    CONSENT = "consent"
    REFUSED = "refused"
    MISTAKE = "mistake"


class Result(msgspec.Struct):
    """Of one pod. `note`: what the cluster said. `since`: when it was seen to end, in seconds of the
    epoch."""

    namespace: str
    name: str
    uid: str
    step: Step = Step.WAITING
    note: str = ""
    since: float = 0.0


def packed(results: Sequence[Result]) -> list[Any]:
    found: list[Any] = msgspec.to_builtins(results)
    return found


def unpacked(rows: Iterable[Any]) -> list[Result]:
    """Without what another version of the console has written and this one does not know."""
    found: list[Result] = []
    for row in rows:
        with suppress(msgspec.ValidationError):
            found.append(msgspec.convert(row, Result))
    return found
