"""The existence of a custom type is visible only to users who can list definitions or have a
permission for the type. For other users, existing and unknown types look the same.
"""

import pytest

from console.kube.gvr import Key
from console.kube.identity import Identity
from console.ui.core.links import action_url, detail_url, edit_url, import_url, list_url
from rbac.process_clusters import set_host_cluster
from tests.leaks.world import ADMIN, BOB, CHARLIE, CUSTOM_KINDS, Clusters, got
from tests.live.conftest import Browser
from tests.support.responses import stable_html, text_of
from tests.views.conftest import ClientAs

pytestmark = pytest.mark.django_db

NONE = "gadgets.leaks.org"


def addresses(segment: str, namespace: str) -> list[str]:
    key = Key(namespace, "anchor")
    listed = list_url("host", segment)
    return [
        listed,
        f"{listed}?format=json",
        detail_url("host", segment, key),
        detail_url("host", segment, key, "yaml"),
        action_url("delete", "host", segment, key),
        edit_url("host", segment, key),
        import_url("host", segment),
        f"/views?list={listed}",
    ]


async def answers(client_as: ClientAs, segment: str, namespace: str) -> list[tuple[int, str]]:
    found = []
    for url in addresses(segment, namespace):
        for headers in ({}, {"HX-Request": "true"}):
            response = await client_as(CHARLIE, **headers).get(url)
            text = stable_html(await text_of(response)).replace(segment, "TYPE")
            found.append((response.status_code, text))
    return found


@pytest.mark.parametrize(
    ("segment", "namespace"), [("widgets.leaks.org", "shop"), ("hulls.leaks.org", "")]
)
async def test_outsiders_cannot_distinguish_existing_and_unknown_types(
    clusters: Clusters, client_as: ClientAs, segment: str, namespace: str
) -> None:
    set_host_cluster(clusters.runtime(False))
    there = await answers(client_as, segment, namespace)
    assert there == await answers(client_as, NONE, namespace)
    assert {status for status, _text in there} <= {400, 404}


async def test_pinning_does_not_reveal_types(clusters: Clusters, client_as: ClientAs) -> None:
    set_host_cluster(clusters.runtime(False))
    said = []
    for segment in ("widgets.leaks.org", NONE):
        response = await client_as(CHARLIE).post("/clusters/host/resources", {"pin": segment})
        text = stable_html(await text_of(response)).replace(segment, "TYPE")
        said.append((response.status_code, text))
    assert said[0] == said[1]


async def test_websockets_do_not_reveal_types(clusters: Clusters) -> None:
    access = set_host_cluster(clusters.runtime(False)).access_for(Identity(CHARLIE))
    browser = Browser(access)  # type: ignore[arg-type]
    assert await browser.connect()
    said = []
    for segment in ("widgets.leaks.org", NONE):
        await browser.subscribe(list_url("host", segment), etag="")
        said.append(await browser.control())
    await browser.leave()
    assert said[0] == said[1]


async def test_users_with_permission_see_the_type(clusters: Clusters, client_as: ClientAs) -> None:
    set_host_cluster(clusters.runtime(False))
    widgets = next(kind for kind in CUSTOM_KINDS if kind.segment.startswith("widgets"))
    listed = list_url("host", str(widgets.segment))
    assert (await client_as(ADMIN).get(listed)).status_code == 200
    assert (await client_as(BOB).get(listed)).status_code == 200
    assert (await client_as(got(widgets)).get(listed)).status_code == 403
