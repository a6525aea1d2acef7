"""The complete migration of docs/from-kubesphere.md: next to KubeSphere, replacing it, and back.

The last step stops the console of this package's cluster, so this must be the last test.
"""

import asyncio
import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from console.kube.gvr import (
    CLUSTER_ROLES,
    CONFIG_MAPS,
    GVR,
    LEASES,
    NAMESPACES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACES,
)
from tests.accounts.kubesphere import objects
from tests.accounts.kubesphere.world import ROOT, World
from tests.controlplane.waiting import eventually
from tests.support.depth import DEEP
from tests.workspaces.manager import THEIRS, managing
from workspaces.controllers.kubesphere_locks import NAMESPACE

OURS = "app.kubernetes.io/managed-by=quarterdeck"
HOME, PROJECT = "harbour", "quay"
#: A workspace that is created after KubeSphere stopped.
LATE = "pier"
#: Seconds: two lease durations and the check interval.
LEFT = 60


async def test_migration_from_kubesphere_and_back(
    world: World, control_plane_programs: Mapping[str, Path]
) -> None:
    if not world.get(NAMESPACES, NAMESPACE):
        world.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    kubeconfig = Path(world.cluster.kubeconfig)
    async with managing(kubeconfig, "demo", HOME, lock=CONFIG_MAPS) as manager:
        await asyncio.to_thread(_beside, world)
        await manager.stands_still()
    assert world.get(WORKSPACES, LATE) == {}
    await asyncio.to_thread(_in_its_place, world)
    async with managing(kubeconfig, "demo", HOME, lock=LEASES) as manager:
        await asyncio.to_thread(_back, world, control_plane_programs["kubectl"].parent)
        await manager.stands_still()
    assert world.get(WORKSPACES, "demo") and world.get(WORKSPACES, HOME)


def _beside(world: World) -> None:
    """Test without the console's controllers, then with controllers that start while KubeSphere's
    are active.
    """
    pat, jane = world.visitor("pat"), world.visitor("jane")
    pods = "/clusters/host/projects/shop/pods"
    # If this test runs first, the controllers have just started.
    eventually(
        lambda: world.leader().is_idle, "the controllers have reconciled everything", timeout=LEFT
    )
    eventually(lambda: pat.get("/workspaces/demo")[0] == 200, "pat's rights")
    eventually(lambda: jane.get(pods)[0] == 200, "jane's rights")
    world.end_controllers()
    if DEEP:
        # In the gate, test_installation tests this.
        assert "KubeSphere's controllers are running in this cluster" in world.manage(
            "doctor", "--questions", "0"
        )
    status, text = pat.get("/workspaces/demo")
    assert status == 200 and "shop" in text
    assert jane.get(pods)[0] == 200
    world.start_controllers()
    world.leader()
    template = next(objects.workspaces())
    world.put(*({**template, "metadata": {"name": name}} for name in (HOME, LATE)))

    def made() -> bool:
        meta = world.get(WORKSPACES, HOME).get("metadata") or {}
        return bool(meta.get("finalizers") == [THEIRS])

    eventually(made, "KubeSphere makes it")
    eventually(partial(world.get, WORKSPACE_ROLE_BINDINGS, f"{HOME}-admin"), "its manager")
    assert world.listed(WORKSPACE_ROLES, OURS) == world.listed(WORKSPACES, OURS) == []


def _in_its_place(world: World) -> None:
    eventually(partial(world.get, WORKSPACES, LATE), "ours go on", timeout=LEFT)
    for name in ("admin", "viewer"):
        eventually(partial(world.get, WORKSPACE_ROLES, f"{HOME}-{name}"), "its roles", timeout=LEFT)
    pat = world.visitor("pat")
    projects = f"/workspaces/{HOME}/projects/-/new"

    def project_made() -> bool:
        pat.post(projects, projects, name=PROJECT, pods="3")
        return bool(world.get(NAMESPACES, PROJECT))

    # Pat's permissions arrive eventually.
    eventually(project_made, "pat makes a project")
    quotas = partial(world.cluster.api.get, RESOURCE_QUOTAS.path(PROJECT))
    eventually(
        lambda: any("pods" in one["spec"]["hard"] for one in quotas().json()["items"]), "quota"
    )
    invite = f"/workspaces/{HOME}/members/invite"
    status, text = pat.post(invite, invite, user="jane", role=f"{HOME}-viewer")
    assert status == 200 and "jane" in text
    jane = world.visitor("jane")
    pods = f"/clusters/host/projects/{PROJECT}/pods"
    eventually(lambda: jane.get(pods)[0] == 200, "jane sees the project")


def _back(world: World, programs: Path) -> None:
    world.end_controllers()
    world.stop_serving()
    before = {gvr: names(world, gvr) for gvr in (USERS, WORKSPACES, WORKSPACE_ROLE_BINDINGS)}
    config, path = str(world.cluster.kubeconfig), f"{programs}:{os.environ['PATH']}"
    for command in commands():
        done = subprocess.run(
            ["sh", "-c", command], env={**os.environ, "KUBECONFIG": config, "PATH": path},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
    assert world.listed(CLUSTER_ROLES, OURS) == []
    left = [one["metadata"]["name"] for one in world.listed(ROLE_BINDINGS, OURS)]
    assert not any(name.startswith("quarterdeck:") for name in left)
    assert {gvr: names(world, gvr) for gvr in before} == before
    assert {"shop", PROJECT} <= names(world, NAMESPACES)
    assert not {"quarterdeck-system", "quarterdeck-kubeconfigs"} & names(world, NAMESPACES)


def names(world: World, gvr: GVR) -> set[str]:
    return {one["metadata"]["name"] for one in world.listed(gvr)}


def commands() -> Iterator[str]:
    """Yield the commands of the documentation page for the return to KubeSphere."""
    page = (ROOT / "docs" / "from-kubesphere.md").read_text()
    block = page.partition("## Return to KubeSphere")[2].replace("|\n", "|")
    for line in block.splitlines():
        if line.startswith("    $ "):
            yield line.removeprefix("    $ ")
