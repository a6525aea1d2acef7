"""A control plane with one node that really runs pods, with exec, logs, probes, and restarts.

 with RealNode() as node:
     with node.pod("web", container("web", "httpd -f -p 8080"), container("log", "date")):
         node.cluster.kubectl("exec", "web", "-c", "web", "--", "true")

The node runs in a `Box`, so that it uses no address of the machine and leaves nothing behind,
even if the tests are killed. The control plane, the tests, the console, and a browser run
outside.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from tests.controlplane.api import Response
from tests.controlplane.build import Report, ensure
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.component import Component
from tests.controlplane.programs import ApiserverOptions
from tests.controlplane.waiting import eventually
from tests.node.box import ADDRESS, BRIDGE, SUBNET, Box, Unavailable, need_root
from tests.node.image import IMAGE, write_image

__all__ = ["NAME", "Obj", "RealNode", "container", "is_ready"]

#: Name of the node.
NAME = "worker"

Obj = dict[str, Any]

_RELAY = Path(__file__).with_name("relay.py")
_PLUGINS = Path("/usr/lib/cni")
#: Required programs and the Debian packages that contain them.
_PACKAGES = {
    "containerd": "containerd",
    "runc": "runc",
    "busybox": "busybox-static",
    "ip": "iproute2",
    str(_PLUGINS / "bridge"): "containernetworking-plugins",
}
_SECONDS = 60.0


def container(name: str, script: str, **more: object) -> Obj:
    """Return a container that runs a shell script in the only available image."""
    return {"name": name, "image": IMAGE, "command": ["sh", "-c", script], **more}


def is_ready(item: Obj) -> bool:
    """Return True if the pod or node is ready."""
    conditions = item["status"].get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


class RealNode:
    """A node whose programs `kubelet` and `containerd` can be killed and frozen; `start_kubelet`
    starts the kubelet again. `settings` overrides fields of KubeletConfiguration.
    """

    def __init__(self, *, report: Report = lambda _: None, **settings: object) -> None:
        """Build the kubelet if it is missing. Raise Unavailable if this machine cannot run a node."""
        need_root()
        programs = _programs()
        kubelet = ensure(["kubelet"], report)["kubelet"]
        self._temporary = TemporaryDirectory(prefix="node-", ignore_cleanup_errors=True)
        self._folder = Path(self._temporary.name).resolve()
        self._busybox = programs["busybox"]
        self._box = Box(self._folder)
        self._relay = Component("relay", Path(sys.executable), self._folder)
        self._socket = self._folder / "relay"
        egress = self._write("egress.json", _egress(self._socket))
        options = ApiserverOptions(extra=[f"--egress-selector-config-file={egress}"])
        self.cluster = ControlPlane(options=options, report=report)
        self.containerd = self._box.component("containerd", programs["containerd"])
        self.kubelet = self._box.component("kubelet", kubelet)
        self._kubelet_config = self._write("kubelet.json", self._configuration() | settings)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    # Start and stop

    def start(self) -> None:
        """Start everything and wait until pods can run. Raise Unavailable if the machine does not
        permit it.
        """
        try:
            self._box.start()
            self._start_containerd()
            self.cluster.start()
            self._start_relay()
            self.start_kubelet()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop everything, including pods, and remove the files. The node cannot be started again."""
        self._box.stop()
        self._relay.kill()
        self.cluster.stop()
        self._temporary.cleanup()

    def start_kubelet(self) -> None:
        """Start the kubelet, also after `kubelet.kill()`. Containers keep running while the kubelet
        is down.
        """
        kubeconfig = self.cluster.kubeconfig_for(f"system:node:{NAME}", ["system:nodes"])
        self.kubelet.start(
            [
                f"--config={self._kubelet_config}",
                f"--kubeconfig={kubeconfig}",
                f"--hostname-override={NAME}",
                f"--node-ip={ADDRESS}",
            ]
        )
        self.kubelet.wait_until(self._is_ready, "become ready")

    def _is_ready(self) -> bool:
        path = f"/api/v1/nodes/{NAME}"
        node = self.cluster.api.get(path)
        if node.status != HTTPStatus.OK or not is_ready(node.json()):
            return False
        # A node stays Ready for a while after its kubelet has stopped.
        has = self.cluster.api.get(f"{path}/proxy/pods")
        should = self.cluster.api.get(f"/api/v1/pods?fieldSelector=spec.nodeName={NAME}")
        knows = has.status == HTTPStatus.OK and _uids(should) <= _uids(has)
        return knows and not node.json()["spec"].get("taints")

    def _start_containerd(self) -> None:
        network = self._write("cni/pods.conflist", _NETWORK)
        config = self._folder / "containerd.toml"
        config.write_text(_CONTAINERD.format(image=IMAGE, plugins=_PLUGINS, network=network.parent))
        self.containerd.start([f"--config={config}"])
        self.containerd.wait_until(self._has_containerd, "answer")
        archive = self._folder / "image.tar"
        write_image(archive, self._busybox)
        self.import_image(archive)

    def _has_containerd(self) -> bool:
        try:
            return bool(self._box.run("ctr", "version"))
        except OSError:
            return False

    def _start_relay(self) -> None:
        port = str(urlsplit(self.cluster.url).port)
        self._relay.start(
            ["-I", "-S", str(_RELAY), str(self._box.network), ADDRESS, port, str(self._socket)]
        )
        self._relay.wait_until(self._socket.exists, "listen")

    def _write(self, name: str, content: Obj) -> Path:
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
        return path

    def _configuration(self) -> Obj:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": ADDRESS,
            "healthzPort": 0,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": False},
                "x509": {"clientCAFile": str(self.cluster.ca_file)},
            },
            "authorization": {"mode": "AlwaysAllow"},
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self._box.cgroup}",
            "failCgroupV1": False,
            "enforceNodeAllocatable": [],
            "failSwapOn": False,
            "makeIPTablesUtilChains": False,
            # Restart crashed containers after one second, however often they crash.
            "featureGates": {"KubeletCrashLoopBackOffMax": True},
            "crashLoopBackOff": {"maxContainerRestartPeriod": "1s"},
            "volumePluginDir": "/var/lib/kubelet/volume-plugins",
            # Pods need no DNS, and a nearly full disk of the machine must not evict them.
            "resolvConf": "",
            "evictionHard": {"memory.available": "50Mi"},
        }

    # Usage

    def import_image(self, archive: Path) -> None:
        """Make the image of an OCI archive available to pods."""
        # The containerd namespace of the kubelet.
        self._box.run("ctr", "--namespace=k8s.io", "images", "import", str(archive))

    @contextmanager
    def pod(
        self,
        name: str,
        *containers: Obj,
        namespace: str = "default",
        until: Callable[[Obj], object] = is_ready,
        **spec: object,
    ) -> Iterator[None]:
        """Create a pod, wait until it is ready or `until` returns true for the object, and delete
        it at the end.
        """
        pods = f"/api/v1/namespaces/{namespace}/pods"
        body = {
            "metadata": {"name": name},
            # Shells ignore SIGTERM.
            "spec": {"containers": containers, "terminationGracePeriodSeconds": 0, **spec},
        }
        made = self.cluster.api.request("POST", pods, body)
        if made.status != HTTPStatus.CREATED:
            raise OSError(f"pod {name} was refused: {made.body.decode()}")
        try:
            eventually(
                lambda: until(self.read(name, namespace)), f"pod {name} is so", timeout=_SECONDS
            )
            yield
        finally:
            self.cluster.api.request("DELETE", f"{pods}/{name}")

    def read(self, pod: str, namespace: str = "default") -> Obj:
        """Return the current object."""
        answer = self.cluster.api.get(f"/api/v1/namespaces/{namespace}/pods/{pod}")
        found: Obj = answer.json()
        return found

    def log(self, pod: str, container: str) -> list[str]:
        """Return the lines in the log file of the container's first run."""
        path = f"/var/log/pods/default_{pod}_{self.read(pod)['metadata']['uid']}/{container}/0.log"
        # Each line starts with its time, its stream, and whether it is complete.
        return [line.split(" ", 3)[3] for line in self._box.run("cat", path).splitlines()]


