"""Two consoles that share a PostgreSQL database, and a kube-apiserver that uses one of them as
token webhook.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
import yaml

from tests.accounts.conftest import HASH, PASSWORD
from tests.accounts.oauth.clients import CLIENTS, SECRET, basic
from tests.accounts.oauth.postgres import PostgreSQL, missing
from tests.accounts.oauth.tls import TLSProxy
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.pki import Authority
from tests.controlplane.plugin import report_skipped
from tests.controlplane.programs import ApiserverOptions
from tests.controlplane.waiting import eventually
from tests.rbac.objects import user
from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[3]
USERS = "/kapis/iam.kubesphere.io/v1alpha2/users/"
_OBJECTS = "/apis/iam.kubesphere.io/v1alpha2/users"
#: Failed attempts until a user is locked.
TRIES = 30
#: Redirect URI of an application on this machine.
DESKTOP_PORT = free_port()
DESKTOP = f"http://127.0.0.1:{DESKTOP_PORT}/cb"


@dataclass
class Answer:
    status: int
    body: Any


@dataclass
class World:
    urls: tuple[str, str]
    cluster: ControlPlane
    database: PostgreSQL
    environment: dict[str, str]
    serving: tuple["Serving", ...] = ()

    def ask(
        self, replica: int, path: str, bearer: str = "", public: str = "", **fields: str
    ) -> Answer:
        """Send a request with a token, as a public client, or with a form as the confidential
        client.
        """
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        if public:
            fields["client_id"] = public
        elif fields:
            headers = {"Authorization": basic("kubesphere", SECRET)}
        data = urlencode(fields).encode() if fields else None
        request = Request(self.urls[replica] + path, data, headers)  # noqa: S310
        try:
            with urlopen(request, timeout=20) as response:  # noqa: S310
                return Answer(response.status, json.loads(response.read() or b"null"))
        except HTTPError as error:
            return Answer(error.code, json.loads(error.read() or b"null"))

    def sign_in(self, replica: int, name: str) -> dict[str, Any]:
        answer = self.token(replica, grant_type="password", username=name, password=PASSWORD)
        assert answer.status == 200, answer
        found: dict[str, Any] = answer.body
        return found

    def token(self, replica: int, **fields: str) -> Answer:
        return self.ask(replica, "/oauth/token", **fields)

    def statuses(self, name: str, token: str) -> set[int]:
        """Return the status codes of both replicas."""
        return {self.ask(replica, USERS + name, token).status for replica in (0, 1)}

    def whoami(self, token: str) -> dict[str, Any] | None:
        """Return the user info of kube-apiserver for the bearer, or None if the token is refused."""
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        answer = self.cluster.api_with(token).request("POST", path, review)
        assert answer.status in (201, 401), answer.body
        return answer.json()["status"]["userInfo"] if answer.status == 201 else None

    def kubectl(self, token: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        config = json.loads(self.cluster.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": token}
        path = self.cluster.kubeconfig.with_name("bearer.kubeconfig")
        path.write_text(json.dumps(config))
        return self.cluster.kubectl(*arguments, kubeconfig=path)

    def put(self, user: dict[str, Any]) -> None:
        """Apply a user like `kubectl apply`."""
        meta = {k: v for k, v in user["metadata"].items() if k not in ("uid", "resourceVersion")}
        answer = self.cluster.api.request(
            "PATCH", f"{_OBJECTS}/{meta['name']}?fieldManager=tests&force=true",
            {**user, "metadata": meta}, content_type="application/apply-patch+yaml",
        )  # fmt: skip
        assert answer.status in (200, 201), answer.body

    def user(self, name: str) -> dict[str, Any]:
        answer = self.cluster.api.get(f"{_OBJECTS}/{name}")
        assert answer.status == 200, answer.body
        return dict(answer.json())

    def delete_user(self, name: str) -> None:
        answer = self.cluster.api.request("DELETE", f"{_OBJECTS}/{name}")
        assert answer.status in (200, 202), answer.body

    def add_user(self, name: str) -> None:
        """Create a user and wait until both consoles accept it."""
        self.put(user(name, password=HASH))
        fields = {"grant_type": "password", "username": name, "password": PASSWORD}
        eventually(
            lambda: all(self.token(replica, **fields).status == 200 for replica in (0, 1)),
            f"{name} can sign in",
        )

    def manage(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        return subprocess.run(
            command, env=self.environment, cwd=ROOT,
            capture_output=True, text=True, timeout=120, check=True,
        )  # fmt: skip


@pytest.fixture(scope="package")
def world(
    control_plane_programs: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    why = missing()
    if why:
        report_skipped("two consoles on one database", why)
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("replicas")
    ports = free_port(), free_port()
    authority = Authority(folder)
    pair = authority.server("console", hosts=["localhost"], addresses=["127.0.0.1"])
    webhook = folder / "webhook.json"
    flags = (
        f"--authentication-token-webhook-config-file={webhook}",
        "--authentication-token-webhook-version=v1",
        "--authentication-token-webhook-cache-ttl=1s",
    )
    with ExitStack() as stack:
        proxy = stack.enter_context(TLSProxy(pair, ports[0]))
        webhook.write_text(json.dumps(webhook_config(proxy.port, authority.certificate)))
        database = stack.enter_context(PostgreSQL())
        options = ApiserverOptions(extra=flags)
        cluster = stack.enter_context(ControlPlane(with_controllers=True, options=options))
        environment = environment_of(folder, ports[0], database.url)
        serving = tuple(Serving(port, environment, folder / f"{port}.log") for port in ports)
        world = World(urls_of(ports), cluster, database, environment, serving)
        world.manage(
            "install", "--kubeconfig", str(cluster.kubeconfig), "--out", environment["KUBECONFIG"]
        )
        # The first console creates the tables.
        for one, url in zip(serving, world.urls, strict=True):
            stack.enter_context(one)
            eventually(partial(ready, url), f"{url} is ready", timeout=60)
        yield world


def webhook_config(port: int, authority: Path) -> dict[str, Any]:
    """Return the kubeconfig with which kube-apiserver calls the console."""
    cluster = {
        "server": f"https://127.0.0.1:{port}/oauth/authenticate",
        "certificate-authority": str(authority),
    }
    credentials = {"username": "kube-apiserver", "password": "kube-" + SECRET}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "quarterdeck", "cluster": cluster}],
        "users": [{"name": "kube-apiserver", "user": credentials}],
        "contexts": [
            {"name": "x", "context": {"cluster": "quarterdeck", "user": "kube-apiserver"}}
        ],
        "current-context": "x",
    }


def environment_of(folder: Path, port: int, database: str) -> dict[str, str]:
    """Return the environment for both replicas, which share one public URL."""
    config = folder / "authentication.yaml"
    # Higher than the default, because attempts fail until a new user is cached everywhere.
    limits = {"authenticateRateLimiterMaxTries": TRIES}
    oauth = {"oauthOptions": {"clients": [*CLIENTS, *desktops()]}}
    config.write_text(yaml.safe_dump({**oauth, **limits}))
    return {
        **os.environ,
        "KUBECONFIG": str(folder / "kubeconfig"),
        "SECRET_KEY": "replica-tests-" + "x" * 40,
        "BASE_URL": f"http://127.0.0.1:{port}",
        "STATE_DIR": str(folder),
        "DATABASE_URL": database,
        "AUTHENTICATION_CONFIG": str(config),
        "QUARTERDECK_ADMIN_PASSWORD": PASSWORD,
    }


def desktops() -> list[dict[str, Any]]:
    """Return two public clients, one with automatic consent and one that asks for consent."""
    common = {"public": True, "redirectURIs": [DESKTOP]}
    return [{"name": "own", "grantMethod": "auto", **common}, {"name": "foreign", **common}]


def urls_of(ports: tuple[int, int]) -> tuple[str, str]:
    return f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}"


class Serving:
    """`manage.py serve` on a port while the block runs."""

    def __init__(self, port: int, environment: dict[str, str], log: Path) -> None:
        self.log, self._port, self._environment = log, port, environment

    def __enter__(self) -> None:
        command = ["serve", "--host", "127.0.0.1", "--port", str(self._port)]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), *command],
                env=self._environment, cwd=ROOT, stdout=output, stderr=output,
            )  # fmt: skip

    @contextmanager
    def killed(self) -> Iterator[None]:
        """Kill the process, and start a new one after the block."""
        self.process.kill()
        self.process.wait()
        yield
        self.__enter__()
        url = f"http://127.0.0.1:{self._port}"
        eventually(lambda: ready(url), "it is ready again", timeout=60)

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        assert self.process.wait(timeout=20) == 0, self.log.read_text()[-4000:]
        assert "Traceback" not in self.log.read_text(), self.log.read_text()[-4000:]


def ready(url: str) -> bool:
    try:
        with urlopen(url + "/readyz", timeout=2) as response:  # noqa: S310
            return bool(response.status == 200)
    except (HTTPError, URLError, OSError):
        return False
