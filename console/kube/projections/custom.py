"""Custom resources, projected to the printer columns of their definition.

Column values are computed when an object is decoded, so that lists need not decompress
originals. Only the fields used by columns and the status are decoded.

Columns follow `kubectl get` (apiextensions-apiserver,
pkg/registry/customresource/tableconvertor): a value that does not have the column's type is not
shown. Long values and the number of columns are limited, because definitions are written by
others and may contain anything.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from sys import intern
from typing import Any

import msgspec

from console.kube.jsonpath import BadPath, Path, parse
from console.kube.projections.common import (
    TERMINATING,
    Object,
    ObjectMeta,
    Projection,
    as_utc,
    basics,
    decoder,
    join_reason,
)
from console.kube.projections.definition import PrinterColumn
from console.kube.status import Severity, Status
from console.kube.store import Decode

#: Maximum number of columns of a type and maximum length of a value.
MOST_COLUMNS, LONGEST = 20, 400
#: Larger numbers are not valid Kubernetes integers.
_LARGEST = 2**63
#: Maximum length of interned values.
_SHORT = 40

Value = str | int | float | bool | datetime | None


class Custom(Projection, frozen=True, gc=False):
    """A custom resource.

    `values` has one value per column, None if missing. `status` is None for types whose
    status has neither conditions nor a phase.
    """

    columns: tuple[PrinterColumn, ...]
    values: tuple[Value, ...]
    status: Status | None


def columns_of(declared: tuple[PrinterColumn, ...]) -> tuple[PrinterColumn, ...]:
    """Return the columns to show. The age is omitted because every list has an age column."""
    shown = [column for column in declared if column.jsonPath != ".metadata.creationTimestamp"]
    return tuple(shown[:MOST_COLUMNS])


def decoder_of(declared: tuple[PrinterColumn, ...], *, has_state: bool) -> Decode[Custom]:
    """Return a decoder for a type. `has_state` is True if its status has conditions or
    a phase."""
    columns = columns_of(declared)
    paths = [_path(column) for column in columns]
    heads = {path.head for path in paths if path is not None} - {"metadata"}
    if has_state:
        heads.add("status")
    names = {f"f{number}": head for number, head in enumerate(sorted(heads))}
    fields = [(name, Any, None) for name in names]
    read: type[Any] = msgspec.defstruct("_Read", fields, bases=(Object,), rename=names, gc=False)
    getters = [_getter(column, path, names) for column, path in zip(columns, paths, strict=True)]
    status = next((name for name, head in names.items() if head == "status"), "")

    def project(value: Any) -> Custom:
        return Custom(
            **basics(value.metadata),
            columns=columns,
            values=tuple(get(value) for get in getters),
            status=_status(value.metadata, getattr(value, status)) if has_state else None,
        )

    return decoder(read, project)


def _path(column: PrinterColumn) -> Path | None:
    try:
        return parse(column.jsonPath)
    except BadPath:
        return None


def _getter(
    column: PrinterColumn, path: Path | None, names: Mapping[str, str]
) -> Callable[[Any], Value]:
    convert = _CONVERTED.get(column.type, _nothing)
    if path is None:
        return _nothing
    if path.head == "metadata":
        return lambda value: convert(path.first(_plain(value.metadata)))
    name = next(name for name, head in names.items() if head == path.head)
    return lambda value: convert(path.first(getattr(value, name)))


def _plain(meta: ObjectMeta) -> Any:
    """Return the metadata fields that a JSONPath may use."""
    return {
        "name": meta.name,
        "namespace": meta.namespace,
        "uid": meta.uid,
        "labels": meta.labels,
        "annotations": meta.annotations,
        "deletionTimestamp": meta.deletionTimestamp.isoformat() if meta.deletionTimestamp else None,
        "ownerReferences": msgspec.to_builtins(list(meta.ownerReferences or ())),
    }


# Conversions to column types.


def _nothing(_value: Any) -> None:
    return None


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if len(text) > LONGEST:
        return f"{text[: LONGEST - 1]}…"
    return intern(text) if len(text) <= _SHORT else text


def cell_value(value: Any) -> Value:
    """Return the value of a table's cell, which the server has converted for display."""
    if isinstance(value, bool):
        return value
    number = _number(value)
    return value if number is not None else _text(value)


def _integer(value: Any) -> int | None:
    number = _number(value)
    return int(value) if number is not None else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < _LARGEST else None


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _moment(value: Any) -> datetime | None:
    try:
        found = as_utc(msgspec.convert(value, datetime)) if isinstance(value, str) else None
        return found.astimezone(UTC) if found is not None else None
    except (msgspec.ValidationError, OverflowError):
        # Times close to year 1 or 9999 may be out of range in UTC.
        return None


_CONVERTED: Mapping[str, Callable[[Any], Value]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _moment,
}


# The status, from conditions and phases with conventional names
# (https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md,
# https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus/status). Other names are not interpreted,
# because some types have conditions for which "True" is bad, and others conditions for which it is
# good.

