"""Every place that offers to create objects leads to the wizard of the kind."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.http import QueryDict

from console.kube.gvr import PODS
from console.ui.core.kind import ResourceKind
from console.ui.core.links import import_url, new_url
from console.ui.core.registry import kinds
from console.ui.editing.creating import create_url
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table
from console.ui.lists.viewspec import ViewSpec
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.informers import preloaded
from tests.support.responses import text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin
from tests.views.conftest import ClientAs

CREATED = [kind for kind in kinds if create_url(ViewSpec(kind, "host"), admin())]
WIZARDS = [kind for kind in CREATED if kind.has_wizard]
every_kind = pytest.mark.parametrize("kind", CREATED, ids=lambda kind: kind.segment)


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    """A cluster with all types and no objects."""
    cached = [kind.gvr for kind in kinds if not kind.private]
    found = StaticRuntime({gvr: preloaded(gvr, []) for gvr in cached})
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def test_only_events_have_no_page_that_creates_them() -> None:
    assert {kind.segment for kind in kinds} - {kind.segment for kind in CREATED} == {"events"}


@every_kind
def test_the_create_button_and_the_empty_list_lead_to_the_wizard_of_the_kind(
    kind: ResourceKind,
) -> None:
    spec = ViewSpec.parse(
        kind, QueryDict("namespace=shop" if kind.view.namespaced else ""), cluster="host"
    )
    # Lists of private kinds are not read from the cache.
    empty = preloaded(PODS if kind.private else kind.gvr, [])
    table = build_table(ListQuery.of(spec, admin()), empty)
    place = "shop" if kind.view.namespaced else ""
    assert table.create_url == create_url(spec, admin())
    if kind.has_wizard:
        assert table.create_url == new_url("host", kind.segment, place)
    assert table.state is not None and table.state.action_url == table.create_url
    ids = [url.rpartition("example=")[2] for _title, url in table.state.examples]
    assert ids == [one.id for one in kind.examples]
    reader = FakeAccess("reader", delete_in=())
    table = build_table(ListQuery.of(spec, reader), empty)
    assert table.create_url == "" and table.state is not None and table.state.examples == ()


async def test_the_page_of_kinds_offers_every_kind_and_every_example(client_as: ClientAs) -> None:
    html = (
        await text_of(await client_as("admin").get("/clusters/host/new?namespace=shop"))
    ).replace("&amp;", "&")
    for kind in CREATED:
        place = ViewSpec(kind, "host")
        place = place.with_values("namespace", ("shop",)) if kind.view.namespaced else place
        url = create_url(place, admin())
        assert f'href="{url}"' in html, kind.segment
        for example in kind.examples:
            assert f"example={example.id}" in html
    assert f'href="{import_url("host", namespace="shop")}"' in html


@every_kind
async def test_the_palette_offers_to_create_the_kind(
    client_as: ClientAs, kind: ResourceKind
) -> None:
    asked = f"/palette?q={quote(f'create {kind.singular}')}"
    html = (await text_of(await client_as("admin").get(asked))).replace("&amp;", "&")
    assert create_url(ViewSpec(kind, "host"), admin()) in html
    assert "Create" in html
    assert "/new" not in await text_of(await client_as("bob").get(asked))


@pytest.mark.parametrize("kind", WIZARDS, ids=lambda kind: kind.segment)
async def test_the_wizard_can_be_continued_as_yaml(client_as: ClientAs, kind: ResourceKind) -> None:
    html = await text_of(await client_as("admin").get(new_url("host", kind.segment)))
    assert 'value="go.yaml"' in html and 'value="discard"' in html
    response = await client_as("bob").get(new_url("host", kind.segment))
    assert response.status_code == 403


@pytest.mark.parametrize(
    "kind", [kind for kind in CREATED if not kind.has_wizard], ids=lambda kind: kind.segment
)
async def test_a_kind_without_a_wizard_is_created_as_yaml(
    client_as: ClientAs, kind: ResourceKind
) -> None:
    response = await client_as("admin").get(new_url("host", kind.segment))
    assert (response.status_code, response["Location"]) == (302, import_url("host", kind.segment))
