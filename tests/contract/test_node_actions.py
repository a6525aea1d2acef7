"""Cordoning a node, uncordoning it, and editing its taints."""

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from console.kube.gvr import NODES, Key
from console.kube.runtime import Runtime
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.objects import unique
from tests.contract.pages import (
    Page,
    Person,
    console_on,
    known,
    person,
    recorded,
    refused_to_strangers,
)
from tests.contract.tidy import Scrap
from tests.views.conftest import ClientAs, _site
from tests.views.test_lists import text_of

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
NODE_PATH = "/api/v1/nodes"
MINE = {"key": "example.com/mine", "value": "yes", "effect": "PreferNoSchedule"}
_SHOWN = re.compile(r'name="initial-taints" value="([^"]*)"')
MINE_TEXT = "example.com/mine=yes:PreferNoSchedule"


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [NODES]) as found:
        yield found


@pytest.fixture
def node(scrap: Scrap, runtime: Runtime) -> Obj:
    made = scrap.create(
        NODE_PATH, {"metadata": {"name": unique("node")}, "spec": {"taints": [MINE]}}
    )
    known(runtime, NODES, made)
    return made


def _now(admin: Client, made: Obj) -> Obj:
    found: Obj = admin.get(f"{NODE_PATH}/{made['metadata']['name']}").ok()
    return found


@pytest.fixture
def olga(monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str) -> Person:
    return person(monkeypatch, scrap, namespace, rule("get patch", "nodes"))


def _spec(admin: Client, made: Obj) -> dict[str, Any]:
    found: dict[str, Any] = _now(admin, made).get("spec", {})
    return found


async def test_a_node_is_cordoned_and_uncordoned(
    admin: Client, runtime: Runtime, olga: Person, node: Obj
) -> None:
    name = node["metadata"]["name"]
    key = Key("", name)
    cordon, uncordon = olga.on("cordon", "nodes", node), olga.on("uncordon", "nodes", node)
    assert await cordon.is_offered("nodes", key) and not await uncordon.is_offered("nodes", key)
    asked = await cordon.asks()
    assert (
        "No new pods are scheduled on the node, except" in asked
        and f"kubectl cordon {name}" in asked
    )
    await cordon.does()
    now = _now(admin, node)
    assert now["spec"]["unschedulable"] is True
    known(runtime, NODES, now)
    assert await uncordon.is_offered("nodes", key) and not await cordon.is_offered("nodes", key)
    said = html.unescape(await cordon.refuses(409))
    assert "The current state of the object doesn't allow this action." in said
    assert f"kubectl uncordon {name}" in await uncordon.asks()
    assert (await uncordon.status())["status"] == "Success"
    assert "unschedulable" not in _spec(admin, node)
    assert await recorded() == [
        (olga.name, "patch", "cordon", name, 200),
        (olga.name, "patch", "uncordon", name, 200),
    ]


async def test_several_nodes_are_cordoned_by_a_bulk_action(
    admin: Client, scrap: Scrap, runtime: Runtime, olga: Person, node: Obj
) -> None:
    other = scrap.create(NODE_PATH, {"metadata": {"name": unique("node")}})
    known(runtime, NODES, _now(admin, other))
    lines = "\n".join(
        f"{one['metadata']['uid']} {one['metadata']['name']}" for one in (node, other)
    )
    client = ClientAs()(olga.name)
    done = await text_of(await client.post("/bulk/host/nodes/cordon", {"targets": lines}))
    assert 'data-done="2"' in done
    assert all(_spec(admin, one)["unschedulable"] for one in (node, other))


async def test_editing_taints_keeps_taints_of_controllers(
    admin: Client, olga: Person, node: Obj
) -> None:
    page = olga.on("taints", "nodes", node)
    await _edit(page, lambda shown: f"{shown}\r\ngpu:NoSchedule")
    taints = _spec(admin, node)["taints"]
    assert {"key": "gpu", "effect": "NoSchedule"} in taints and MINE in taints
    # Simulate taints that were added after the page was rendered: they are kept, and nothing is
    # written.
    said = await page.refuses(409, taints="")
    assert "The value of spec.taints has changed in the meantime." in said
    assert MINE in _spec(admin, node)["taints"]
    await _edit(page, lambda shown: shown.replace(MINE_TEXT, ""))
    left = _spec(admin, node)["taints"]
    assert {"key": "gpu", "effect": "NoSchedule"} in left and MINE not in left
    assert (await page.status(taints="gpu:NoExecute"))["code"] == 409


async def _edit(page: Page, change: Callable[[str], str]) -> None:
    """Submit the form. Retry on a conflict, because controllers of the real cluster taint a node
    without kubelet.
    """
    for _time in range(10):
        found = _SHOWN.search(await page.asks())
        assert found is not None
        data = {"taints": change(found[1]), "initial-taints": found[1], "uid": page.uid}
        if (await page.client().post(page.url, data)).status_code == 302:
            return
    raise AssertionError("it is never done")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("gpu", "must end with a colon and an effect"),
        ("gpu:Never", "must end with a colon and an effect"),
        ("a b:NoSchedule", "is not a valid taint key"),
        ("=x:NoSchedule", "is not a valid taint key"),
        ("gpu=a b:NoSchedule", "is not a valid taint value"),
        ("gpu=a:NoSchedule\ngpu=b:NoSchedule", "Two taints have"),
        ("\u202e:NoSchedule", "is not a valid taint key"),
        ("\x00:NoSchedule", "Null characters are not allowed."),
        ("x" * 300_000, "Use at most"),
    ],
)
async def test_invalid_taints_are_reported_at_the_field(
    admin: Client, olga: Person, node: Obj, typed: str, said: str
) -> None:
    page = olga.on("taints", "nodes", node)
    text = await page.refuses(400, taints=typed)
    assert said in text and 'href="#form-taints"' in text
    status = await page.status(taints=typed)
    assert [cause["field"] for cause in status["details"]["causes"]] == ["taints"]
    assert MINE in _spec(admin, node)["taints"]


async def test_users_without_permission_cannot_change_nodes(
    monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str, admin: Client, node: Obj
) -> None:
    eve = person(monkeypatch, scrap, namespace)
    for action in ("cordon", "taints"):
        page = eve.on(action, "nodes", node)
        await refused_to_strangers(page, "nodes")
        assert "Permission denied by the cluster." in await page.refuses(403)
        assert (await page.status())["code"] == 403
    assert "unschedulable" not in _spec(admin, node)


async def test_a_recreated_node_of_the_same_name_is_not_changed(
    admin: Client, olga: Person, node: Obj
) -> None:
    page = olga.on("cordon", "nodes", node)
    said = await Page(page.who, page.url, "another").refuses(422)
    assert "replaced by another object with the same name" in said
    assert "unschedulable" not in _spec(admin, node)
