"""A KubeSphere 3.4 cluster with the console installed: one web process, controllers, and
kube-apiserver with the console as token webhook.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

import pytest
import yaml

from console.kube.gvr import GVR, USERS, WORKSPACES
from tests.accounts.conftest import PASSWORD
from tests.accounts.kubesphere import definitions, objects
from tests.accounts.oauth.clients import CLIENTS
from tests.accounts.oauth.tls import TLSProxy
from tests.accounts.oauth.world import ready, webhook_config
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.pki import Authority
from tests.controlplane.programs import ApiserverOptions
from tests.controlplane.waiting import eventually
from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[3]
#: Controllers of permissions. This cluster has an object for each.
BINDERS = (
    *("globalrolebinding", "workspacerolebinding", "workspace", "workspace-manager"),
    "groupbinding",
)
Manifest = dict[str, Any]


@dataclass
class Replica:
    """A process of `manage.py controllers`."""

    port: int
    log: Path
    process: "subprocess.Popen[bytes]"

    @property
    def leads(self) -> bool:
        return "\nquarterdeck_controllers_leading 1.0\n" in self.metrics()

    @property
    def is_idle(self) -> bool:
        """Return True if the controllers have started and have nothing to do."""
        numbers = r'^quarterdeck_controller_(\w+)\{controller="(.*)"\} (\d+)\.0$'
        found = {(what, of): int(n) for what, of, n in re.findall(numbers, self.metrics(), re.M)}
        begun = all(found.get(("reconciles_total", name)) for name in BINDERS)
        return begun and not any(n for (what, _), n in found.items() if what == "waiting")

    def metrics(self) -> str:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=2) as answer:  # noqa: S310
                return str(answer.read().decode())
        except OSError:
            return ""

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            self.process.wait(timeout=20)


class Visitor:
    """A user with a browser without JavaScript."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.cookies = CookieJar()
        self._open = build_opener(HTTPCookieProcessor(self.cookies)).open
        self.landed = ""

    def get(self, path: str) -> tuple[int, str]:
        return self._send(Request(self.url + path))  # noqa: S310

    def post(self, page: str, path: str, **fields: str) -> tuple[int, str]:
        """Submit the form with action `path` on `page`."""
        _, text = self.get(page)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', text)
        assert token, text
        data = urlencode({**fields, "csrfmiddlewaretoken": token[1]}).encode()
        return self._send(Request(self.url + path, data, {"Origin": self.url}))  # noqa: S310

    def sign_in(self, name: str, password: str = PASSWORD) -> bool:
        self.post("/login", "/login", username=name, password=password)
        return "/login" not in self.landed

    def kubeconfig(self) -> str:
        """Download the kubeconfig as soon as the certificate is ready."""

        def given() -> str:
            _, text = self.post("/account", "/account/kubeconfig")
            return text if "\nkind: Config\n" in text else ""

        return str(eventually(given, "a kubeconfig", timeout=60))

    def json(self, path: str) -> Any:
        status, text = self.get(path)
        assert status == 200, text
        return json.loads(text)

    def _send(self, request: Request) -> tuple[int, str]:
        try:
            with self._open(request, timeout=30) as answer:
                self.landed = answer.url
                return answer.status, answer.read().decode()
        except HTTPError as error:
            self.landed = error.url or ""
            return error.code, error.read().decode()


