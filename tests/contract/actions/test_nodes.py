"""Cordoning a node, uncordoning it, and editing its taints."""

import html
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import NODES, Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
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
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
NODE_PATH = "/api/v1/nodes"


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [NODES]) as found:
        yield found


@pytest.fixture
def node(cleanup: Cleanup, runtime: Runtime) -> Obj:
    made = cleanup.create(NODE_PATH, {"metadata": {"name": unique("node")}})
    known(runtime, NODES, made)
    return made


def _now(admin: Client, made: Obj) -> Obj:
    found: Obj = admin.get(f"{NODE_PATH}/{made['metadata']['name']}").ok()
    return found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(monkeypatch, cleanup, namespace, rule("get patch", "nodes"))


def _spec(admin: Client, made: Obj) -> dict[str, Any]:
    found: dict[str, Any] = _now(admin, made).get("spec", {})
    return found


async def test_a_node_is_cordoned_and_uncordoned(
    admin: Client, runtime: Runtime, editor: Person, node: Obj
) -> None:
    name = node["metadata"]["name"]
    key = Key("", name)
    cordon, uncordon = editor.on("cordon", "nodes", node), editor.on("uncordon", "nodes", node)
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
        (editor.name, "patch", "cordon", name, 200),
        (editor.name, "patch", "uncordon", name, 200),
    ]


async def test_several_nodes_are_cordoned_by_a_bulk_action(
    admin: Client, cleanup: Cleanup, runtime: Runtime, editor: Person, node: Obj
) -> None:
    other = cleanup.create(NODE_PATH, {"metadata": {"name": unique("node")}})
    known(runtime, NODES, _now(admin, other))
    lines = "\n".join(
        f"{one['metadata']['uid']} {one['metadata']['name']}" for one in (node, other)
    )
    client = ClientAs()(editor.name)
    done = await text_of(await client.post("/bulk/host/nodes/cordon", {"targets": lines}))
    assert 'data-done="2"' in done
    assert all(_spec(admin, one)["unschedulable"] for one in (node, other))


async def test_users_without_permission_cannot_change_nodes(
    monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str, admin: Client, node: Obj
) -> None:
    eve = person(monkeypatch, cleanup, namespace)
    page = eve.on("cordon", "nodes", node)
    await refused_to_strangers(page, "nodes")
    assert "Permission denied by the cluster." in await page.refuses(403)
    assert (await page.status())["code"] == 403
    assert "unschedulable" not in _spec(admin, node)


async def test_a_recreated_node_of_the_same_name_is_not_changed(
    admin: Client, editor: Person, node: Obj
) -> None:
    page = editor.on("cordon", "nodes", node)
    said = await Page(page.who, page.url, "another").refuses(422)
    assert "replaced by another object with the same name" in said
    assert "unschedulable" not in _spec(admin, node)
