"""Tests of the node itself: pods run, faults can be injected, and nothing is left behind."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import iglob
from pathlib import Path

import pytest

from tests.controlplane.waiting import eventually
from tests.node.box import BRIDGE, Box
from tests.node.cgroups import ROOT as CGROUPS
from tests.node.containers import restarted, run, status
from tests.node.node import NAME, RealNode, container, is_ready

ROOT = Path(__file__).parents[2]
HTTPD = "mkdir -p /srv && echo hello > /srv/index.html && exec httpd -f -p 8080 -h /srv"


@pytest.fixture(scope="module")
def shell(real_node: RealNode) -> Iterator[str]:
    """Yield the name of a pod for running commands."""
    with real_node.pod("shell", container("a", "sleep infinity"), container("b", HTTPD)):
        yield "shell"


def test_a_pod_of_several_containers_becomes_ready(real_node: RealNode, shell: str) -> None:
    pod = real_node.read(shell)
    assert is_ready(pod)
    assert pod["spec"]["nodeName"] == NAME
    assert {one["name"]: one["ready"] for one in pod["status"]["containerStatuses"]} == {
        "a": True,
        "b": True,
    }


def test_exec_returns_streams_and_exit_code(real_node: RealNode, shell: str) -> None:
    done = run(real_node, shell, "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert done.stderr.startswith("err\n")
    done = real_node.cluster.kubectl("exec", "-i", shell, "-c", "a", "--", "wc", "-c", input="1234")
    assert (done.returncode, done.stdout) == (0, "4\n")


def test_containers_of_a_pod_share_its_network(real_node: RealNode, shell: str) -> None:
    assert run(real_node, shell, "wget -qO- http://127.0.0.1:8080/").stdout == "hello\n"


def test_the_control_plane_reaches_pods(real_node: RealNode, shell: str) -> None:
    path = f"/api/v1/namespaces/default/pods/{shell}:8080/proxy/"
    assert real_node.cluster.api.get(path).body == b"hello\n"


def test_a_crashed_container_restarts_and_keeps_both_logs(real_node: RealNode) -> None:
    script = "echo try; test -e /data/once && exec sleep infinity; touch /data/once; exit 3"
    mount = {"name": "data", "mountPath": "/data"}
    crashing = container("a", script, volumeMounts=[mount])
    volume = {"name": "data", "emptyDir": {}}
    with real_node.pod("crash", crashing, until=restarted, volumes=[volume]):
        last = status(real_node, "crash", "a")["lastState"]["terminated"]
        assert (last["exitCode"], last["reason"]) == (3, "Error")
        for logs in (["logs", "crash"], ["logs", "crash", "--previous"]):
            assert real_node.cluster.kubectl(*logs).stdout == "try\n"


def test_probes_are_executed(real_node: RealNode) -> None:
    often = {"periodSeconds": 1, "failureThreshold": 1}
    ready = {"httpGet": {"path": "/", "port": 8080}, **often}
    alive = {"exec": {"command": ["test", "-e", "/srv"]}, **often}
    probed = container("a", HTTPD, readinessProbe=ready, livenessProbe=alive)
    with real_node.pod("probed", probed):
        run(real_node, "probed", "mv /srv/index.html /")
        eventually(lambda: not is_ready(real_node.read("probed")), "it is not ready")
        assert status(real_node, "probed", "a")["restartCount"] == 0
        run(real_node, "probed", "rm -r /srv")
        eventually(lambda: restarted(real_node.read("probed")), "it restarts")
        eventually(lambda: is_ready(real_node.read("probed")), "it is ready again")


def test_containers_survive_a_kubelet_restart(real_node: RealNode, shell: str) -> None:
    before = status(real_node, shell, "a")["containerID"]
    real_node.kubelet.kill()
    assert run(real_node, shell, "true").returncode != 0
    real_node.start_kubelet()
    assert run(real_node, shell, "true").returncode == 0
    assert status(real_node, shell, "a")["containerID"] == before


def test_the_node_uses_no_address_of_the_machine(real_node: RealNode, shell: str) -> None:
    node = real_node.cluster.api.get(f"/api/v1/nodes/{NAME}").json()
    addresses = {one["address"] for one in node["status"]["addresses"]}
    seen = subprocess.run(["ip", "address"], capture_output=True, text=True, check=True).stdout
    for address in addresses | {real_node.read(shell)["status"]["podIP"]}:
        assert f" {address}/" not in seen


# Cleanup


@contextmanager
def namespaces(pid: int) -> Iterator[set[str]]:
    """Yield the IDs of the namespaces of a process. They are kept open, because the kernel could
    reuse the IDs for a pod of another test.
    """
    with ExitStack() as held:
        files = [
            held.enter_context(open(f"/proc/{pid}/ns/{kind}")) for kind in ("mnt", "net", "pid")
        ]
        yield {os.readlink(f"/proc/self/fd/{file.fileno()}") for file in files}


def inhabitants(of: set[str]) -> set[int]:
    """Return the processes with a thread in one of the namespaces. A namespace ends with its last
    process.
    """
    found = set()
    # Skip processes that exit in the meantime.
    for link in iglob("/proc/[0-9]*/task/[0-9]*/ns/*"):
        with suppress(OSError):
            if os.readlink(link) in of:
                found.add(int(link.split("/")[2]))
    return found


def left(box: str, of: set[str]) -> list[object]:
    """Return the remaining processes and cgroups of a box with this name and these namespaces."""
    return [*inhabitants(of), *CGROUPS.glob(box), *CGROUPS.glob(f"*/{box}")]


def test_a_stopped_box_leaves_nothing_behind(real_node: object, tmp_path: Path) -> None:
    folder = tmp_path / "box-that-ends"
    folder.mkdir()
    with ExitStack() as held:
        with Box(folder) as box:
            box.component("orphan", Path("/bin/sh")).start(["-c", "sleep 1000 & exec sleep 1000"])
            known = held.enter_context(namespaces(int(box.network.parts[2])))
            eventually(lambda: len(inhabitants(known)) > 3, "it starts")
            assert "10.214.0.1" in box.run("ip", "address")
        assert left(folder.name, known) == []


OWNER = """
import sys
from tests.node.node import RealNode, container
with RealNode() as node, node.pod("a", container("a", "sleep 1000")):
    print(node.kubelet.pid, flush=True)
    sys.stdin.read()
"""


def test_a_node_leaves_nothing_behind_when_the_tests_are_killed(
    real_node: object, tmp_path: Path
) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER],
        cwd=ROOT,
        # The test removes temporary files that a killed process leaves behind.
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner, ExitStack() as held:
        assert owner.stdout is not None
        known = held.enter_context(namespaces(int(owner.stdout.readline())))
        box = next(tmp_path.glob("node-*")).name
        # kubelet, containerd, the pod's shim, their PID 1, and the owner. The pod's containers have
        # separate namespaces but share these cgroups, which are removed when they are empty.
        assert len(left(box, known)) > len(inhabitants(known)) > 4
        owner.kill()
        owner.wait()
        eventually(lambda: left(box, known) == [], "all of it is gone")


def test_the_bridge_keeps_its_mac_address(real_node: object, tmp_path: Path) -> None:
    """A pod sends packets to the MAC address that it has cached."""
    with Box(tmp_path) as box:
        found = set()
        for last in "029":
            found.add(box.run("ip", "-o", "link", "show", BRIDGE).partition("link/")[2])
            port, other = f"port{last}", f"02:00:00:00:00:0{last}"
            box.run("ip", "link", "add", port, "address", other, "type", "veth")
            box.run("ip", "link", "set", port, "master", BRIDGE)
        assert len(found) == 1
