"""The cache page, for users who may list everything, sorted by severity."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import translation

from console.kube.gvr import GVR, NAMESPACES, NODES, PODS
from console.kube.informer import Informer
from console.kube.messages import Message
from console.live.counters import counters
from console.ui.core.access import EVERYTHING, may_list_everything
from console.ui.usage.gauges import chart_line, round_up
from console.views.cache import rate_text
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.kube import generic
from tests.kube.fakes import FakeClock
from tests.support.informers import bring, preloaded, set_stale
from tests.support.responses import HTMX, text_of
from tests.support.staticruntime import StaticRuntime
from tests.ui.support import FakeAccess, admin, alice, bob, charlie, pod, small_world
from tests.views.conftest import ClientAs

URL = "/clusters/host/cache"
COLD = GVR("apps", "v1", "widgets")
EVIL = "<script>alert(1)</script>\u202egnp"


class World(StaticRuntime):
    """A runtime with live pods, stale nodes and one unreadable namespace."""

    def __init__(self) -> None:
        self.pods = preloaded(PODS, small_world())
        self.nodes = preloaded(NODES)
        self.cold: Informer[Any] = Informer(COLD, generic.decode)
        namespaces = preloaded(NAMESPACES)
        namespaces.store.undecodable = 1
        set_stale(self.nodes, datetime(2026, 11, 20, 9, 30, 15, tzinfo=UTC), EVIL)
        found = {PODS: self.pods, NODES: self.nodes, NAMESPACES: namespaces, COLD: self.cold}
        super().__init__(found)


@pytest.fixture
def world() -> Iterator[World]:
    found = World()
    set_host_cluster(found)
    yield found
    unset_host_cluster()


async def page(client_as: ClientAs, name: str = "admin") -> str:
    response = await client_as(name).get(URL)
    assert response.status_code == 200
    return await text_of(response)


def rows_of(html: str) -> dict[str, str]:
    """Return the text of each row by kind, in page order."""
    found = re.findall(r'<tr role="row" data-kind="([^"]+)".*?</tr>', html, re.DOTALL)
    bodies = re.findall(r'<tr role="row" data-kind=".*?</tr>', html, re.DOTALL)
    texts = [" ".join(re.sub(r"<[^>]+>", " ", body).split()) for body in bodies]
    return dict(zip(found, texts, strict=True))


def cell(html: str, kind: str, column: str) -> str:
    row = re.search(rf'data-kind="{re.escape(kind)}".*?</tr>', html, re.DOTALL)
    assert row is not None
    found = re.search(rf'data-col="{column}"[^>]*>(.*?)</t[dh]>', row[0], re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found[1]).split())


async def test_each_kind_is_shown(client_as: ClientAs, world: World) -> None:
    html = await page(client_as)
    assert cell(html, "pods", "name") == "pods v1"
    assert cell(html, "pods", "objects") == "6 objects"
    assert cell(html, "pods", "status") == "Live"
    assert cell(html, "pods", "lag") == "0s"
    assert cell(html, "widgets.apps", "lag") == "—"
    assert 'href="/clusters/host/pods"' in html
    assert re.search(r"\d(\.\d)?Ki", cell(html, "pods", "memory"))


async def test_worst_kind_is_first(client_as: ClientAs, world: World) -> None:
    world.cold.disconnected("widgets is forbidden")
    html = await page(client_as)
    assert list(rows_of(html)) == ["widgets.apps", "namespaces", "nodes", "pods"]
    assert cell(html, "widgets.apps", "status") == "List failed widgets is forbidden"
    assert cell(html, "namespaces", "status") == "Live 1 object unreadable"
    assert 'data-severity="warn"' in html
    assert "2 not live" in html


async def test_stale_kind_shows_since_when_and_the_servers_message(
    client_as: ClientAs, world: World
) -> None:
    html = await page(client_as)
    status = cell(html, "nodes", "status")
    assert status.startswith("Stale since 09:30:15 UTC")
    assert "<script>alert" not in html
    assert "⟨U+202E⟩" in status
    assert 'data-live="stale"' in html


async def test_unsynced_kind_is_shown_as_loading(client_as: ClientAs, world: World) -> None:
    assert cell(await page(client_as), "widgets.apps", "status") == "Loading"


async def test_event_rates_are_shown(client_as: ClientAs, world: World) -> None:
    clock = FakeClock()
    world.history._clock = clock
    world.history._at = clock.monotonic()
    for count in (0, 30, 0):
        for number in range(count):
            bring(world.pods, pod(f"busy-{number}"))
        clock.elapsed += 5
        world.history.sample(world.informers())
    html = await page(client_as)
    assert cell(html, "pods", "rate") == "2 /s"
    assert cell(html, "nodes", "rate") == "0 /s"
    assert "2 in the last minute, peak 6" in html
    assert 'd="M585 120L590 48L595 120"' in html
    # Kinds with equal health are sorted by event rate.
    assert list(rows_of(html))[-1] == "pods"


async def test_open_pages_are_counted(
    client_as: ClientAs, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "sockets", 1234)
    html = await page(client_as)
    assert re.search(r"<dt>Live pages</dt><dd>1,234</dd>", html)
    assert re.search(r"<dt>Objects</dt><dd>6</dd>", html)


async def test_page_is_refreshed_by_a_script_and_complete_without_it(
    client_as: ClientAs, world: World
) -> None:
    html = await page(client_as)
    assert 'id="cache" class="cache" data-poll="5"' in html
    assert re.search(r'<script src="[^"]*js/poll\.js" nonce="nonce" type="module">', html)
    assert re.search(r'<link rel="stylesheet" href="[^"]*parts/cache\.css">', html)
    assert not re.search(r"\sstyle=|<style", html)


async def test_empty_cache_is_reported(client_as: ClientAs) -> None:
    set_host_cluster(StaticRuntime({}))
    html = await page(client_as)
    assert "The cache is empty" in html
    assert "<table" not in html
    unset_host_cluster()


@pytest.mark.parametrize("name", ["alice", "charlie"])
async def test_user_without_permission_sees_the_reason(
    client_as: ClientAs, world: World, name: str
) -> None:
    response = await client_as(name).get(URL)
    html = await text_of(response)
    assert response.status_code == 403
    assert "requires permission to list all resources in the cluster" in html
    assert name in html
    assert "data-kind" not in html


async def test_page_is_available_to_users_who_may_list_everything(
    client_as: ClientAs, world: World
) -> None:
    assert await page(client_as, "bob")


def test_permission_for_all_resources_is_required() -> None:
    assert may_list_everything(admin())
    assert may_list_everything(bob())
    assert not may_list_everything(alice())
    assert not may_list_everything(charlie())

    class Named(FakeAccess):
        def can(self, verb: str, gvr: GVR, **_where: str) -> bool:
            return verb == "list" and gvr in (PODS, NODES)

    assert not may_list_everything(Named())
    assert (EVERYTHING.group, EVERYTHING.resource) == ("*", "*")


async def test_anonymous_users_are_redirected_to_sign_in(client_as: ClientAs, world: World) -> None:
    response = await client_as("").get(URL)
    assert (response.status_code, response["Location"]) == (
        302,
        f"/login?next={URL.replace('/', '%2F')}",
    )
    response = await client_as("", **HTMX).get(URL)
    assert response.status_code == 401


async def test_unknown_cluster_or_method_is_refused(client_as: ClientAs, world: World) -> None:
    assert (await client_as("admin").get("/clusters/elsewhere/cache")).status_code == 404
    assert (await client_as("admin").post(URL)).status_code == 405


async def test_page_starts_no_informers(client_as: ClientAs, world: World) -> None:
    before = set(world.informers())
    await page(client_as)
    assert set(world.informers()) == before


# Numbers and charts


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0, "0"), (0.04, "<0.1"), (0.25, "0.2"), (2, "2"), (9.96, "10"), (12.4, "12"), (12840, "12,840")],
)  # fmt: skip
def test_rates_are_formatted_briefly(rate: float, text: str) -> None:
    assert rate_text(rate) == text


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (0.3, 1), (1, 1), (1.1, 2), (4, 5), (6, 10), (10, 10), (101, 200)]
)
def test_axes_are_rounded_up(value: float, top: float) -> None:
    assert round_up(value) == top


def test_chart_is_aligned_to_the_right() -> None:
    found = chart_line([0, 5, 10], points=5, width=40, height=20)
    assert found.path == "M20 20L30 10L40 0"
    assert found.area == "M20 20L20 20L30 10L40 0L40 20Z"
    assert found.top == 10


def test_empty_chart_has_no_line() -> None:
    found = chart_line([], points=5, width=40, height=20)
    assert (found.path, found.area, found.top) == ("", "", 1)


async def test_page_is_translated(client_as: ClientAs, world: World) -> None:
    cut = Message("The response from the Kubernetes API was incomplete")
    set_stale(world.pods, datetime(2026, 11, 20, 9, 30, 15, tzinfo=UTC), cut)
    response = await client_as("admin", **{"Accept-Language": "zh-hans"}).get(URL)
    html = await text_of(response)
    with translation.override("zh-hans"):
        assert f"<title>{translation.gettext('Cache')}</title>" in html
        assert translation.gettext("The response from the Kubernetes API was incomplete") in html
    assert cut not in html
