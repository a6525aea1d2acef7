"""What kube-apiserver has refused because a project's share was too small. Pure.

Nothing of it is to be believed: whoever may write events may write these. All that they do is to move
room that nobody uses between projects of one workspace, as making pods does.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from workspaces.amounts import Amounts, amounts_of
from workspaces.ladder import ZERO, Need
from workspaces.names import SHARE

#: Reasons of the events that tell of it: of Kubernetes' controllers, and of the console.
FAILED_CREATE, QUOTA_EXCEEDED = "FailedCreate", "QuotaExceeded"
REASONS = frozenset({FAILED_CREATE, QUOTA_EXCEEDED})
#: Seconds for which the last refusal of an object counts, at least and at most. Kubernetes' controllers
#: wait twice as long before each new attempt, and 1,000 s in the end: what they tried for longer is kept
#: for them for longer.
PATIENCE, _LONGEST = 60.0, 1100.0

_WORDS = re.compile(
    rf"exceeded quota: {re.escape(SHARE)}, "
    r"requested: (?P<requested>\S{1,1000}), used: (?P<used>\S{1,1000}), limited: (?P<limited>\S{1,1000})"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """`requested` was refused when `used` was used; `used` is None as long as its object waits for it,
    whatever is used now. `about`: whose request it was. Times are seconds since the epoch; `last` is None
    while the object says that it is refused."""

    about: str
    requested: Amounts
    used: Amounts | None
    first: float
    last: float | None


def mentions(reason: str) -> bool:
    """True for the beginning of a message about a share."""
    return f"exceeded quota: {SHARE}, " in reason


def words_of(message: str) -> str:
    """The part of a message that says which amounts a share has no room for, "" if it is about something
    else."""
    match = _WORDS.search(message)
    return match[0] if match else ""


def amounts_in(message: str) -> tuple[Amounts, Amounts]:
    """What was requested, and what was used then; nothing if a message is about something else."""
    match = _WORDS.search(message)
    return (_amounts(match["requested"]), _amounts(match["used"])) if match else ({}, {})


def needs_of(
    refusals: Iterable[Refusal], used: Amounts, now: float
) -> Mapping[str, tuple[Need, ...]]:
    """What a project needs, by resource, of what it uses now: of each object the most."""
    asked = list(refusals)
    begun = _begun(asked)
    most: dict[str, dict[str, Decimal]] = {}
    for refusal in asked:
        if not _counts(refusal, begun[refusal.about], now):
            continue
        for resource, requested in refusal.requested.items():
            present = used.get(resource, ZERO)
            then = present if refusal.used is None else refusal.used.get(resource, present)
            amount = min(then, present) + requested
            found = most.setdefault(resource, {})
            found[refusal.about] = max(amount, found.get(refusal.about, ZERO))
    return {
        resource: tuple(Need(amount, begun[about]) for about, amount in sorted(found.items()))
        for resource, found in most.items()
    }


def _begun(refusals: Iterable[Refusal]) -> dict[str, float]:
    """Since when each object is refused, by what they are about. After a pause that is longer than
    Kubernetes' controllers make it is refused anew."""
    found: dict[str, tuple[float, float]] = {}
    for one in sorted(refusals, key=lambda one: one.first):
        since, until = found.get(one.about, (one.first, one.first))
        if one.first - until > _LONGEST:
            since = one.first
        found[one.about] = since, max(until, math.inf if one.last is None else one.last)
    return {about: since for about, (since, _until) in found.items()}


def _counts(refusal: Refusal, first: float, now: float) -> bool:
    if refusal.last is None:
        return True
    patience = min(max(2 * (refusal.last - first), PATIENCE), _LONGEST)
    return now - refusal.last < patience


def _amounts(text: str) -> Amounts:
    return amounts_of(dict(part.split("=", 1) for part in text.split(",") if "=" in part))
