"""Stored progress of a drain: state of each pod, and why the drain ended. Contains no display
texts.
"""

import enum
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import msgspec


class PodStep(enum.StrEnum):
    WAITING = "waiting"
    #: A disruption budget currently doesn't allow the eviction.
    BLOCKED = "blocked"
    #: The result of the request is unknown; the eviction is retried.
    UNSURE = "unsure"
    REFUSED = "refused"
    #: The pod or its data would be lost, and the user did not agree.
    UNAGREED = "unagreed"
    ENDING = "ending"
    GONE = "gone"


class EndReason(enum.StrEnum):
    """Reason for a drain that ended without completing and without a stop request."""

    SESSION = "session"
    RIGHT = "right"
    TIME = "time"
    NODE = "node"
    UNCORDONED = "uncordoned"
    #: At least one pod is `UNAGREED`.
    CONSENT = "consent"
    REFUSED = "refused"
    MISTAKE = "mistake"


class PodResult(msgspec.Struct):
    """State of one pod. `note` is the cluster's message. `since` is when its termination was
    observed, as a Unix timestamp.
    """

    namespace: str
    name: str
    uid: str
    step: PodStep = PodStep.WAITING
    note: str = ""
    since: float = 0.0


def encode_results(results: Sequence[PodResult]) -> list[Any]:
    found: list[Any] = msgspec.to_builtins(results)
    return found


def decode_results(rows: Iterable[Any]) -> list[PodResult]:
    """Decode stored results. Skip results written by an incompatible version of the console."""
    found: list[PodResult] = []
    for row in rows:
        with suppress(msgspec.ValidationError):
            found.append(msgspec.convert(row, PodResult))
    return found