def _uids(answer: Response) -> set[str]:
    """Return the UIDs of the objects of a list."""
    return {one["metadata"]["uid"] for one in answer.json()["items"] or ()}


def _programs() -> Mapping[str, Path]:
    """Return the paths of the required programs. Raise Unavailable with the missing packages."""
    found = {program: shutil.which(program) for program in _PACKAGES}
    missing = [_PACKAGES[program] for program, path in found.items() if path is None]
    if found["busybox"] and not _is_static(found["busybox"]):
        missing.append("busybox-static in the place of busybox")
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}")
    return {program: Path(path) for program, path in found.items() if path is not None}


def _is_static(program: str) -> bool:
    """Return True if the program needs no shared libraries, which a pod does not have."""
    return subprocess.run(["ldd", program], capture_output=True, check=False).returncode != 0


def _egress(socket: Path) -> Obj:
    """Return the configuration with which kube-apiserver reaches kubelets and pods in another
    network.
    """
    connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(socket)}}}
    return {
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [{"name": "cluster", "connection": connection}],
    }


_NETWORK: Obj = {
    "cniVersion": "0.4.0",
    "name": "pods",
    "plugins": [
        {
            "type": "bridge",
            "bridge": BRIDGE,
            "isGateway": True,
            "ipam": {"type": "host-local", "ranges": [[{"subnet": SUBNET}]]},
        }
    ],
}
# AppArmor and a lower OOM score are not available on every machine.
_CONTAINERD = """
version = 2
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{image}"
disable_apparmor = true
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{plugins}"
conf_dir = "{network}"
[plugins."io.containerd.internal.v1.opt"]
path = "/var/lib/containerd/opt"
"""
