"""All formats of a list show the same data: page, fragment, websocket, JSON, CSV and TSV."""

import csv
import io
from collections.abc import Iterable
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator

from console.kube.store import Entry
from console.routing import websocket_application
from console.ui.core.kind import ResourceKind
from console.ui.core.text import dom_id
from console.ui.lists.columns import Column
from console.ui.lists.export import escape_formula
from tests.kinds.list_requests import entries_of, items, rows_of, url_of
from tests.kinds.world import change, fixture_of
from tests.support.responses import HTMX, text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin
from tests.views.conftest import ClientAs


async def test_json_contains_every_column(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    by_key = {tuple(entry.key): entry for entry in entries_of(runtime, kind)}
    found = await items(client_as, kind)
    assert len(found) == len(by_key)
    for item in found:
        entry = by_key[item["namespace"], item["name"]]
        for column in kind.columns:
            if column.id != "status":
                assert item[column.id] == column.plain(entry), column.id


@pytest.mark.parametrize(("fmt", "delimiter"), [("csv", ","), ("tsv", "\t")])
async def test_csv_and_tsv_contain_every_column(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime, fmt: str, delimiter: str
) -> None:
    response = await client_as("admin").get(url_of(kind, f"format={fmt}&sort=name"))
    text = io.StringIO(await text_of(response), newline="")
    header, *lines = csv.reader(text, delimiter=delimiter)
    assert header == [column.id for column in kind.columns]
    assert lines == [_line(kind.columns, entry) for entry in entries_of(runtime, kind)]


def _line(columns: Iterable[Column], entry: Entry[Any]) -> list[str]:
    return [str(escape_formula(column.plain(entry))) for column in columns]


async def still_alive() -> bool:
    return True


@pytest.mark.sampled
async def test_fragment_page_and_websocket_show_the_same_rows(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime
) -> None:
    before = await client_as("admin", **HTMX).get(url_of(kind))
    socket = WebsocketCommunicator(websocket_application, "/ws/live")
    socket.scope |= {
        "account": "admin",
        "access_in": lambda _cluster: admin(),
        "session_alive": still_alive,
    }
    assert (await socket.connect())[0]
    etag = before.context["table"].etag
    await socket.send_json_to({"subscribe": url_of(kind), "etag": etag, "lang": "en"})
    await socket.receive_from(timeout=5)
    changed = fixture_of(kind)[0]
    changed["metadata"] |= {"uid": "another", "resourceVersion": "999999999"}
    change(runtime, kind, changed)
    name = changed["metadata"]["name"]
    entry = next(e for e in entries_of(runtime, kind) if e.key.name == name)
    row_id = dom_id(kind.segment, str(entry.key))
    row = await _row_from(socket, row_id)
    page = rows_of(await text_of(await client_as("admin").get(url_of(kind))))
    fragment = rows_of(await text_of(await client_as("admin", **HTMX).get(url_of(kind))))
    assert row == page[row_id] == fragment[row_id]
    assert page == fragment
    assert row != rows_of(await text_of(before))[row_id]
    await socket.disconnect()


async def _row_from(socket: WebsocketCommunicator, row_id: str) -> str:
    """Return the row as sent by the websocket. If it doesn't arrive, the test times out."""
    while True:
        found = rows_of(await socket.receive_from(timeout=5))
        if row_id in found:
            return found[row_id]