_WAITING = Status(Severity.PROGRESS, "Waiting")
_UNKNOWN = Status(Severity.UNKNOWN, "Unknown")
#: Conditions that indicate a problem when true, regardless of other conditions.
_BAD = {
    "Stalled": (Severity.ERROR, "Failed"),
    "Failed": (Severity.ERROR, "Failed"),
    "Failure": (Severity.ERROR, "Failed"),
    "Degraded": (Severity.WARN, "Degraded"),
}
_DONE = {
    "Complete": (Severity.DONE, "Completed"),
    "Completed": (Severity.DONE, "Completed"),
    "Succeeded": (Severity.DONE, "Succeeded"),
}
#: Conditions that are good when true and a problem when false. The first one present decides, unless
#: another one is false. Values are the words for true and false.
_GOOD = {
    "Ready": ("Ready", "Not ready"),
    "Available": ("Available", "Not available"),
    "Healthy": ("Ready", "Not ready"),
    "Programmed": ("Ready", "Not ready"),
    "Established": ("Established", "Not ready"),
    "Accepted": ("Accepted", "Not accepted"),
    "Synced": ("Ready", "Not ready"),
}
_MOVING = ("Reconciling", "Progressing", "Issuing")
#: Reasons for which a good condition is false temporarily, or as the user requested.
_MOVING_REASONS = frozenset(
    {
        "Creating",
        "Deploying",
        "InProgress",
        "Initializing",
        "Installing",
        "Pending",
        "Progressing",
        "Provisioning",
        "Reconciling",
        "Starting",
        "Updating",
        "Upgrading",
        "Waiting",
    }
)
_PAUSED_REASONS = frozenset({"Disabled", "Paused", "Stopped", "Suspended"})
#: Phases in lower case. Other phases are unknown.
_PHASES = {
    **dict.fromkeys(("failed", "failure", "error"), (Severity.ERROR, "Failed")),
    **dict.fromkeys(("degraded", "partiallyfailed"), (Severity.WARN, "Degraded")),
    **dict.fromkeys(("pending", "waiting", ""), (Severity.PROGRESS, "Waiting")),
    **dict.fromkeys(("creating", "provisioning"), (Severity.PROGRESS, "Creating")),
    **dict.fromkeys(
        ("updating", "upgrading", "progressing", "reconciling", "inprogress"),
        (Severity.PROGRESS, "Updating"),
    ),
    **dict.fromkeys(("deleting", "terminating"), (Severity.ENDING, "Terminating")),
    **dict.fromkeys(("ready", "healthy", "provisioned"), (Severity.OK, "Ready")),
    "active": (Severity.OK, "Active"),
    "available": (Severity.OK, "Available"),
    "bound": (Severity.OK, "Bound"),
    "running": (Severity.OK, "Running"),
    **dict.fromkeys(("disabled", "paused", "stopped", "suspended"), (Severity.PAUSED, "Paused")),
    **dict.fromkeys(("completed", "complete"), (Severity.DONE, "Completed")),
    "succeeded": (Severity.DONE, "Succeeded"),
}
_PROBLEMS = frozenset({Severity.ERROR, Severity.WARN})


def _status(meta: ObjectMeta, status: Any) -> Status:
    """Return the status according to the conditions. A phase that reports a worse problem, or that is
    the only information, takes precedence.
    """
    if meta.deletionTimestamp is not None:
        return TERMINATING
    told = status if isinstance(status, dict) else {}
    conditions, phase = told.get("conditions"), told.get("phase")
    by_phase = _of_phase(phase, told) if isinstance(phase, str) else None
    if not isinstance(conditions, list) or not conditions:
        return by_phase or _WAITING
    found = _of_conditions(conditions)
    if by_phase is None or found is None:
        return found or by_phase or _UNKNOWN
    worse = by_phase.severity in _PROBLEMS and by_phase.severity.rank < found.severity.rank
    return by_phase if worse else found


def _of_phase(phase: str, status: Mapping[str, Any]) -> Status:
    severity, word = _PHASES.get(phase.lower(), (Severity.UNKNOWN, "Unknown"))
    if severity in _PROBLEMS:
        return Status(severity, word, _reason(status) or join_reason(phase, None))
    return Status(severity, word, "" if phase == word else join_reason(phase, None))


def _of_conditions(conditions: list[Any]) -> Status | None:
    """Return the status, or None if no condition has a conventional name."""
    dicts = [item for item in conditions if isinstance(item, dict)]
    found = {item["type"]: item for item in dicts if isinstance(item.get("type"), str)}
    for name, (severity, word) in {**_BAD, **_DONE}.items():
        if _holds(found, name):
            return Status(severity, word, _reason(found[name]))
    moving = next((found[name] for name in _MOVING if _holds(found, name)), None)
    good = [name for name in _GOOD if name in found]
    unmet = next((name for name in good if found[name].get("status") == "False"), None)
    if unmet is not None:
        return _unmet(found[unmet], moving, _GOOD[unmet][1])
    if good and _holds(found, good[0]):
        return Status(Severity.OK, _GOOD[good[0]][0])
    if moving is not None:
        return Status(Severity.PROGRESS, "Updating", _reason(moving))
    return Status(Severity.UNKNOWN, "Unknown", _reason(found[good[0]])) if good else None


def _unmet(condition: Mapping[str, Any], moving: Mapping[str, Any] | None, word: str) -> Status:
    """Return the status for a good condition that is false.

    `moving` is the condition that announces a change, if any. The types of Cluster API report the
    severity in the condition.
    """
    reason, severity = condition.get("reason"), condition.get("severity")
    if moving is not None:
        return Status(Severity.PROGRESS, "Updating", _reason(moving))
    if severity == "Info" or (isinstance(reason, str) and reason in _MOVING_REASONS):
        return Status(Severity.PROGRESS, "Updating", _reason(condition))
    if isinstance(reason, str) and reason in _PAUSED_REASONS:
        return Status(Severity.PAUSED, "Paused", _reason(condition))
    if severity == "Warning":
        return Status(Severity.WARN, "Degraded", _reason(condition))
    return Status(Severity.ERROR, word, _reason(condition))


def _holds(found: Mapping[str, Any], name: str) -> bool:
    return name in found and found[name].get("status") == "True"


def _reason(condition: Mapping[str, Any]) -> str:
    reason, message = condition.get("reason"), condition.get("message")
    return join_reason(
        reason if isinstance(reason, str) else None, message if isinstance(message, str) else None
    )
