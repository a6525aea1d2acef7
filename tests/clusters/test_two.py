"""Responses for one cluster contain no data of the other."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from django.test import AsyncClient
from prometheus_client import generate_latest
from pytest_django import Settings

from console.audit.models import AuditRecord
from console.live.sharedviews import get_shared_views
from console.metrics.families import ConsoleCollector
from console.settings import MIDDLEWARE
from console.ui.navigation.level import Level
from tests.clusters.conftest import MEMBER, Part, Person, Socket, Two, told, without_picker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.programs]

#: Pages of a cluster, relative to its URL.
PAGES = (
    "", "pods", "pods?sort=-name&limit=1", "pods?q=web", "projects/shop", "projects/shop/pods/web-1",
    "projects/shop/pods/web-1/yaml", "projects/shop/configmaps/settings", "widgets.x.org",
    "projects/shop/widgets.x.org/gear", "customresourcedefinitions", "namespaces", "nodes", "events",
    "clusterrolebindings", "cache", "projects/shop/pods/web-1/actions/delete",
)  # fmt: skip
#: The same data as CSV, JSON or YAML.
EXPORTS = ("pods?format=json", "pods?format=csv", "projects/shop/pods/web-1?format=json",
           "projects/shop/pods/web-1?format=yaml", "widgets.x.org?format=json")  # fmt: skip

#: Parts of a response that depend on the request: tokens and the current second.
_OWN = re.compile(r'\b\w{64,}\b|data-now="\d+"')


@pytest.fixture(params=["host", "member"])
def part(request: pytest.FixtureRequest, two: Two) -> Part:
    found: Part = getattr(two, request.param)
    return found


@pytest.fixture
async def sockets() -> AsyncIterator[list[Socket]]:
    found: list[Socket] = []
    yield found
    for socket in found:
        await socket.leave()


async def opened(sockets: list[Socket], who: str, url: str) -> Socket:
    """Return a websocket subscribed to the page at `url`, after it received all initial messages."""
    socket = Socket(who)
    assert await socket.connect()
    sockets.append(socket)
    await follow(socket, url)
    return socket


async def follow(socket: Socket, url: str) -> None:
    page = await Person("bea").get(url)
    etag = page.context["table"].etag
    await socket.say(json.dumps({"subscribe": url, "etag": etag, "lang": "en"}))
    assert 'id="freshness"' in await socket.html()
    await drain(socket)


async def drain(socket: Socket) -> None:
    """Read the pending messages."""
    while not await socket.quiet():
        await socket.frame()


async def listed(url: str, *names: str) -> None:
    """Wait until a list contains these names."""
    bea = Person("bea")
    async with asyncio.timeout(20):
        while True:
            response = await bea.get(url)
            text = await told(response, response.status_code)
            if response.status_code == 200 and all(name in text for name in names):
                return
            await asyncio.sleep(0.05)


@pytest.fixture(autouse=True)
async def _both_are_listed(two: Two) -> None:
    for one in two:
        await listed(one.url("pods"), "web-1", f"lone-{one.token}")
        await listed(one.url("widgets.x.org"), "gear")


@pytest.mark.parametrize("rest", [*PAGES, *EXPORTS])
async def test_page_contains_objects_of_its_cluster_only(two: Two, part: Part, rest: str) -> None:
    text = await Person("bea").text(part.url(rest).rstrip("/"))
    assert two.other(part).token not in text
    assert clusters_named(text) <= {part.name}
    if rest in EXPORTS or rest.startswith(("pods?sort", "widgets", "projects/shop/widgets")):
        assert part.token in text or "limit=1" in rest


def clusters_named(text: str) -> set[str]:
    return set(re.findall(r"/clusters/([^/?\"'&<\s]+)", without_picker(text)))


@pytest.mark.parametrize("path", ["/search?q=", "/search?format=json&q=", "/palette?q="])
async def test_search_results_are_from_one_cluster(two: Two, part: Part, path: str) -> None:
    asked = "" if part is two.host else f"&cluster={part.name}"
    for word in ("web", "lone", "po web", "widgets", "gear"):
        text = await Person("bea").text(f"{path}{word.replace(' ', '+')}{asked}")
        assert two.other(part).token not in text
        assert clusters_named(text) == {part.name}
    text = await Person("bea").text(f"{path}lone{asked}")
    assert f"lone-{part.token}" in text


async def test_search_form_keeps_the_cluster_of_the_page(two: Two) -> None:
    text = await Person("bea").text(two.member.url("pods"))
    assert f'href="/search?cluster={MEMBER}"' in text
    assert f'name="cluster" value="{MEMBER}"' in text
    assert "cluster=" not in await Person("bea").text(two.host.url("pods"))
    assert f"q=web&amp;cluster={MEMBER}" in await Person("bea").text(
        f"/palette?q=web&cluster={MEMBER}"
    )


async def test_menu_of_a_member_cluster_links_only_to_itself_and_the_dashboard(two: Two) -> None:
    """Accounts, roles by level and workspaces belong to the host cluster."""

    async def leads(part: Part) -> set[str]:
        text = await Person("bea").text(part.url("pods"))
        rail = text[text.index('id="rail"') : text.index("</nav>", text.index('id="rail"'))]
        found = set(re.findall(r'<a [^>]*href="([^"?]+)', rail))
        return {url for url in found if not url.startswith(part.url(""))}

    elsewhere = {f"/clusters/{MEMBER}", "/dashboard"}
    assert await leads(two.member) == elsewhere
    assert await leads(two.host) == {"/clusters/host", "/dashboard"}
    rail = (await Person("bea").get("/dashboard")).context["nav"].rail
    assert {one.url for one in rail} >= {"/access/roles", "/workspaces"}


@pytest.mark.parametrize("path", ["/clusters/{}/pods", "/clusters/{}", "/search?q=a&cluster={}"])
async def test_unknown_cluster_returns_404(two: Two, path: str) -> None:
    for name in ("nowhere", "HOST", "host%00", "..", "member.", "%E4%B8%AD"):
        await Person("bea").text(path.format(name), status=404)


async def test_anonymous_requests_get_the_same_response_for_every_cluster_name(
    two: Two, settings: Settings
) -> None:
    settings.MIDDLEWARE = MIDDLEWARE
    answers = set()
    for name in ("host", MEMBER, "nowhere"):
        for rest in ("", "/pods", "/pods?format=json", "/projects/shop/pods/web-1", "/cache"):
            response = await AsyncClient().get(f"/clusters/{name}{rest}")
            where = urlsplit(response.get("Location", "")).path
            answers.add((rest, response.status_code, where, response.get("Content-Length", "")))
    assert len(answers) == 5
    assert {code for _rest, code, *_where in answers} == {302, 401}


@pytest.mark.parametrize(("who", "where"), [("ann", "member"), ("mel", "host"), ("zoe", "member")])
async def test_permissions_in_one_cluster_do_not_apply_to_the_other(
    two: Two, who: str, where: str
) -> None:
    part: Part = getattr(two, where)
    person = Person(who)
    assert part.token not in await person.text(part.url("pods"), status=403)
    same = []
    for name in ("web-1", "web-9"):
        text = await person.text(part.url(f"projects/shop/pods/{name}"), status=403)
        same.append(_OWN.sub("", text.replace(name, "NAME")))
        await person.text(part.url(f"projects/shop/pods/{name}/actions/delete"), status=403)
    assert same[0] == same[1]
    assert part.token not in same[0]
    await person.text(part.url("pods?format=json"), status=403)
    asked = "" if part is two.host else f"&cluster={part.name}"
    assert part.token not in await person.text(f"/search?q=web{asked}")
    socket = Socket(who)
    assert await socket.connect()
    await socket.say(json.dumps({"subscribe": part.url("pods"), "etag": "", "lang": "en"}))
    assert (await socket.control())["error"]["code"] == 403
    assert await socket.closed() == 4403


async def test_websocket_receives_changes_of_its_cluster_only(
    two: Two, sockets: list[Socket]
) -> None:
    there = {one.name: await opened(sockets, "bea", one.url("pods")) for one in two}
    for one in two:
        name = one.add_pod()
        assert f'data-key="shop/{name}"' in await there[one.name].html()
        assert await there[two.other(one).name].quiet()
        await drain(there[one.name])


async def test_resubscribing_to_the_other_cluster_stops_messages_of_the_first(
    two: Two, sockets: list[Socket]
) -> None:
    socket = await opened(sockets, "bea", two.host.url("pods"))
    await follow(socket, two.member.url("pods"))
    await listed(two.host.url("pods"), two.host.add_pod())
    assert await socket.quiet()
    name = two.member.add_pod()
    assert f'data-key="shop/{name}"' in await socket.html()


async def test_losing_a_permission_in_one_cluster_closes_only_its_websockets(
    two: Two, part: Part, sockets: list[Socket]
) -> None:
    other = two.other(part)
    here = await opened(sockets, "bea", part.url("configmaps"))
    there = await opened(sockets, "bea", other.url("pods"))
    part.forbid("bea")
    try:
        assert (await here.control())["error"]["code"] == 403
        assert await here.closed() == 4403
        sockets.remove(here)
        name = other.add_pod()
        assert f'data-key="shop/{name}"' in await there.html()
    finally:
        part.allow("bea")
    await listed(part.url("pods"), "web-1")


async def test_shared_views_are_kept_per_cluster(two: Two, sockets: list[Socket]) -> None:
    for one in two:
        for rest in ("pods", "widgets.x.org", "configmaps"):
            await opened(sockets, "bea", one.url(rest))
    names = list(get_shared_views()._shared_views)
    assert len(names) == 6
    for cluster, kind, source, url, _lang, _rights in names:
        assert url.startswith(f"/clusters/{cluster.name}/")
        assert cluster.runtime.informer(kind.gvr) is source
        assert cluster.kinds.find(kind.segment) is kind


async def test_custom_resource_definitions_with_the_same_name_stay_separate(
    two: Two, sockets: list[Socket]
) -> None:
    """Neither cluster replaces the other's kind, which would reload pages over and over."""
    kinds = [one.cluster.kinds.find("widgets.x.org") for one in two]
    socket = await opened(sockets, "bea", two.host.url("widgets.x.org"))
    for _again in range(3):
        assert "Color" in await Person("bea").text(two.host.url("widgets.x.org"))
        assert "Size" in await Person("bea").text(two.member.url("widgets.x.org"))
    assert [one.cluster.kinds.find("widgets.x.org") for one in two] == kinds
    assert kinds[0] is not kinds[1]
    assert await socket.quiet()