@dataclass
class World:
    cluster: ControlPlane
    url: str
    environment: dict[str, str]
    folder: Path
    applied: list[Manifest]
    definitions: list[Manifest]
    replicas: list[Replica] = field(default_factory=list)
    #: Stops the web process.
    stop_serving: Callable[[], None] = field(default=lambda: None)

    def visitor(self, name: str = "", password: str = PASSWORD) -> Visitor:
        found = Visitor(self.url)
        if name:
            assert found.sign_in(name, password), name
        return found

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        done = self.cluster.kubectl(*arguments, input=input)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(self, gvr: GVR, name: str, namespace: str = "") -> Manifest:
        """Return an object, or an empty dictionary if it doesn't exist."""
        answer = self.cluster.api.get(gvr.path(namespace, name))
        assert answer.status in (200, 404), answer.body
        return dict(answer.json()) if answer.status == 200 else {}

    def listed(self, gvr: GVR, label: str = "") -> list[Manifest]:
        """Return the objects of all namespaces."""
        answer = self.cluster.api.get(f"{gvr.path()}?{urlencode({'labelSelector': label})}")
        assert answer.status == 200, answer.body
        return list(answer.json()["items"])

    def put(self, *items: Manifest) -> None:
        """Create objects like `kubectl create`, which stores no last-applied copy of passwords."""
        for item in items:
            path = type_of(item).path(item["metadata"].get("namespace", ""))
            answer = self.cluster.api.request("POST", path + "?fieldValidation=Strict", item)
            assert answer.status == 201, (path, answer.body)

    def manage(self, *arguments: str, code: int = 0) -> str:
        """Return the command's output. `code` is the expected exit code."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=self.environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return done.stdout + (done.stderr if code else "")

    def takes_in(self, name: str) -> None:
        """Create a user and wait until the controllers have reconciled it."""
        self.put(
            {
                "apiVersion": "iam.kubesphere.io/v1alpha2",
                "kind": "User",
                "metadata": {"name": name},
                "spec": {"email": f"{name}@kubesphere.example", "password": "Harbour-bridge-7"},
            }
        )
        eventually(
            lambda: self.get(USERS, name).get("status", {}).get("state") == "Active",
            f"{name} is taken in",
            timeout=40,
        )

    def start_controllers(self) -> Replica:
        port = free_port()
        log = self.folder / f"controllers-{port}.log"
        with log.open("wb") as output:
            command = [sys.executable, str(ROOT / "manage.py"), "controllers", "--port", str(port)]
            process = subprocess.Popen(
                command, env=self.environment, cwd=ROOT, stdout=output, stderr=output
            )
        replica = Replica(port, log, process)
        self.replicas.append(replica)
        return replica

    def end_controllers(self) -> None:
        for replica in self.replicas:
            replica.end()

    def leader(self) -> Replica:
        found = eventually(
            lambda: [one for one in self.replicas if one.process.poll() is None and one.leads],
            "a replica leads",
            timeout=40,
        )
        assert len(found) == 1
        return found[0]


def type_of(item: Manifest) -> GVR:
    group, _, version = item["apiVersion"].rpartition("/")
    return GVR(group, version, f"{item['kind'].lower()}s")


@pytest.fixture(scope="package")
def world(
    control_plane_programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("kubesphere")) as found:
        yield found


@contextmanager
def world_in(folder: Path, *, old: bool = False) -> Iterator[World]:
    """Run a cluster with the console, optionally with an old Kubernetes version."""
    port = free_port()
    authority = Authority(folder)
    pair = authority.server("console", hosts=["localhost"], addresses=["127.0.0.1"])
    webhook = folder / "webhook.json"
    flags = (
        f"--authentication-token-webhook-config-file={webhook}",
        "--authentication-token-webhook-version=v1",
        "--authentication-token-webhook-cache-ttl=1s",
    )
    with ExitStack() as stack:
        proxy = stack.enter_context(TLSProxy(pair, port))
        webhook.write_text(json.dumps(webhook_config(proxy.port, authority.certificate)))
        cluster = stack.enter_context(ControlPlane(options=ApiserverOptions(extra=flags), old=old))
        environment = _environment(folder, port)
        found = World(
            cluster, f"http://127.0.0.1:{port}", environment, folder, [], definitions.definitions()
        )
        _install(found)
        found.stop_serving = _serve(found, port)
        stack.callback(found.stop_serving)
        eventually(lambda: ready(found.url), "the console is ready", timeout=60)
        # The tables exist already.
        stack.callback(found.end_controllers)
        found.start_controllers()
        yield found


def _install(world: World) -> None:
    """Install KubeSphere's objects, then the console."""
    world.put(*world.definitions)
    names = (f"crd/{item['metadata']['name']}" for item in world.definitions)
    world.kubectl("wait", "--for=condition=Established", *names, "--timeout=30s")
    world.applied = objects.everything()
    world.put(*world.applied)
    for name in objects.WORKSPACES:
        uid = world.get(WORKSPACES, name)["metadata"]["uid"]
        world.put(*objects.projects(name, uid))
    world.manage(
        "install", "--kubeconfig", str(world.cluster.kubeconfig),
        "--out", world.environment["KUBECONFIG"],
    )  # fmt: skip


def _serve(world: World, port: int) -> Any:
    """Start the web process and return the function that stops it."""
    log = world.folder / "serve.log"
    with log.open("wb") as output:
        command = [sys.executable, str(ROOT / "manage.py"), "serve", "--host", "127.0.0.1"]
        process = subprocess.Popen(
            [*command, "--port", str(port)],
            env=world.environment, cwd=ROOT, stdout=output, stderr=output,
        )  # fmt: skip

    def end() -> None:
        process.terminate()
        assert process.wait(timeout=20) == 0, log.read_text()[-4000:]
        assert "Traceback" not in log.read_text(), log.read_text()[-4000:]

    return end


def _environment(folder: Path, port: int) -> dict[str, str]:
    config = folder / "authentication.yaml"
    config.write_text(yaml.safe_dump({"oauthOptions": {"clients": CLIENTS}}))
    return {
        **os.environ,
        "KUBECONFIG": str(folder / "kubeconfig"),
        "SECRET_KEY": "kubesphere-tests-" + "x" * 40,
        "BASE_URL": f"http://127.0.0.1:{port}",
        "STATE_DIR": str(folder),
        "AUTHENTICATION_CONFIG": str(config),
    }
