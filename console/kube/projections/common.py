"""What most projections have in common: the metadata, conditions, and a decoder made of two parts.

A kind declares what it reads (subclasses of `Object`, every field with a default, since a server leaves
out what is empty and custom resources may say null) and what it keeps (a subclass of `Projection`).
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from sys import intern
from typing import Any, TypedDict, TypeVar

import msgspec

from console.kube.gvr import GVR
from console.kube.projections.meta import ObjectMeta, owner_of, owner_uid, utc
from console.kube.status import Severity, Status
from console.kube.store import Decode, Projected

#: What a module of this package declares as `DECODERS`.
Decoders = Mapping[GVR, Decode[Any]]
#: Characters of a controller's message that are kept; the whole one is in the object.
LONGEST_REASON = 400
TERMINATING = Status(Severity.ENDING, "Terminating")


class Projection(msgspec.Struct, frozen=True, gc=False):
    """`owner` is `Kind/name` of what controls the object, or ""; `owner_uid` its uid."""

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    created: datetime | None
    deleted: datetime | None
    owner: str
    owner_uid: str


class Basics(TypedDict):
    """The fields of `Projection`, to be passed on with `**`."""

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    created: datetime | None
    deleted: datetime | None
    owner: str
    owner_uid: str


class Object(msgspec.Struct, gc=False):
    metadata: ObjectMeta


class Present(msgspec.Struct, gc=False):
    """Something of which only its being there matters."""


class Condition(msgspec.Struct, gc=False):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None

    @property
    def text(self) -> str:
        """Reason and message, as far as there are any."""
        return joined(self.reason, self.message)


Conditions = tuple[Condition, ...]
R = TypeVar("R", bound=Object)
P = TypeVar("P", bound=Projected)


def basics(meta: ObjectMeta) -> Basics:
    return Basics(
        namespace=intern(meta.namespace),
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels or {},
        created=utc(meta.creationTimestamp),
        deleted=utc(meta.deletionTimestamp),
        owner=intern(owner_of(meta)),
        owner_uid=intern(owner_uid(meta)),
    )


def decoder(read: type[R], project: Callable[[R], P]) -> Decode[P]:
    """Raises nothing but `msgspec.DecodeError`, whatever it is given."""
    parse = msgspec.json.Decoder(read).decode

    def decode(raw: bytes | msgspec.Raw) -> tuple[P, str, msgspec.Raw]:
        try:
            value = parse(raw)
        except (RecursionError, UnicodeDecodeError) as error:
            raise msgspec.DecodeError(str(error)) from error
        return project(value), value.metadata.resourceVersion, value.metadata.managedFields

    return decode


def unless_ending(meta: ObjectMeta, status: Status) -> Status:
    return TERMINATING if meta.deletionTimestamp is not None else status


def annotation(meta: ObjectMeta, name: str) -> str:
    return (meta.annotations or {}).get(name, "")


def find(conditions: Iterable[Condition] | None, kind: str) -> Condition | None:
    return next((found for found in conditions or () if found.type == kind), None)


def joined(first: str | None, second: str | None) -> str:
    """`first: second`, or the one that there is, cut where it gets too long to read."""
    text = ": ".join(part for part in (first, second) if part)
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


class _Expression(msgspec.Struct, gc=False):
    key: str | None = None
    operator: str | None = None
    values: tuple[str, ...] | None = None


class Selector(msgspec.Struct, gc=False):
    """https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/"""

    matchLabels: dict[str, str] | None = None
    matchExpressions: tuple[_Expression, ...] | None = None


def selector_text(selector: Selector | None) -> str:
    """As kubectl writes it (labels.Selector.String), "" for one that selects everything."""
    if selector is None:
        return ""
    terms = [(key, f"{key}={value}") for key, value in (selector.matchLabels or {}).items()]
    terms += [(item.key or "", _term(item)) for item in selector.matchExpressions or ()]
    return ",".join(term for _key, term in sorted(terms))


def _term(item: _Expression) -> str:
    values = ",".join(sorted(item.values or ()))
    match item.operator:
        case "In":
            return f"{item.key} in ({values})"
        case "NotIn":
            return f"{item.key} notin ({values})"
        case "DoesNotExist":
            return f"!{item.key}"
        case _:
            return item.key or ""


def pairs_text(pairs: dict[str, Any] | None) -> str:
    """`a=1,b=2`, by key."""
    return ",".join(f"{key}={value}" for key, value in sorted((pairs or {}).items()))
