"""A list request checks each permission once and reuses the result."""

from collections.abc import Callable

import pytest

from tests.support.responses import HTMX, text_of
from tests.ui.support import CountingAccess, FakeAccess, admin, alice, dora
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

URL = "/clusters/host/pods"


@pytest.mark.parametrize("query", ["", "?format=json", "?q=web&sort=-age&namespace=team-a"])
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
@pytest.mark.parametrize("viewer", [admin, alice, dora])
async def test_list_request_checks_each_permission_once(
    client_as: ClientAs,
    monkeypatch: pytest.MonkeyPatch,
    viewer: Callable[[], FakeAccess],
    headers: dict[str, str],
    query: str,
) -> None:
    access = CountingAccess(viewer())
    monkeypatch.setitem(VIEWERS, "counted", lambda: access)
    client = client_as("counted", **headers)
    # Permissions for the page frame are checked once for all pages.
    await text_of(await client.get(URL + query))
    access.asked.clear()
    await text_of(await client.get(URL + query))
    assert access.asked
    assert {asked: times for asked, times in access.asked.items() if times > 1} == {}
