"""An open list of a custom resource whose definition changes or is deleted."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.host_runtime import get_runtime
from console.kube.informer import Informer
from console.kube.projections.custom import decoder_of
from console.live.sharedviews import get_shared_views
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from console.ui.navigation.page_routes import resolve_list
from rbac.process_clusters import unset_host_cluster
from tests.kinds.custom_types import WIDGETS, World, column, definition, widget
from tests.kinds.world import encoded
from tests.live.conftest import Browser, Browsers
from tests.support.informers import bring, take_away
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import admin

URL = "/clusters/host/widgets.x.org"
HULL = widget("hull", spec={"size": 7, "color": "grey"})


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    world.define(definition("widgets.x.org", column("Size", ".spec.size", "integer")))
    world.put(HULL)
    yield world
    unset_host_cluster()


@pytest.fixture
def runtime(world: World) -> StaticRuntime:
    return world.runtime


@pytest.fixture
def widgets(world: World) -> Informer[Any]:
    return world.informers[WIDGETS]


def changed(version: int, **spec: Any) -> dict[str, Any]:
    meta = {**HULL["metadata"], "resourceVersion": str(version)}
    return {"metadata": meta, "spec": spec}


async def follow(browser: Browser) -> None:
    """Subscribe like a page that was just loaded."""
    place = resolve_list(URL)
    assert place is not None
    await browser.subscribe(
        URL, build_table(ListQuery.of(place.spec, admin()), get_runtime().informer(WIDGETS)).etag
    )
    assert 'id="freshness"' in await browser.html()
    assert await browser.quiet()


async def test_changed_columns_make_viewers_fetch_the_list(
    browsers: Browsers, world: World, widgets: Informer[Any]
) -> None:
    browser = await browsers(admin())
    await follow(browser)
    bring(widgets, changed(2, size=8, color="grey"))
    assert ">8<" in await browser.html()

    world.define(definition("gadgets.x.org", column("Color", ".spec.color")))
    assert await browser.quiet()
    world.define(definition("widgets.x.org", column("Color", ".spec.color")))
    # Before any object changes: the objects may stay the same.
    assert await browser.control() == {"refresh": True}
    found = world.runtime.types.get(WIDGETS)
    assert found is not None
    widgets.store.decode_with(decoder_of(found.columns, has_state=found.has_state))
    widgets.replace([encoded(changed(2, size=8, color="grey"))], "3")
    await follow(browser)
    assert len(get_shared_views()) == 1
    bring(widgets, changed(4, size=9, color="pink"))
    assert "pink" in await browser.html()


async def test_deleted_type_removes_its_rows(
    browsers: Browsers, world: World, widgets: Informer[Any]
) -> None:
    browser = await browsers(admin())
    await follow(browser)
    take_away(world.definitions, definition())
    widgets.replace([], "3")
    assert (await browser.control()) == {"gone": ["shop/hull"]}
    await browser.html()
    await browser.say(f'{{"subscribe": "{URL}"}}')
    frames = [await browser.frame() for _ in range(3)]
    assert any('"code":404' in frame for frame in frames)
