"""Projections of custom resources according to their definition."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from console.kube.projections.custom import LONGEST, MOST_COLUMNS, Custom, columns_of, decoder_of
from console.kube.projections.definition import PrinterColumn
from console.kube.status import Severity

META = {"name": "w", "namespace": "shop", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}


def decoded(
    obj: dict[str, Any], *columns: PrinterColumn, has_state: bool = False, **meta: Any
) -> Custom:
    raw = msgspec.json.encode({"metadata": {**META, **meta}, **obj})
    return decoder_of(columns, has_state=has_state)(raw)[0]


def value(kind: str, given: Any, path: str = ".spec.x") -> Any:
    (found,) = decoded({"spec": {"x": given}}, PrinterColumn("X", kind, path)).values
    return found


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("string", "a", "a"),
        ("string", 3, "3"),
        ("string", True, "true"),
        ("string", {"a": [1]}, '{"a":[1]}'),
        ("string", None, None),
        ("string", "x" * (LONGEST + 1), "x" * (LONGEST - 1) + "…"),
        ("integer", 3, 3),
        ("integer", 3.9, 3),
        ("integer", "3", None),
        ("integer", True, None),
        ("integer", 10**30, None),
        ("integer", 1e300, None),
        ("number", 3, 3.0),
        ("number", -0.5, -0.5),
        ("number", [], None),
        ("boolean", False, False),
        ("boolean", "false", None),
        ("date", "2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("date", "2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("date", "0001-01-01T00:00:00+23:00", None),
        ("date", "tomorrow", None),
        ("date", 17, None),
        ("strange", "a", None),
    ],
)
def test_value_has_the_type_of_its_column(kind: str, given: Any, expected: Any) -> None:
    assert value(kind, given) == expected


def test_metadata_columns_are_supported() -> None:
    columns = [
        PrinterColumn("Team", "string", ".metadata.labels.team"),
        PrinterColumn("Note", "string", r".metadata.annotations.x\.org/note"),
        PrinterColumn("By", "string", ".metadata.ownerReferences[0].name"),
        PrinterColumn("Age", "date", ".metadata.creationTimestamp"),
    ]
    owner = {"kind": "Shop", "name": "main", "uid": "o", "controller": True}
    found = decoded(
        {},
        *columns,
        labels={"team": "pay"},
        annotations={"x.org/note": "hi"},
        ownerReferences=[owner],
    )
    # Every list already has an age column.
    assert found.values == ("pay", "hi", "main")
    assert found.columns == tuple(columns[:3])


def test_unmatched_path_leaves_its_cell_empty() -> None:
    columns = (
        PrinterColumn("A", "string", ".nowhere.to.be.found"),
        PrinterColumn("B", "string", "]["),
        PrinterColumn("C", "string", ".spec.x"),
    )
    assert decoded({"spec": {"x": "here"}}, *columns).values == (None, None, "here")
    assert decoded({"spec": "not an object"}, *columns).values == (None, None, None)
    assert decoded({}, *columns).values == (None, None, None)


def test_number_of_columns_is_limited() -> None:
    declared = tuple(PrinterColumn(f"C{n}", "integer", ".spec.x") for n in range(1000))
    assert len(columns_of(declared)) == MOST_COLUMNS
    assert len(decoded({"spec": {"x": 1}}, *declared).values) == MOST_COLUMNS


def condition(kind: Any, status: Any = "True", reason: Any = "", message: Any = "") -> Any:
    return {"type": kind, "status": status, "reason": reason, "message": message}


@pytest.mark.parametrize(
    ("conditions", "severity", "word", "reason"),
    [
        ([], Severity.PROGRESS, "Waiting", ""),
        ([condition("Ready")], Severity.OK, "Ready", ""),
        (
            [condition("Ready", "False", "Expired", "on Monday")],
            Severity.ERROR,
            "Not ready",
            "Expired: on Monday",
        ),
        ([condition("Ready", "Unknown", "NoNews")], Severity.UNKNOWN, "Unknown", "NoNews"),
        (
            [condition("Ready", "False"), condition("Issuing", "True", "Asked")],
            Severity.PROGRESS,
            "Updating",
            "Asked",
        ),
        ([condition("Available", "False")], Severity.ERROR, "Not available", ""),
        (
            [condition("Ready"), condition("Synced", "False", "No")],
            Severity.ERROR,
            "Not ready",
            "No",
        ),
        ([condition("Ready"), condition("Healthy", "Unknown")], Severity.OK, "Ready", ""),
        # Types whose "False" is not a problem.
        ([condition("Ready"), condition("Active", "False")], Severity.OK, "Ready", ""),
        ([condition("Ready"), condition("Failed", "False")], Severity.OK, "Ready", ""),
        ([condition("Succeeded", "False")], Severity.UNKNOWN, "Unknown", ""),
        # A reason or a severity that reports progress or a warning.
        ([condition("Ready", "False", "Creating")], Severity.PROGRESS, "Updating", "Creating"),
        ([condition("Ready", "False", "Stopped")], Severity.PAUSED, "Paused", "Stopped"),
        (
            [{**condition("Ready", "False", "Slow"), "severity": "Info"}],
            Severity.PROGRESS,
            "Updating",
            "Slow",
        ),
        (
            [{**condition("Ready", "False", "Slow"), "severity": "Warning"}],
            Severity.WARN,
            "Degraded",
            "Slow",
        ),
        (
            [condition("Ready"), condition("Degraded", "True", "Slow")],
            Severity.WARN,
            "Degraded",
            "Slow",
        ),
        ([condition("Ready"), condition("Degraded", "False")], Severity.OK, "Ready", ""),
        ([condition("Ready", "False"), condition("Stalled")], Severity.ERROR, "Failed", ""),
        ([condition("Complete")], Severity.DONE, "Completed", ""),
        ([condition("Weird")], Severity.UNKNOWN, "Unknown", ""),
        ([condition(None), condition({}), 7, None], Severity.UNKNOWN, "Unknown", ""),
        ([condition("Ready", ["True"], 7, {})], Severity.UNKNOWN, "Unknown", ""),
        ("no list", Severity.PROGRESS, "Waiting", ""),
    ],
)
def test_status_is_derived_from_the_conditions(
    conditions: Any, severity: Severity, word: str, reason: str
) -> None:
    found = decoded({"status": {"conditions": conditions}}, has_state=True).status
    assert found is not None
    assert (found.severity, found.word, found.reason) == (severity, word, reason)


@pytest.mark.parametrize(
    ("status", "severity", "word", "reason"),
    [
        ({"phase": "Failed", "message": "no space"}, Severity.ERROR, "Failed", "no space"),
        ({"phase": "ERROR"}, Severity.ERROR, "Failed", "ERROR"),
        ({"phase": "Running"}, Severity.OK, "Running", ""),
        ({"phase": "Provisioned"}, Severity.OK, "Ready", "Provisioned"),
        ({"phase": "Dreaming"}, Severity.UNKNOWN, "Unknown", "Dreaming"),
        ({"phase": ""}, Severity.PROGRESS, "Waiting", ""),
        ({"phase": {"odd": 1}}, Severity.PROGRESS, "Waiting", ""),
        ({}, Severity.PROGRESS, "Waiting", ""),
        (
            {"phase": "Failed", "conditions": [condition("Ready")]},
            Severity.ERROR,
            "Failed",
            "Failed",
        ),
        ({"phase": "Dreaming", "conditions": [condition("Ready")]}, Severity.OK, "Ready", ""),
        ({"phase": "Running", "conditions": [condition("Weird")]}, Severity.OK, "Running", ""),
    ],
)
def test_status_is_derived_from_the_phase(
    status: Any, severity: Severity, word: str, reason: str
) -> None:
    found = decoded({"status": status}, has_state=True).status
    assert found is not None
    assert (found.severity, found.word, found.reason) == (severity, word, reason)


def test_deleted_object_is_terminating_and_without_conditions_there_is_no_status() -> None:
    ready = {"status": {"conditions": [condition("Ready")]}}
    gone = decoded(ready, has_state=True, deletionTimestamp="2026-01-01T00:00:00Z").status
    assert gone is not None
    assert gone.word == "Terminating"
    assert decoded(ready).status is None


def test_undecodable_object_raises_decode_error() -> None:
    decode = decoder_of((PrinterColumn("X", "string", ".spec.x"),), has_state=True)
    deep = b'{"metadata":{"name":"w"},"spec":' + b'{"x":' * 5000 + b"1" + b"}" * 5001
    for raw in (b"", b"{}", b"[]", deep, b'{"metadata":{"name":"w"},"spec":{"x":"\xff"}}'):
        with pytest.raises(msgspec.DecodeError):
            decode(raw)
