"""Drafts of YAML imports, which are kept until all objects are created."""

import re
from html import unescape

import pytest

from console.drafts.models import Draft
from console.ui.editing.imports import MOST
from tests.contract.console import _runtime, runtime
from tests.contract.import_pages import URL, Desk, desk, text_for
from tests.contract.objects import config_map, unique
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_runtime", "_site", "desk", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)


async def opened(who: str, query: str = "") -> str:
    text: str = await text_of(await ClientAs()(who).get(f"{URL}?{query}"))
    return text


def field(page: str, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]*? value="([^"]*)"', page)
    return unescape(found[1]) if found else ""


def typed(page: str) -> str:
    found = re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)
    assert found is not None, page
    return unescape(found[1]).removeprefix("\n")


async def kept(desk: Desk, text: str, version: str = "0") -> tuple[int, str]:
    """Save a draft, as the page's script does while the user types. Return the status and the
    draft's version.
    """
    client = ClientAs()(desk.who, Accept="application/json")
    data = {"text": text, "namespace": desk.namespace, "version": version}
    answer = await client.post(f"{URL}/draft", data)
    return answer.status_code, answer.headers.get("X-Draft-Version", "")


async def test_a_draft_is_offered_again_with_its_project(desk: Desk) -> None:
    text = "half of: ["
    assert await kept(desk, text) == (204, "1")
    assert await kept(desk, text + "1", "1") == (204, "2")
    assert text not in (await Draft.objects.aget()).content
    page = await opened(desk.who)
    assert "You have a draft from" in page and typed(page) == ""
    page = await opened(desk.who, "draft=continue")
    assert "This is your draft from" in page
    assert (typed(page), field(page, "version")) == (text + "1", "2")
    assert field(page, "namespace") == desk.namespace
    assert text not in await opened("admin", "draft=continue")


async def test_a_draft_is_kept_until_all_objects_are_created(desk: Desk) -> None:
    one, other = (config_map(unique("one"), a="1") for _ in range(2))
    good, bad = text_for(one), text_for({**other, "data": {"a b": "1"}})
    status, page = await desk.page("review", f"{good}---\n{bad}")
    assert (status, field(page, "version")) == (422, "1")
    status, page = await desk.page("create", f"{good}---\n{bad}", version="1")
    assert (status, field(page, "version")) == (207, "2")
    assert "a b" in typed(await opened(desk.who, "draft=continue"))
    status, page = await desk.page("create", text_for(other), version="2")
    assert status == 200
    assert await Draft.objects.acount() == 0
    assert "You have a draft" not in await opened(desk.who)


async def test_an_older_window_does_not_overwrite_a_newer_draft(desk: Desk) -> None:
    assert (await kept(desk, "newer: 1"))[0] == 204
    assert (await kept(desk, "older: 1"))[0] == 409
    _status, page = await desk.page("review", "older: 1")
    assert "You have a draft from" in page and typed(page) == "older: 1"
    assert typed(await opened(desk.who, "draft=continue")) == "newer: 1"


async def test_a_draft_can_be_discarded(desk: Desk) -> None:
    await kept(desk, "a: 1")
    answer = await ClientAs()(desk.who).post(URL, {"step": "discard"})
    assert answer.status_code == 302
    assert await Draft.objects.acount() == 0


async def test_api_clients_and_viewing_save_no_draft(desk: Desk) -> None:
    await opened(desk.who, "kind=configmaps")
    await desk.send("review", config_map(unique("one")))
    assert await Draft.objects.acount() == 0


@pytest.mark.parametrize("version", ["", "-1", "1.5", "x", "9" * 10, "\x00", "١"])
async def test_invalid_draft_versions_are_rejected(desk: Desk, version: str) -> None:
    assert (await kept(desk, "a: 1", version))[0] == 400
    status, _page = await desk.page("review", "a: 1", version=version)
    assert status == 400
    assert await Draft.objects.acount() == 0


async def test_oversized_drafts_are_rejected(desk: Desk) -> None:
    assert (await kept(desk, "a" * (MOST + 1)))[0] == 400
    assert await Draft.objects.acount() == 0
