"""The last log lines in the peek panel of a list of pods."""

import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from console.logs import peek
from devcluster.logs.runs import TEXT_ANNOTATION
from tests.controlplane.waiting import eventually
from tests.logs.conftest import World
from tests.logs.pages import get, shown, written
from tests.support.responses import text_of
from tests.views.conftest import ClientAs

pytestmark = pytest.mark.django_db(transaction=True)


def panel(name: str) -> str:
    return f"/clusters/host/pods?namespace=default&peek={quote(f'default/{name}', safe='')}"


async def test_panel_shows_the_last_lines_with_a_link_to_the_log(world: World) -> None:
    text = "\n".join(f"line {n} <b>" for n in range(30))
    path = world.start(world.pod("peeked", **{TEXT_ANNOTATION: text}))
    eventually(lambda: written(world.api, "peeked") == 30, "all is written")
    html = await get(panel("peeked"))
    assert shown(html) == [f"line {n} <b>" for n in range(10, 30)]
    assert f'href="{path}' in html
    [asked] = world.asked()[-1:]
    assert asked.user == "admin"


async def test_panel_has_no_log_without_permission_to_read_it(world: World) -> None:
    world.start(world.pod("unread"))
    mark = world.cluster.audit.mark()
    html = await text_of(await ClientAs()("bob").get(panel("unread")))
    assert 'id="panel-summary"' in html and 'id="panel-log"' not in html
    assert world.asked(mark) == []


async def test_slow_log_does_not_delay_the_panel(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_given: Any) -> Any:
        await asyncio.Event().wait()

    world.start(world.pod("slow"))
    monkeypatch.setattr(peek, "SECONDS", 0.05)
    monkeypatch.setattr(peek, "open_all", never)
    html = await get(panel("slow"))
    assert 'id="panel-summary"' in html and 'id="panel-log"' not in html
