"""Kubernetes objects as plain dictionaries, with helpers for JSON, timestamps, names and metadata."""

import random
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import msgspec

Obj = dict[str, Any]

# The letters of generated name suffixes in Kubernetes: no vowels and no similar-looking characters.
SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(dict[str, Any])


def encode(value: object) -> bytes:
    """Return compact JSON."""
    return _encoder.encode(value)


def decode(data: bytes) -> Obj:
    """Decode a JSON object. Raise `msgspec.DecodeError` for any other value."""
    return _decoder.decode(data)


def clone(obj: Obj) -> Obj:
    """Return a deep copy of a JSON value."""
    return decode(encode(obj))


def timestamp(moment: datetime | None = None) -> str:
    """Return an RFC 3339 timestamp in whole seconds, the format used in metadata."""
    return (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(moment: datetime | None = None) -> str:
    """Return an RFC 3339 timestamp with microseconds, the format used in leases and events."""
    return (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """Parse an RFC 3339 timestamp. Raise ValueError if it is malformed."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


_chance: ContextVar[random.Random | None] = ContextVar("chance", default=None)
_system = random.SystemRandom()


def _source() -> random.Random:
    return _chance.get() or _system


@contextmanager
def predictable(seed: int) -> Iterator[random.Random]:
    """Derive UIDs and name suffixes from a seed inside the context. Yield the random generator."""
    source = random.Random(seed)  # noqa: S311 - sample data needs no secure randomness
    token = _chance.set(source)
    try:
        yield source
    finally:
        _chance.reset(token)


def new_uid() -> str:
    return str(uuid.UUID(int=_source().getrandbits(128), version=4))


def suffix(length: int = 5) -> str:
    """Return a random name suffix."""
    return "".join(_source().choices(SUFFIX_LETTERS, k=length))


def meta(obj: Obj) -> Obj:
    """Return the object's metadata. Add empty metadata if it is missing."""
    found = obj.get("metadata")
    if not isinstance(found, dict):
        found = obj["metadata"] = {}
    return found


def labels_of(obj: Obj) -> dict[str, str]:
    return meta(obj).get("labels") or {}


def dig(obj: Any, path: str) -> Any:
    """Return the value at a dotted path, or None."""
    for part in path.split("."):
        if not isinstance(obj, Mapping):
            return None
        obj = obj.get(part)
    return obj


def controller_of(obj: Obj) -> Obj | None:
    """Return the owner reference of the object's controller, or None."""
    for owner in meta(obj).get("ownerReferences") or ():
        if owner.get("controller"):
            return dict(owner)
    return None


def dicts(value: Any) -> Iterator[Obj]:
    """Yield the dictionaries in a list. Other values, as sent by a faulty client, are skipped."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def condition_of(obj: Obj, kind: str) -> Obj | None:
    return next((c for c in dicts(dig(obj, "status.conditions")) if c.get("type") == kind), None)


def holds(obj: Obj, kind: str) -> bool:
    """Return True if the object has the condition with status True."""
    found = condition_of(obj, kind)
    return found is not None and found.get("status") == "True"
