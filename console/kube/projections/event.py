"""Events (v1), in the older and the newer format.

Time and count are read from the same fields as in kubectl (printEvent in Kubernetes' printers).
Every field is untrusted, because it is written by the creator of the event.
"""

from datetime import datetime
from sys import intern

import msgspec

from console.kube.gvr import EVENTS
from console.kube.projections.common import (
    Decoders,
    Object,
    Projection,
    Reference,
    basics,
    decoder,
    terminating_or,
    valid_time,
)
from console.kube.projections.workload import interned
from console.kube.status import Severity, Status

#: Maximum length of a message, which is kube-apiserver's limit.
LONGEST_MESSAGE = 1024


class Event(Projection, frozen=True, gc=False):
    """An event.

    `about`, `about_uid` and `about_namespace` identify the involved object; `about` is
    `Kind.group/name`. `count` is the number of occurrences between `first` and `last`. `source` is the
    reporting component and host.
    """

    status: Status
    type: str
    reason: str
    message: str
    about: str
    about_namespace: str
    about_uid: str
    source: str
    count: int
    first: datetime | None
    last: datetime | None


class _Source(msgspec.Struct, gc=False):
    component: str | None = None
    host: str | None = None


class _Series(msgspec.Struct, gc=False):
    count: int | None = None
    lastObservedTime: datetime | None = None


class _Event(Object, gc=False):
    involvedObject: Reference | None = None
    reason: str | None = None
    message: str | None = None
    type: str | None = None
    source: _Source | None = None
    reportingComponent: str | None = None
    count: int | None = None
    series: _Series | None = None
    firstTimestamp: datetime | None = None
    lastTimestamp: datetime | None = None
    eventTime: datetime | None = None


def _project(value: _Event) -> Event:
    about = value.involvedObject or Reference()
    first = valid_time(value.firstTimestamp) or valid_time(value.eventTime)
    return Event(
        **basics(value.metadata),
        status=interned.intern(terminating_or(value.metadata, _status(value))),
        type=intern(value.type or ""),
        reason=intern(value.reason or ""),
        message=(value.message or "")[:LONGEST_MESSAGE],
        about=f"{about.group_kind}/{about.name}" if about.name else about.group_kind,
        about_namespace=intern(about.namespace or ""),
        about_uid=about.uid or "",
        source=intern(_source(value)),
        count=_count(value),
        first=first or valid_time(value.metadata.creationTimestamp),
        last=_last(value) or first or valid_time(value.metadata.creationTimestamp),
    )


def _status(event: _Event) -> Status:
    """Return the status. Kubernetes has two types; other types have an unknown severity."""
    match event.type:
        case "Warning":
            return Status(Severity.WARN, "Warning", event.reason or "")
        case "Normal":
            return Status(Severity.OK, "Normal", event.reason or "")
        case _:
            return Status(Severity.UNKNOWN, "Unknown", event.reason or "")


def _count(event: _Event) -> int:
    if event.series is not None:
        return event.series.count or 1
    return event.count or 1


def _last(event: _Event) -> datetime | None:
    if event.series is not None and (seen := valid_time(event.series.lastObservedTime)):
        return seen
    return valid_time(event.lastTimestamp)


def _source(event: _Event) -> str:
    source = event.source or _Source()
    names = (source.component or event.reportingComponent, source.host)
    return ", ".join(name for name in names if name)


DECODERS: Decoders = {EVENTS: decoder(_Event, _project)}
