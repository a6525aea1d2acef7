"""Objects of types that only their definition describes: what its printer columns show of them.

The columns' values are worked out once, when an object is decoded, so that no list unpacks originals.
Only the members that the columns and the conditions lie in are decoded at all.

Columns are as `kubectl get` has them (apiextensions-apiserver,
pkg/registry/customresource/tableconvertor): a value that is not of its column's type is not shown. Long
texts are cut, and so is the number of columns, since whoever defines a type may write anything.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from sys import intern
from typing import Any

import msgspec

from console.kube.jsonpath import BadPath, Path, parse
from console.kube.projections.common import TERMINATING, Object, Projection, basics, decoder, joined
from console.kube.projections.definition import PrinterColumn
from console.kube.projections.meta import ObjectMeta, utc
from console.kube.status import Severity, Status
from console.kube.store import Decode

#: Columns of a type, and characters of a value, that a list has at most.
MOST_COLUMNS, LONGEST = 20, 400
#: Numbers from here on are no integers of Kubernetes.
_LARGEST = 2**63
#: Characters up to which equal texts are kept once.
_SHORT = 40

Value = str | int | float | bool | datetime | None


class Custom(Projection, frozen=True, gc=False):
    """`values` belong to `columns`, one each; None where there is none. `status` is None for types
    that have no conditions."""

    columns: tuple[PrinterColumn, ...]
    values: tuple[Value, ...]
    status: Status | None


def columns_of(declared: tuple[PrinterColumn, ...]) -> tuple[PrinterColumn, ...]:
    """Those that a list shows. How old an object is, every list shows by itself."""
    shown = [column for column in declared if column.jsonPath != ".metadata.creationTimestamp"]
    return tuple(shown[:MOST_COLUMNS])


def decoder_of(declared: tuple[PrinterColumn, ...], *, conditions: bool) -> Decode[Custom]:
    """`conditions`: the type has conditions in its status."""
    columns = columns_of(declared)
    paths = [_path(column) for column in columns]
    heads = {path.head for path in paths if path is not None} - {"metadata"}
    if conditions:
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
            status=_status(value.metadata, getattr(value, status)) if conditions else None,
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
    """Of the metadata, what an object says about itself."""
    return {
        "name": meta.name,
        "namespace": meta.namespace,
        "uid": meta.uid,
        "labels": meta.labels,
        "annotations": meta.annotations,
        "deletionTimestamp": meta.deletionTimestamp.isoformat() if meta.deletionTimestamp else None,
        "ownerReferences": msgspec.to_builtins(list(meta.ownerReferences or ())),
    }


# Values as tables have them.


def _nothing(_value: Any) -> None:
    return None


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    if len(text) > LONGEST:
        return f"{text[: LONGEST - 1]}…"
    return intern(text) if len(text) <= _SHORT else text


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
        found = utc(msgspec.convert(value, datetime)) if isinstance(value, str) else None
        return found.astimezone(UTC) if found is not None else None
    except (msgspec.ValidationError, OverflowError):
        # Some moments of the first and of the last year are in none in UTC.
        return None


_CONVERTED: Mapping[str, Callable[[Any], Value]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "date": _moment,
}


# The state, from conditions by the names that controllers have agreed upon
# (https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md,
# https://pkg.go.dev/sigs.k8s.io/cli-utils/pkg/kstatus/status).

_WAITING = Status(Severity.PROGRESS, "Waiting")
_UNKNOWN = Status(Severity.UNKNOWN, "Unknown")
#: Whatever else is so: true means trouble.
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
#: True is how it should be: the first that there is decides. Second, what false is called.
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


def _status(meta: ObjectMeta, status: Any) -> Status:
    if meta.deletionTimestamp is not None:
        return TERMINATING
    conditions = status.get("conditions") if isinstance(status, dict) else None
    if not isinstance(conditions, list) or not conditions:
        return _WAITING
    found = {item["type"]: item for item in conditions if _is_condition(item)}
    for name, (severity, word) in {**_BAD, **_DONE}.items():
        if _holds(found, name):
            return Status(severity, word, _reason(found[name]))
    moving = next((name for name in _MOVING if _holds(found, name)), None)
    for name, (good, bad) in _GOOD.items():
        if name in found:
            if _holds(found, name):
                return Status(Severity.OK, good)
            if moving is not None:
                break
            unknown = found[name].get("status") != "False"
            severity, word = (Severity.UNKNOWN, "Unknown") if unknown else (Severity.WARN, bad)
            return Status(severity, word, _reason(found[name]))
    return Status(Severity.PROGRESS, "Updating", _reason(found[moving])) if moving else _UNKNOWN


def _is_condition(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("type"), str)


def _holds(found: Mapping[str, Any], name: str) -> bool:
    return name in found and found[name].get("status") == "True"


def _reason(condition: Mapping[str, Any]) -> str:
    reason, message = condition.get("reason"), condition.get("message")
    return joined(
        reason if isinstance(reason, str) else None, message if isinstance(message, str) else None
    )
