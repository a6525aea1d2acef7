"""Requests that kube-apiserver refused because a project's quota share was too small. Pure
functions.

The events are not trustworthy, because every user who may create events can create these. Their
only effect is to move unused capacity between projects of one workspace, which the same users
can also do by creating pods.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from console.kube.quantity import Amounts, parse_amounts
from workspaces.names import SHARE
from workspaces.quota_allocation import ZERO, RefusedNeed, quantity_text

#: Reasons of the events: from Kubernetes' controllers, and from the console.
FAILED_CREATE, QUOTA_EXCEEDED = "FailedCreate", "QuotaExceeded"
REASONS = frozenset({FAILED_CREATE, QUOTA_EXCEEDED})
#: Minimum and maximum number of seconds that the last refusal of an object counts. Kubernetes'
#: controllers double the delay before each retry, up to 1,000 s. Capacity is reserved longer for
#: requests that were retried for longer.
MIN_VALIDITY, _MAX_VALIDITY = 60.0, 1100.0

_WORDS = re.compile(
    rf"exceeded quota: {re.escape(SHARE)}, "
    r"requested: (?P<requested>\S{1,1000}), used: (?P<used>\S{1,1000}), limited: (?P<limited>\S{1,1000})"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused request.

    - `about`: the object that made the request
    - `requested`: the refused amounts
    - `used`: the usage at that time, or None if the object still waits, so that the current
      usage counts
    - `first` and `last`: seconds since the epoch; `last` is None while the object's condition
      reports the refusal
    """

    about: str
    requested: Amounts
    used: Amounts | None
    first: float
    last: float | None


def mentions_share(reason: str) -> bool:
    """Return True if `reason` contains the start of a message about a quota share."""
    return f"exceeded quota: {SHARE}, " in reason


def quota_error_part(message: str) -> str:
    """Return the part of the message that lists the amounts exceeding the share, or "" for other
    messages.
    """
    match = _WORDS.search(message)
    return match[0] if match else ""


def need_text(requested: Amounts, used: Amounts, limited: Amounts) -> str:
    """Return the part of a message that kube-apiserver would write if these requested amounts
    exceeded the share (see `quota_error_part`).
    """
    parts = [
        ",".join(
            f"{resource}={quantity_text(resource, amounts.get(resource, ZERO))}"
            for resource in sorted(requested)
        )
        for amounts in (requested, used, limited)
    ]
    return f"exceeded quota: {SHARE}, requested: {parts[0]}, used: {parts[1]}, limited: {parts[2]}"


def amounts_in(message: str) -> tuple[Amounts, Amounts]:
    """Return the requested amounts and the usage at that time. Both are empty for other messages."""
    match = _WORDS.search(message)
    return (_amounts(match["requested"]), _amounts(match["used"])) if match else ({}, {})


def needs_of(
    refusals: Iterable[Refusal], used: Amounts, now: float
) -> Mapping[str, tuple[RefusedNeed, ...]]:
    """Return the amounts that a project needs, by resource: the highest amount of each object.
    `used` is the current usage.
    """
    asked = list(refusals)
    begun = _refused_since(asked)
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
        resource: tuple(
            RefusedNeed(amount, begun[about]) for about, amount in sorted(found.items())
        )
        for resource, found in most.items()
    }


def _refused_since(refusals: Iterable[Refusal]) -> dict[str, float]:
    """Return when the refusal of each object started. It starts again after a pause longer than the
    retry delay of Kubernetes' controllers.
    """
    found: dict[str, tuple[float, float]] = {}
    for one in sorted(refusals, key=lambda one: one.first):
        since, until = found.get(one.about, (one.first, one.first))
        if one.first - until > _MAX_VALIDITY:
            since = one.first
        found[one.about] = since, max(until, math.inf if one.last is None else one.last)
    return {about: since for about, (since, _until) in found.items()}


def _counts(refusal: Refusal, first: float, now: float) -> bool:
    if refusal.last is None:
        return True
    patience = min(max(2 * (refusal.last - first), MIN_VALIDITY), _MAX_VALIDITY)
    return now - refusal.last < patience


def _amounts(text: str) -> Amounts:
    return parse_amounts(dict(part.split("=", 1) for part in text.split(",") if "=" in part))
