"""Lists and objects in the server's Table format, including malformed ones."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
import pytest

from console.kube import tables
from console.kube.errors import InvalidResponse
from console.kube.gvr import GVR, Key
from console.kube.listwatch import WatchEvent
from console.kube.projections.custom import MOST_COLUMNS
from console.kube.projections.definition import PrinterColumn
from console.kube.store import Store
from console.kube.tables import INTERVAL, TableParser, TableReading, TableSource
from tests.kube.fakes import FakeClock

METRICS = GVR("metrics.k8s.io", "v1beta1", "pods")


def column(name: object, kind: str = "string", **fields: object) -> dict[str, object]:
    return {"name": name, "type": kind, "format": "", "description": "", "priority": 0, **fields}


def row(name: object, *cells: object, namespace: object = "shop", **meta: object) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"cells": [name, *cells], "object": {"metadata": {"name": name, **place, **meta}}}


NAME = column("Name", format="name")


def table(columns: object, rows: object, **more: object) -> bytes:
    metadata = {"resourceVersion": "7"}
    found = {"kind": "Table", "metadata": metadata, "columnDefinitions": columns, "rows": rows}
    return msgspec.json.encode({**found, **more})


def parsed(columns: object, *rows: object) -> dict[Key, tuple[object, ...]]:
    page = TableParser(namespaced=True).page(table(columns, rows))
    return {key: values for key, (_raw, values) in page.rows.items()}


def test_values_follow_the_columns_without_name_and_age() -> None:
    parser = TableParser(namespaced=True)
    columns = [NAME, column("Ready", "integer"), column("Age"), column("Images", priority=1)]
    page = parser.page(table(columns, [row("a", 3, "5m", ["x", "y"]), row("b", "<none>", "5m")]))
    assert [(one.name, one.priority) for one in parser.columns] == [("Ready", 0), ("Images", 1)]
    store: Store[Any] = Store(parser.decode)
    store.replace([raw for raw, _values in page.rows.values()], page.version)
    values = {key.name: entry.projection.values for key, entry in store.snapshot().entries.items()}
    assert values == {"a": (3, '["x","y"]'), "b": ("<none>", None)}
    assert store.resource_version == "7"


def test_object_instead_of_a_table_is_its_only_row() -> None:
    body = msgspec.json.encode({"kind": "PodMetrics", **row("a")["object"], "window": "15s"})
    page = TableParser(namespaced=True).page(body)
    assert page.columns is None
    [(raw, values)] = [page.rows[Key("shop", "a")]]
    assert (bytes(raw), values) == (body, ())
    empty = msgspec.json.encode({"kind": "PodMetricsList", "metadata": {}, "items": None})
    assert TableParser(namespaced=True).page(empty).rows == {}


def test_list_instead_of_a_table_has_no_columns() -> None:
    body = msgspec.json.encode(
        {"kind": "PodMetricsList", "metadata": {}, "items": [row("a")["object"], None, 3]}
    )
    page = TableParser(namespaced=True).page(body)
    assert (page.columns, page.version, [*page.rows]) == (None, "0", [Key("shop", "a")])


@pytest.mark.parametrize(
    "bad",
    [
        *(None, 7, "x", [], {}, {"object": None}, {"object": {}}, {"object": {"metadata": 3}}),
        *(row(name) for name in ("", "a/b", "..", "a%2fb", "x" * 5000, None, 3)),
        *(row("a", namespace=namespace) for namespace in ("", "A b", "../x", 3)),
        row("a", labels=[1]),
        row("a", creationTimestamp="whenever"),
    ],
)
def test_malformed_rows_are_left_out(bad: object) -> None:
    assert parsed([NAME, column("Size")], bad, row("good", 1)) == {Key("shop", "good"): (1,)}


def test_objects_of_another_scope_are_left_out() -> None:
    page = TableParser(namespaced=False).page(table([NAME], [row("a"), row("b", namespace="")]))
    assert [*page.rows] == [Key("", "b")]


@pytest.mark.parametrize(
    "columns", [None, [], [None, 3, {}], [column(3)], [{"name": "A", "priority": "x"}]]
)
def test_malformed_columns_are_left_out(columns: object) -> None:
    assert parsed(columns, row("a", 1)) == {Key("shop", "a"): ()}


def test_number_of_columns_and_length_of_names_and_cells_are_limited() -> None:
    parser = TableParser(namespaced=True)
    columns = [NAME, *(column("C" * 9000, priority=10**9) for _ in range(500))]
    page = parser.page(table(columns, [row("a", *["v" * 9000] * 500)]))
    (values,) = (values for _raw, values in page.rows.values())
    assert len(parser.columns) == MOST_COLUMNS == len(values)
    assert max(len(one.name) for one in parser.columns) <= 100
    assert max(len(str(one)) for one in values) <= 400


@pytest.mark.parametrize(
    "cell", [1e400, -(2**70), {"a": {"b": 1}}, [[]], True, "\u202e<script>", "", None]
)
def test_any_cell_becomes_a_value_that_can_be_sorted(cell: object) -> None:
    (values,) = parsed([NAME, column("X", "integer")], row("a", cell)).values()
    assert isinstance(values[0], str | int | float | bool | None)


@pytest.mark.parametrize("depth", [900, 100_000])
def test_deeply_nested_cell_is_truncated_or_left_out(depth: int) -> None:
    body = table([NAME, column("X")], [row("a", "CELL")])
    deep = body.replace(b'"CELL"', b"[" * depth + b"]" * depth)
    try:
        page = TableParser(namespaced=True).page(deep)
    except InvalidResponse:
        return
    assert all(len(str(values)) < 1000 for _raw, values in page.rows.values())


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'{"rows":3}', b'{"metadata":[]}', b"\xff"])
def test_response_that_is_no_table_is_an_error(body: bytes) -> None:
    with pytest.raises(InvalidResponse):
        TableParser(namespaced=True).page(body)


class Reader:
    """A server whose responses are `pages`, the last one repeatedly."""

    def __init__(self, *pages: bytes) -> None:
        self.pages = [*pages]
        self.asked: list[dict[str, str]] = []

    async def page(self, gvr: GVR, namespace: str, params: Sequence[tuple[str, str]]) -> bytes:
        self.asked.append(dict(params))
        return self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]


def source(reader: Reader, seen: list[object], **reading: bool) -> TableSource:
    how = TableReading(namespaced=True, watched=False, on_columns=seen.append)
    parser, clock = TableParser(namespaced=True), FakeClock()
    return TableSource(reader, METRICS, "", parser, how, clock)  # type: ignore[arg-type]


async def raws(of: TableSource) -> list[str]:
    async with of.list("0") as listing:
        return [
            msgspec.json.decode(one)["metadata"]["name"] async for ones in listing for one in ones
        ]


async def taken(events: AsyncIterator[WatchEvent], number: int) -> list[tuple[str, str]]:
    found = [await asyncio.wait_for(anext(events), 5) for _ in range(number)]
    return [(one.type, msgspec.json.decode(one.object)["metadata"]["name"]) for one in found]


async def test_type_that_cannot_be_watched_is_listed_again_and_its_differences_are_events() -> None:
    columns, seen = [NAME, column("CPU")], list[object]()
    before = table(columns, [row("a", "1m"), row("b", "1m"), row("c", "1m")])
    after = table(columns, [row("a", "1m"), row("b", "2m"), row("d", "1m")])
    found = source(Reader(before, before, after), seen)
    assert await raws(found) == ["a", "b", "c"]
    assert seen == [(PrinterColumn(name="CPU"),)]
    async with found.watch("7") as events:
        assert await taken(events, 3) == [("MODIFIED", "b"), ("MODIFIED", "d"), ("DELETED", "c")]
    assert found._clock.sleeps == [INTERVAL, INTERVAL]  # type: ignore[attr-defined]


async def test_list_is_read_in_pages_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LIMIT", 3)
    more = {"metadata": {"resourceVersion": "7", "continue": "next"}}
    first = table([NAME], [row("a"), row("b")], **more)
    second = table([NAME], [row("c"), row("d")], **more)
    reader = Reader(first, second)
    assert await raws(source(reader, [])) == ["a", "b", "c"]
    assert [one.get("continue") for one in reader.asked] == [None, "next"]


async def test_server_that_continues_forever_is_not_asked_forever() -> None:
    more = {"metadata": {"resourceVersion": "7", "continue": "next"}}
    reader = Reader(table([NAME], [], **more))
    assert await raws(source(reader, [])) == []
    assert len(reader.asked) == tables.MOST_PAGES + 1
