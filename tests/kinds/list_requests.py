"""Requests for the list of a kind in each of its formats."""

import json
import re
from collections.abc import Iterable
from typing import Any

from console.kube.gvr import Key
from console.kube.store import Entry
from console.ui.core.kind import ResourceKind
from console.ui.core.links import detail_url, list_url
from console.ui.core.object_source import open_source
from console.ui.core.text import dom_id
from console.ui.details.panels.standard import tabs_of
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin
from tests.views.conftest import ClientAs

_ROW = re.compile(r'<tr\b[^>]*\bid="([^"]+)".*?</tr>', re.DOTALL)


def url_of(kind: ResourceKind, query: str = "") -> str:
    return list_url("host", kind.segment) + (f"?{query}" if query else "")


def entries_of(runtime: StaticRuntime, kind: ResourceKind) -> list[Entry[Any]]:
    """Return all entries by name."""
    with open_source(kind, admin()) as informer:
        found = informer.store.snapshot().entries.values()
    return sorted(found, key=lambda entry: (entry.key.name, entry.key.namespace))


def addresses(kind: ResourceKind, key: Key) -> list[str]:
    """Yield the URL of each tab of the object. The first tab has no name unless the URL without a
    tab is another page.
    """
    first, *others = tabs_of(kind)
    names = ["", *(tab.id for tab in others)]
    assert first.id not in names
    if kind.page_url("host", key):
        names[0] = first.id
    return [detail_url("host", kind.segment, key, name) for name in names]


def ids_of(kind: ResourceKind, entries: Iterable[Entry[Any]]) -> set[str]:
    return {dom_id(kind.segment, str(entry.key)) for entry in entries}


def rows_of(html: str) -> dict[str, str]:
    return {match[1]: match[0] for match in _ROW.finditer(html)}


async def items(client_as: ClientAs, kind: ResourceKind, **query: str) -> list[dict[str, Any]]:
    text = "&".join(f"{name}={_quoted(value)}" for name, value in query.items())
    response = await client_as("admin").get(url_of(kind, f"format=json&{text}"))
    assert response.status_code == 200, await text_of(response)
    return list(json.loads(await text_of(response))["items"])


def _quoted(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


def keys(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(item["namespace"], item["name"]) for item in found]