async def test_deleting_an_object_affects_its_cluster_only(two: Two, part: Part) -> None:
    doomed = part.add_pod()
    await listed(part.url("pods"), doomed)
    url = part.url(f"projects/shop/pods/{doomed}/actions/delete")
    page = await Person("bea").text(url)
    uid = re.search(r'name="uid" value="([^"]+)"', page)
    assert uid is not None
    marks = {one.name: one.server.audit.mark() for one in two}
    response = await Person("bea").post(url, {"uid": uid[1]})
    assert response.status_code == 302 and response["Location"] == part.url("pods?namespace=shop")
    for one in two:
        asked = one.server.audit.requests_since(marks[one.name], verb="delete", user="bea")
        assert [request.name for request in asked] == ([doomed] if one is part else [])
    record = await AuditRecord.objects.aget(verb="delete")
    assert (record.cluster, record.name) == (part.name, doomed)


async def test_bulk_delete_affects_its_cluster_only(two: Two, part: Part) -> None:
    url = f"/bulk/{part.name}/pods/delete"
    text = await told(
        await Person("bea").post(url, {"keys": "shop/web-1\nshop/lone-amber\nshop/lone-birch"})
    )
    assert f"lone-{part.token}" in text and two.other(part).token not in text
    # UIDs of objects in the other cluster do not match.
    listing = {"list": two.other(part).url("pods"), "all": "1"}
    await told(await Person("bea").post(url, listing), status=400)


