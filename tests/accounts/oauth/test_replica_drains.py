"""A drain that runs in one replica can be shown, stopped and continued by another replica, even
after the first was killed.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.accounts.oauth.visitor import TIMEOUT, Visitor
from tests.accounts.oauth.world import World
from tests.controlplane.waiting import eventually

NODE = "replica-node"


def made(world: World, manifest: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(manifest)
    done = world.cluster.kubectl("create", "-o", "json", "-f", "-", input=text)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@dataclass(frozen=True)
class Site:
    visitor: Visitor
    uid: str

    def does(self, replica: int, action: str, **fields: str) -> None:
        page = f"/clusters/host/nodes/{NODE}"
        url = f"{page}/actions/{action}"
        status, text, _ = self.visitor.post(replica, url, page, uid=self.uid, **fields)
        assert status == 302, text

    def says(self, replica: int, *texts: str, who: Visitor | None = None) -> None:
        url = f"/clusters/host/nodes/{NODE}/actions/drain/progress"

        found = ""

        def said() -> bool:
            nonlocal found
            found = re.sub(r"\s+", " ", (who or self.visitor).get(replica, url)[1])
            return all(one in found for one in texts)

        try:
            eventually(said, f"replica {replica} says {texts}", timeout=TIMEOUT)
        except TimeoutError:
            pytest.fail(f"replica {replica} does not say {texts}: {found}")


@pytest.fixture
def site(world: World) -> Iterator[Site]:
    """A node with a pod that a disruption budget protects."""
    node = made(world, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NODE}}
    reference = {
        **{"apiVersion": "v1", "kind": "ConfigMap", "name": NODE, "controller": True},
        "uid": made(world, owner)["metadata"]["uid"],
    }
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": NODE}}}
    metadata = {"name": NODE}
    made(
        world,
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": metadata,
            "spec": budget,
        },
    )
    container = {"name": "main", "image": "example/main:1"}
    about = {"name": NODE, "labels": {"app": NODE}, "ownerReferences": [reference]}
    spec = {"nodeName": NODE, "containers": [container], "terminationGracePeriodSeconds": 0}
    made(world, {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec})
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    patch = ("patch", "pod", NODE, "--subresource=status", "-p", json.dumps({"status": running}))
    assert world.cluster.kubectl(*patch).returncode == 0
    visitor = Visitor(world)
    assert visitor.login(0, "admin") == 302
    yield Site(visitor, node["metadata"]["uid"])
    made_here = (f"{kind}/{NODE}" for kind in ("poddisruptionbudget", "pod", "configmap", "node"))
    world.cluster.kubectl("delete", *made_here, "--force", "--grace-period=0")


def test_any_replica_shows_stops_and_continues_a_drain(world: World, site: Site) -> None:
    blocked = (
        "admin is draining this node",
        "The disruption budget replica-node needs 1 healthy pods",
    )
    eventually(lambda: site.visitor.get(1, f"/clusters/host/nodes/{NODE}")[0] == 200, "it is known")
    site.does(0, "drain", minutes="5")
    site.says(1, *blocked)
    with world.serving[0].killed():
        site.says(1, "Drain interrupted", "0 of 1")
        site.does(1, "resume-drain")
        site.says(1, *blocked)
    site.says(0, *blocked)
    site.does(0, "stop-drain")
    site.says(1, "admin stopped draining this node")
    site.does(1, "resume-drain")
    site.says(0, *blocked)
    other = Visitor(world)
    assert other.login(0, "admin") == 302
    site.visitor.post(0, "/logout", "/account")
    site.says(0, "admin signed out", who=other)
    left = world.cluster.kubectl("get", "pod", NODE, "-o", "name")
    assert left.stdout.strip() == f"pod/{NODE}"
