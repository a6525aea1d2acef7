"""Common parts of projections: metadata, timestamps, conditions, and the decoder factory.

A kind declares the fields to read as subclasses of `Object` and the fields to keep as a subclass
of `Projection`. All fields to read need a default, because servers omit empty fields and custom
resources may contain null.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from sys import intern
from typing import Any, TypedDict, TypeVar

import msgspec

from console.kube.group_kind import group_kind, group_of
from console.kube.gvr import GVR
from console.kube.status import Severity, Status
from console.kube.store import Decode, Projected


class OwnerReference(msgspec.Struct, frozen=True, gc=False):
    apiVersion: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(msgspec.Struct, gc=False):
    name: str
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    creationTimestamp: datetime | None = None
    deletionTimestamp: datetime | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    managedFields: msgspec.Raw = msgspec.Raw()
    ownerReferences: tuple[OwnerReference, ...] | None = None


def owner_of(meta: ObjectMeta) -> str:
    """Return the controlling owner as `Kind.group/name`, or ""."""
    for owner in meta.ownerReferences or ():
        if owner.controller:
            return f"{group_kind(owner.kind, group_of(owner.apiVersion))}/{owner.name}"
    return ""


def owner_uid(meta: ObjectMeta) -> str:
    """Return the uid of the controlling owner, or ""."""
    return next((owner.uid for owner in meta.ownerReferences or () if owner.controller), "")


def as_utc(value: datetime | None) -> datetime | None:
    """Return the time with a time zone. Kubernetes writes UTC, so that is the default."""
    if value is None or value.tzinfo is not None:
        return value
    return value.replace(tzinfo=UTC)


#: The type of `DECODERS` in the modules of this package.
Decoders = Mapping[GVR, Decode[Any]]
#: Maximum length of a condition's reason and message. The full text is in the object.
LONGEST_REASON = 400
TERMINATING = Status(Severity.ENDING, "Terminating")


class Projection(msgspec.Struct, frozen=True, gc=False):
    """Base class of projections.

    `owner` is the controlling owner as `Kind.group/name` (see `console.kube.group_kind`), or "".
    `owner_uid` is its uid.
    """

    namespace: str
    name: str
    uid: str
    labels: dict[str, str]
    created: datetime | None
    deleted: datetime | None
    owner: str
    owner_uid: str


class Basics(TypedDict):
    """The fields of `Projection` as keyword arguments."""

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
    """An object whose content is not read."""


class Reference(msgspec.Struct, gc=False):
    """A reference to another object. It has an `apiVersion` or a `group`, depending on its type."""

    apiVersion: str | None = None
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None

    @property
    def path(self) -> str:
        """Return `namespace/name`."""
        return f"{self.namespace or ''}/{self.name or ''}"

    @property
    def group_kind(self) -> str:
        """Return `Kind.group` from the `apiVersion`, see `console.kube.group_kind`."""
        return group_kind(self.kind or "", group_of(self.apiVersion or ""))


class Condition(msgspec.Struct, gc=False):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None

    @property
    def text(self) -> str:
        """Return the reason and message, if set."""
        return join_reason(self.reason, self.message)


Conditions = tuple[Condition, ...]


class ConditionsOnly(msgspec.Struct, gc=False):
    """A status of which only the conditions matter."""

    conditions: Conditions | None = None


R = TypeVar("R", bound=Object)
P = TypeVar("P", bound=Projected)


def basics(meta: ObjectMeta) -> Basics:
    return Basics(
        namespace=intern(meta.namespace),
        name=meta.name,
        uid=meta.uid,
        labels=meta.labels or {},
        created=as_utc(meta.creationTimestamp),
        deleted=as_utc(meta.deletionTimestamp),
        owner=intern(owner_of(meta)),
        owner_uid=intern(owner_uid(meta)),
    )


def decoder(read: type[R], project: Callable[[R], P]) -> Decode[P]:
    """Return a decoder that parses `read` and converts it with `project`.

    It only raises `msgspec.DecodeError`, for any input.
    """
    parse = msgspec.json.Decoder(read).decode

    def decode(raw: bytes | msgspec.Raw) -> tuple[P, str, msgspec.Raw]:
        try:
            value = parse(raw)
        except (RecursionError, UnicodeDecodeError) as error:
            raise msgspec.DecodeError(str(error)) from error
        return project(value), value.metadata.resourceVersion, value.metadata.managedFields

    return decode


def terminating_or(meta: ObjectMeta, status: Status) -> Status:
    return TERMINATING if meta.deletionTimestamp is not None else status


def annotation(meta: ObjectMeta, name: str) -> str:
    return (meta.annotations or {}).get(name, "")


def find_condition(conditions: Iterable[Condition] | None, kind: str) -> Condition | None:
    return next((found for found in conditions or () if found.type == kind), None)


def join_reason(first: str | None, second: str | None) -> str:
    """Return `first: second`, or only the part that is set, truncated to `LONGEST_REASON`
    characters.
    """
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
    """Format a selector like kubectl (labels.Selector.String). "" selects everything."""
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
    """Format key-value pairs as `a=1,b=2`, sorted by key."""
    return ",".join(f"{key}={value}" for key, value in sorted((pairs or {}).items()))


_FIRST, _LAST = 1970, 9000


def valid_time(value: datetime | None) -> datetime | None:
    """Return `value` in UTC, or None if it is missing or implausible.

    Tenants write some of the times, and others are Go's zero time. A time zone conversion could
    move implausible years out of Python's range.
    """
    if value is None or not _FIRST < value.year < _LAST:
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def seconds_between(start: datetime | None, end: datetime | None) -> int | None:
    """Return the whole seconds from `start` to `end`, at least 0, or None if either time is None."""
    if start is None or end is None:
        return None
    return max(0, int((end - start).total_seconds()))
