"""Hostile messages for the websockets of live pages, logs and terminals."""

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any
from urllib.parse import quote

from tests.accounts.hostile.forms import VALUES

Said = str | bytes
_AT = ["2026-11-24T10:00:00.000000000Z", 1, "containerd://x"]
#: Valid messages of pages. The first of each is the opening message.
_LIVE = ({"subscribe": "/clusters/host/pods", "etag": "x", "lang": "en"},)
_LOG = ({"follow": "en", "at": {"app": _AT}}, {"ack": 1})
_TERMINAL = ({"begin": "en", "size": [80, 24], "id": "x", "at": 0}, {"ack": 1}, {"size": [9, 9]})
_NUMBERS: tuple[object, ...] = (-1, 0, 2**31, 2**63, 10**40, 1.5, None, True, [], {}, [[]] * 9)
_PARTS = ("%00", "%E2%80%AE", "..", "a" * 300, "%2F", "%2e%2e")
_FIELDS = (
    "container",
    "tail",
    "since",
    "q",
    "at",
    "label",
    "shell",
    "attach",
    "previous",
    "format",
)


def sockets(pages: Sequence[str], rng: Random) -> Iterator[tuple[str, list[Said]]]:
    """Yield URLs with messages, infinitely."""
    while True:
        page = rng.choice((*pages, ""))
        path, _, query = page.partition("?")
        known = _TERMINAL if path.endswith("/terminal") else _LOG if page else _LIVE
        address = f"/ws{path}" if page else "/ws/live"
        if rng.random() < 0.2:
            parts = address.split("/")
            parts[rng.randrange(2, len(parts))] = rng.choice(_PARTS)
            address = "/".join(parts)
        if rng.random() < 0.3:
            value = quote(rng.choice(VALUES)[:500].encode("utf-8", "surrogatepass"))
            query = f"{rng.choice(_FIELDS)}={value}"
        said = [_begin(known[0], rng)]
        said += [_message(rng.choice(known), rng) for _ in range(rng.randrange(4))]
        yield address + (f"?{query}" if query else ""), said


def _begin(message: dict[str, Any], rng: Random) -> Said:
    """Return a valid opening message sometimes, so that the session continues."""
    return json.dumps(message) if rng.random() < 0.3 else _message(message, rng)


def _message(message: dict[str, Any], rng: Random) -> Said:
    act = rng.random()
    if act < 0.1:
        return rng.randbytes(rng.randrange(200))
    if act < 0.3:
        return rng.choice((*VALUES, "[" * 50_000, "x" * 70_000))
    spoiled = deepcopy(message)
    name = rng.choice(list(spoiled))
    if act < 0.4:
        del spoiled[name]
    elif act < 0.5:
        spoiled[rng.choice(VALUES)] = rng.choice(VALUES)
    elif isinstance(spoiled[name], list) and act < 0.8:
        spoiled[name][rng.randrange(len(spoiled[name]))] = rng.choice((*VALUES, *_NUMBERS))
    else:
        spoiled[name] = rng.choice((*VALUES, *_NUMBERS))
    return json.dumps(spoiled)
