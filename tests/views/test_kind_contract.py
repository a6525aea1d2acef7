"""What every kind's pages promise, checked for each kind that is registered.

A kind needs an example object here and nothing else.
"""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.urls import reverse

from console.kube.gvr import Key
from console.kube.runtime import StaticRuntime
from console.live.consumer import LiveConsumer
from console.live.routing import websocket_application
from console.ui.kind import ResourceKind
from console.ui.links import action_url, list_url
from console.ui.registry import kinds
from tests.ui.support import admin, pod
from tests.views.conftest import ClientAs
from tests.views.test_lists import HTMX, text_of

#: By URL segment: an object, and the same one after a change that can be seen.
EXAMPLES: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[], dict[str, Any]]]] = {
    "pods": (lambda: pod("example", "team-a"), lambda: pod("example", "team-a", restarts=7)),
}
KEY = Key("team-a", "example")


@pytest.fixture(params=sorted(kind.segment for kind in kinds))
def kind(request: pytest.FixtureRequest, runtime: StaticRuntime) -> ResourceKind:
    found = kinds.find(request.param)
    assert found is not None
    runtime.informer(found.gvr).apply(EXAMPLES[found.segment][0]())
    return found


async def still_alive() -> bool:
    return True


def url_of(kind: ResourceKind) -> str:
    return list_url("host", kind.segment)


def test_every_kind_has_an_example() -> None:
    assert EXAMPLES.keys() == {kind.segment for kind in kinds}


async def test_the_list_is_there_for_those_who_may(client_as: ClientAs, kind: ResourceKind) -> None:
    response = await client_as("admin").get(url_of(kind))
    assert response.status_code == 200
    assert f'data-key="{KEY}"' in await text_of(response)


async def test_it_is_not_there_for_others(client_as: ClientAs, kind: ResourceKind) -> None:
    for suffix in ("", "?format=json", "?format=csv", "?format=tsv"):
        response = await client_as("charlie").get(url_of(kind) + suffix)
        assert response.status_code == 403
        assert KEY.name not in await text_of(response)


async def test_strangers_are_sent_to_the_login(client_as: ClientAs, kind: ResourceKind) -> None:
    response = await client_as("").get(url_of(kind))
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("accounts:login"))


async def test_each_sort_shows_all_in_both_directions(
    client_as: ClientAs, kind: ResourceKind
) -> None:
    orders = []
    for column in kind.sortable:
        for sign in ("", "-"):
            url = f"{url_of(kind)}?format=json&sort={sign}{column}"
            items = json.loads(await text_of(await client_as("admin").get(url)))["items"]
            orders.append({(item["namespace"], item["name"]) for item in items})
    assert all(order == orders[0] for order in orders)
    assert tuple(KEY) in orders[0]


async def test_each_filter_takes_a_value(client_as: ClientAs, kind: ResourceKind) -> None:
    examples = {"q": "example", "namespace": "team-a", "label": "!absent", "status": "ok"}
    for declared in kind.filters:
        url = f"{url_of(kind)}?format=json&{declared.param}={examples[declared.param]}"
        found = json.loads(await text_of(await client_as("admin").get(url)))
        assert KEY.name in {item["name"] for item in found["items"]}


@pytest.mark.parametrize(("fmt", "delimiter"), [("csv", ","), ("tsv", "\t")])
async def test_the_header_of_an_export_is_the_columns(
    client_as: ClientAs, kind: ResourceKind, fmt: str, delimiter: str
) -> None:
    text = await text_of(await client_as("admin").get(f"{url_of(kind)}?format={fmt}"))
    lines = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    assert lines[0] == [column.id for column in kind.columns]


async def test_fragment_page_and_socket_show_the_same(
    client_as: ClientAs, kind: ResourceKind, runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LiveConsumer, "flush_seconds", 0.01)
    before = await client_as("admin", **HTMX).get(url_of(kind))
    socket = WebsocketCommunicator(websocket_application, "/ws/live")
    socket.scope |= {"account": "admin", "access": admin(), "session_alive": still_alive}
    assert (await socket.connect())[0]
    etag = before.context["table"].etag
    await socket.send_json_to({"subscribe": url_of(kind), "etag": etag, "lang": "en"})
    await socket.receive_from(timeout=5)
    runtime.informer(kind.gvr).apply(EXAMPLES[kind.segment][1]())
    frame = await socket.receive_from(timeout=5)
    page = await text_of(await client_as("admin").get(url_of(kind)))
    fragment = await text_of(await client_as("admin", **HTMX).get(url_of(kind)))
    assert f'data-key="{KEY}"' in frame
    assert frame.strip() in fragment
    assert fragment.strip() in page
    assert frame.strip() not in await text_of(before)
    await socket.disconnect()


async def test_what_is_not_allowed_is_neither_offered_nor_done(
    client_as: ClientAs, kind: ResourceKind
) -> None:
    for action in kind.actions:
        url = action_url(action.name, "host", kind.segment, KEY)
        assert url in await text_of(await client_as("admin").get(url_of(kind)))
        assert url not in await text_of(await client_as("bob").get(url_of(kind)))
        assert (await client_as("bob").get(url)).status_code == 403
        assert (await client_as("bob").post(url, {"uid": "x"})).status_code == 403
