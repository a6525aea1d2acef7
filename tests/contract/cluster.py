"""The two clusters behind one small face."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from devcluster.server import DevCluster
from tests.contract.client import Client, Credentials, Obj, Transport, tls_context
from tests.controlplane.build import find
from tests.controlplane.cluster import ControlPlane

_KUBECTL_SECONDS = 60.0


class Cluster(Protocol):
    """A cluster that runs, and the ways to be somebody there."""

    url: str
    ca_file: Path
    #: The administrator's, with everything inside.
    kubeconfig: Path
    #: The folder that kubectl may keep its cache in.
    home: Path

    def credentials(self, user: str, groups: Sequence[str]) -> Credentials:
        """Those of anybody; the user has no rights but those that RBAC gives."""
        ...

    def bearer(self) -> str:
        """A token of the user `reader`, who is in no group."""
        ...


class Embedded:
    """The embedded cluster, without a world of its own."""

    def __init__(self, server: DevCluster, home: Path) -> None:
        self._server = server
        self.url, self.ca_file, self.kubeconfig = server.url, server.ca_file, server.kubeconfig
        self.home = home

    def credentials(self, user: str, groups: Sequence[str]) -> Credentials:
        return Credentials(token=self._server.issue_token(user, list(groups)))

    def bearer(self) -> str:
        return self._server.issue_token("reader", [])


class Real:
    """etcd, kube-apiserver and the controllers."""

    def __init__(self, server: ControlPlane, home: Path) -> None:
        self._server = server
        self.url, self.ca_file, self.kubeconfig = server.url, server.ca_file, server.kubeconfig
        self.home = home

    def credentials(self, user: str, groups: Sequence[str]) -> Credentials:
        return Credentials.from_kubeconfig(self._server.kubeconfig_for(user, groups))

    def bearer(self) -> str:
        return self._server.token("reader")


@dataclass
class Clients:
    """Makes clients, and closes their connections at the end."""

    cluster: Cluster
    stack: ExitStack

    def of(self, who: Credentials) -> Client:
        """Requests with any credentials; `Credentials()` is nobody."""
        transport = Transport(self.cluster.url, tls_context(self.cluster.ca_file, who))
        self.stack.callback(transport.close)
        return Client(transport, who.token)

    def user(self, name: str, *groups: str) -> Client:
        """Requests as this user."""
        return self.of(self.cluster.credentials(name, groups))

    def admin(self) -> Client:
        """Requests that may do everything."""
        return self.of(Credentials.from_kubeconfig(self.cluster.kubeconfig))


@dataclass(frozen=True)
class Kubectl:
    """kubectl as the administrator, in one namespace."""

    program: str
    kubeconfig: Path
    home: Path
    namespace: str

    def run(self, *arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        """Whatever the exit code."""
        return self._start([self.program, "--namespace", self.namespace, *arguments], input)

    def line(self, line: str) -> None:
        """A line as it is shown to people, in a shell. AssertionError with its complaint if it fails."""
        done = self._start(["bash", "-c", line])
        assert done.returncode == 0, (line, done.stderr)

    def _start(
        self, command: list[str], input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        folders = [str(Path(self.program).parent), os.environ.get("PATH", os.defpath)]
        return subprocess.run(
            command,
            input=input,
            env={
                "HOME": str(self.home),
                "PATH": os.pathsep.join(folders),
                "KUBECONFIG": str(self.kubeconfig),
            },
            capture_output=True,
            text=True,
            timeout=_KUBECTL_SECONDS,
            check=False,
        )

    def __call__(self, *arguments: str, input: str | None = None) -> str:
        """Its output; AssertionError with its complaint if it fails."""
        done = self.run(*arguments, input=input)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def read(self, *what: str) -> Obj:
        """An object, as `kubectl get` gives it."""
        found: Obj = json.loads(self("get", *what, "-o", "json"))
        return found


def kubectl_program() -> str | None:
    """The one that belongs to the real control plane, or the machine's own."""
    built = find("kubectl")
    return str(built) if built else shutil.which("kubectl")
