"""Exports contain the data of the page and no spreadsheet formulas."""

import csv
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.http import QueryDict

from console.kube.gvr import PODS
from console.ui.core.registry import kinds
from console.ui.lists.export import CHUNK, escape_formula, exported_slice, stream
from console.ui.lists.selection import ListQuery, select
from console.ui.lists.viewspec import ViewSpec
from tests.support.informers import preloaded
from tests.ui.support import FakeAccess, admin, alice, pod, small_world


async def _joined(pieces: AsyncIterator[bytes]) -> str:
    return b"".join([piece async for piece in pieces]).decode()


async def export(
    fmt: str,
    query: str = "",
    access: FakeAccess | None = None,
    objects: list[dict[str, Any]] | None = None,
) -> str:
    kind = kinds.by_segment("pods")
    assert kind is not None
    spec = ViewSpec.parse(kind, QueryDict(query), cluster="host")
    informer = preloaded(PODS, small_world() if objects is None else objects)
    selection = select(ListQuery.of(spec, access or admin()), informer, exported_slice(spec))
    return await _joined(stream(spec, selection, fmt))


async def test_json_has_items_total_and_version() -> None:
    found = json.loads(await export("json", "namespace=team-b"))
    assert found == {
        "items": [
            {
                "namespace": "team-b",
                "name": "web-1",
                "status": {"severity": "ok", "word": "Running", "reason": ""},
                "ready": "1/1",
                "restarts": 12,
                "node": "node-1",
                "ip": "10.0.0.1",
                "age": "2026-11-20T10:00:00Z",
                "labels": {},
            }
        ],
        "total": 1,
        "resourceVersion": "1",
    }


async def test_export_contains_everything_unless_a_page_is_requested() -> None:
    objects = [pod(f"p-{n:04}") for n in range(2 * CHUNK + 1)]
    found = json.loads(await export("json", objects=objects))
    assert [item["name"] for item in found["items"]] == [f"p-{n:04}" for n in range(2 * CHUNK + 1)]
    paged = json.loads(await export("json", "limit=10&page=2", objects=objects))
    assert [item["name"] for item in paged["items"]] == [f"p-{n:04}" for n in range(10, 20)]
    assert paged["total"] == found["total"] == 2 * CHUNK + 1


async def test_empty_json_export_is_valid() -> None:
    assert json.loads(await export("json", objects=[])) == {
        "items": [],
        "total": 0,
        "resourceVersion": "1",
    }


async def test_exports_respect_permissions_and_filters() -> None:
    assert {i["namespace"] for i in json.loads(await export("json", "", alice()))["items"]} == {
        "team-a"
    }
    assert len((await export("csv", "status=error")).splitlines()) == 3


@pytest.mark.parametrize(("fmt", "delimiter"), [("csv", ","), ("tsv", "\t")])
async def test_csv_header_contains_the_columns(fmt: str, delimiter: str) -> None:
    kind = kinds.by_segment("pods")
    assert kind is not None
    lines = list(csv.reader(io.StringIO(await export(fmt)), delimiter=delimiter))
    assert lines[0] == [column.id for column in kind.columns]
    assert len(lines) == 7
    assert lines[1][:3] == [
        "api-1",
        "team-a",
        "Image pull failed: ImagePullBackOff: as told by the kubelet",
    ]


HOSTILE = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\nx", "\0x", "＝1+1"]


@pytest.mark.parametrize("text", HOSTILE)
def test_formulas_are_quoted(text: str) -> None:
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("value", ["web-1", "a=b", "1/2", 'say "hi"', "a,b\nc", "", 0, -3])
def test_other_values_are_unchanged(value: str | int) -> None:
    assert escape_formula(value) == value


def test_none_is_an_empty_cell() -> None:
    assert escape_formula(None) == ""


@pytest.mark.parametrize("fmt", ["csv", "tsv"])
async def test_hostile_cells_round_trip_as_text(fmt: str) -> None:
    objects = [pod(f"p-{n}", node=text) for n, text in enumerate([*HOSTILE, 'a"b,c\td'])]
    text = await export(fmt, objects=objects)
    delimiter = "," if fmt == "csv" else "\t"
    lines = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    assert [line["node"] for line in lines] == [*(f"'{h}" for h in HOSTILE), 'a"b,c\td']
