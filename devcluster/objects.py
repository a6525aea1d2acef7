"""Kubernetes objects as plain dictionaries, and the small values that go into them."""

import random
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import msgspec

Obj = dict[str, Any]

# The letters that Kubernetes uses for generated suffixes: no vowels, no look-alikes.
SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(dict[str, Any])


def encode(value: object) -> bytes:
    """JSON, compact."""
    return _encoder.encode(value)


def decode(data: bytes) -> Obj:
    """A JSON object; `msgspec.DecodeError` if it is anything else."""
    return _decoder.decode(data)


def clone(obj: Obj) -> Obj:
    """A deep copy of a JSON value."""
    return decode(encode(obj))


def timestamp(moment: datetime | None = None) -> str:
    """RFC 3339 in whole seconds, as metadata has it."""
    return (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_timestamp(moment: datetime | None = None) -> str:
    """RFC 3339 with microseconds, as leases and events have it."""
    return (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """The moment of a timestamp, in UTC; ValueError if it is none."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


_chance: ContextVar[random.Random | None] = ContextVar("chance", default=None)
_system = random.SystemRandom()


def _source() -> random.Random:
    return _chance.get() or _system


@contextmanager
def predictable(seed: int) -> Iterator[random.Random]:
    """Within it UIDs and name suffixes follow from the seed; yields the source of chance."""
    source = random.Random(seed)  # noqa: S311 - a sample world is no secret
    token = _chance.set(source)
    try:
        yield source
    finally:
        _chance.reset(token)


def new_uid() -> str:
    return str(uuid.UUID(int=_source().getrandbits(128), version=4))


def suffix(length: int = 5) -> str:
    """A generated part of a name."""
    return "".join(_source().choices(SUFFIX_LETTERS, k=length))


def meta(obj: Obj) -> Obj:
    """The object's metadata, made if missing."""
    found = obj.get("metadata")
    if not isinstance(found, dict):
        found = obj["metadata"] = {}
    return found


def labels_of(obj: Obj) -> dict[str, str]:
    return meta(obj).get("labels") or {}


def dig(obj: Any, path: str) -> Any:
    """The value at a dotted path, or None."""
    for part in path.split("."):
        if not isinstance(obj, Mapping):
            return None
        obj = obj.get(part)
    return obj


def controller_of(obj: Obj) -> Obj | None:
    """The owner reference of the object's controller."""
    for owner in meta(obj).get("ownerReferences") or ():
        if owner.get("controller"):
            return dict(owner)
    return None


def dicts(value: Any) -> Iterator[Obj]:
    """The dictionaries of a list, for walking over what a client sent."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def condition_of(obj: Obj, kind: str) -> Obj | None:
    return next((c for c in dicts(dig(obj, "status.conditions")) if c.get("type") == kind), None)


def holds(obj: Obj, kind: str) -> bool:
    """Whether the condition of that type is there and true."""
    found = condition_of(obj, kind)
    return found is not None and found.get("status") == "True"