async def test_accounts_are_administered_on_the_host_cluster_only(two: Two) -> None:
    """Changing a User of another cluster does not revoke sessions of the host's user with the same
    name.
    """
    bea = Person("bea")
    for part, status in ((two.host, 200), (two.member, 403)):
        for action in ("disable", "end-sessions"):
            url = part.url(f"users.iam.kubesphere.io/zoe/actions/{action}")
            assert (await bea.get(url)).status_code == status, url


async def test_metrics_have_a_cluster_label(two: Two) -> None:
    text = generate_latest(ConsoleCollector()).decode()
    for one in two:
        labels = f'cluster="{one.name}",group="",resource="pods",version="v1"'
        assert f"quarterdeck_cache_synced{{{labels}}} 1" in text


async def test_unreachable_member_cluster_does_not_affect_the_host(two: Two) -> None:
    two.member.server.kill()
    try:
        assert "web-1" in await Person("bea").text(two.host.url("pods"))
        assert json.loads(await Person("bea").text("/readyz"))["status"] == "ok"
        assert "web-1" in await Person("bea").text(two.member.url("pods"))
    finally:
        two.member.server.start()
    await listed(two.member.url("pods"), two.member.add_pod())


async def test_project_of_a_member_cluster_redirects_below_its_workspace(two: Two) -> None:
    """The host decides who may see the workspace. The URLs match KubeSphere's."""
    labels = {"kubesphere.io/workspace": "acme"}
    for part in two:
        part.api.post("/api/v1/namespaces", {"metadata": {"name": "acme-shop", "labels": labels}})
        await listed(part.url("namespaces"), "acme-shop")
    plain, below = two.member.url("projects/acme-shop"), f"/clusters/{MEMBER}/projects/acme-shop"
    response = await Person("bea").get(f"{plain}?range=3600")
    assert (response.status_code, response["Location"]) == (
        302, f"/workspaces/acme{below}?range=3600",
    )  # fmt: skip
    response = await Person("bea").get(f"/workspaces/acme{below}")
    assert response.status_code == 200
    level = response.context["scope"].level
    assert level == Level("project", MEMBER, "acme", "acme-shop")
    assert "/workspaces/acme/projects/acme-shop" not in await told(response)
    # Another workspace, and users without permission to see it.
    led = await Person("bea").get(f"/workspaces/other{below}")
    assert led["Location"] == f"/workspaces/acme{below}"
    assert (await Person("mel").get(plain)).status_code == 200
    assert (await Person("mel").get(f"/workspaces/acme{below}"))["Location"] == plain
    await Person("ann").text(f"/workspaces/acme{below}", status=403)
    # The URL of the host's own project is unchanged.
    assert (await Person("bea").get(two.host.url("projects/acme-shop"))).status_code == 200
