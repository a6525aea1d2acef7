"""A console with its gateway in front of a cluster, and kubectl with and without the gateway."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import yaml

from devcluster.server import DevCluster
from tests.accounts.conftest import HASH, PASSWORD
from tests.accounts.oauth.clients import SECRET, basic
from tests.accounts.oauth.world import ROOT, Serving, environment_of, ready
from tests.browser.console import kubectl_program
from tests.contract.cluster import Kubectl
from tests.controlplane.pki import Authority
from tests.controlplane.waiting import eventually
from tests.node.image import IMAGE
from tests.rbac.objects import user
from tests.support.ports import free_port

#: The administrator, and a user with permissions in `NAMESPACES` only.
ADMIN, TENANT = "admin", "tess"
#: Of the same length, because columns of tables depend on it.
DIRECT, THROUGH = "gw-direct0", "gw-console"
NAMESPACES = (DIRECT, THROUGH)
WORLD = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {color: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: app, image: IMAGE, command: [sh, -c, "while true; do sleep 1; done"]}]
---
apiVersion: v1
kind: Pod
metadata: {name: shell}
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: app
      image: IMAGE
      command: [sh, -c, "echo begun; httpd -p 8080 -h /; while true; do sleep 1; done"]
      ports: [{containerPort: 8080}]
"""


class Cluster(Protocol):
    @property
    def ca_file(self) -> Path: ...

    @property
    def kubeconfig(self) -> Path: ...

    def kubeconfig_for(self, user: str) -> Path: ...


@dataclass
class Site:
    """`direct` and `through` are the kubeconfigs of each user."""

    cluster: Cluster
    node: str
    home: Path
    url: str
    plain_url: str
    direct: dict[str, Path]
    through: dict[str, Path]

    def kubectl(self, user: str, namespace: str) -> Kubectl:
        """Return kubectl in one of `NAMESPACES`, which decides the way that it uses."""
        found = self.through if namespace == THROUGH else self.direct
        return Kubectl(kubectl_program(), found[user], self.home, namespace)

    @property
    def admin(self) -> Kubectl:
        """kubectl of the cluster's own administrator."""
        return Kubectl(kubectl_program(), self.cluster.kubeconfig, self.home, "default")


@contextmanager
def site_of(cluster: Cluster, node: str, folder: Path) -> Iterator[Site]:
    """Install the console, serve it with the gateway on a TLS port, and create the users and
    objects.
    """
    port, tls_port = free_port(), free_port()
    authority = Authority(folder)
    pair = authority.server("console", hosts=["localhost"], addresses=["127.0.0.1"])
    environment = environment_of(folder, port, f"sqlite:///{folder / 'console.sqlite3'}") | {
        "GATEWAY_CERTIFICATE": str(pair.certificate),
        "GATEWAY_KEY": str(pair.key),
        "GATEWAY_PORT": str(tls_port),
        "GATEWAY_CLIENT_CA": str(cluster.ca_file),
        "GATEWAY_URL": f"https://127.0.0.1:{tls_port}",
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    own = ["--kubeconfig", str(cluster.kubeconfig), "--out", environment["KUBECONFIG"]]
    subprocess.run(
        [*manage, "install", *own], env=environment, cwd=ROOT, capture_output=True, check=True
    )
    plain = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        stack.enter_context(Serving(port, environment, folder / "serve.log"))
        # It creates the tables.
        eventually(partial(ready, plain), "the console is ready", timeout=60)
        stack.enter_context(_controllers(environment, folder / "controllers.log"))
        site = Site(
            cluster,
            node,
            folder,
            f"https://127.0.0.1:{tls_port}",
            plain,
            {one: cluster.kubeconfig_for(one) for one in (ADMIN, TENANT)},
            {},
        )
        _create(site)
        for one in (ADMIN, TENANT):
            site.through[one] = _kubeconfig(site, authority.certificate, one)
        may = partial(site.kubectl(ADMIN, DIRECT).run, "auth", "can-i", "*", "*")
        eventually(lambda: may().returncode == 0, "the administrator has permissions", timeout=60)
        yield site


@contextmanager
def _controllers(environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "controllers"],
            env={**os.environ, **environment}, cwd=ROOT, stdout=output, stderr=output,
        )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def _create(site: Site) -> None:
    admin = site.admin
    tenant = user(TENANT, password=HASH)
    admin("apply", "-f", "-", input=json.dumps({**tenant, "metadata": {"name": TENANT}}))
    for namespace in NAMESPACES:
        admin("create", "namespace", namespace)
        admin(
            "create", "rolebinding", "tenant", "-n", namespace,
            "--clusterrole=admin", f"--user={TENANT}",
        )  # fmt: skip
        eventually(
            lambda: admin.run("get", "serviceaccount", "default", "-n", namespace).returncode == 0,  # noqa: B023
            "pods are admitted",
        )
        admin("apply", "-n", namespace, "-f", "-", input=WORLD.replace("IMAGE", IMAGE))
        for what in ("pod/shell", "deployment/web"):
            condition = "Ready" if what.startswith("pod") else "Available"
            admin("wait", what, "-n", namespace, f"--for=condition={condition}", "--timeout=55s")


def _kubeconfig(site: Site, authority: Path, name: str) -> Path:
    """Sign in and write a kubeconfig for the gateway."""
    fields = {"grant_type": "password", "username": name, "password": PASSWORD}
    request = Request(  # noqa: S310
        f"{site.plain_url}/oauth/token",
        urlencode(fields).encode(),
        {"Authorization": basic("kubesphere", SECRET)},
    )

    def token() -> str:
        try:
            with urlopen(request, timeout=10) as answer:  # noqa: S310
                return str(json.load(answer)["access_token"])
        except OSError:
            return ""

    secret = eventually(token, f"{name} can sign in", timeout=60)
    found = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "x",
                "cluster": {
                    "server": f"{site.url}/clusters/host",
                    "certificate-authority": str(authority),
                },
            }
        ],
        "users": [{"name": "x", "user": {"token": secret}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "current-context": "x",
    }
    path = site.home / f"through-{name}.kubeconfig"
    path.write_text(yaml.safe_dump(found))
    return path


@contextmanager
def embedded_site(folder: Path) -> Iterator[Site]:
    with DevCluster(folder / "cluster") as cluster:
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "worker"},
            "spec": {"podCIDR": "10.244.9.0/24"},
            "status": {
                "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
                "conditions": [{"type": "Ready", "status": "True"}],
                "allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"},
            },
        }
        admin = Kubectl(kubectl_program(), cluster.kubeconfig, folder, "default")
        admin("create", "-f", "-", input=json.dumps(node))
        with site_of(cluster, "worker", folder) as site:
            yield site
