"""A common interface to the embedded cluster and the real control plane."""

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
    """A running cluster and the credentials for it."""

    url: str
    ca_file: Path
    #: Kubeconfig of the administrator, with embedded credentials.
    kubeconfig: Path
    #: Home directory for kubectl's cache.
    home: Path

    def credentials(self, user: str, groups: Sequence[str]) -> Credentials:
        """Return credentials for this user. The user has only the permissions that RBAC grants."""
        ...

    def bearer(self) -> str:
        """Return a token of the user `reader`, who is in no group."""
        ...


class Embedded:
    """The embedded cluster, without sample objects."""

    def __init__(self, server: DevCluster, home: Path) -> None:
        self._server = server
        self.url, self.ca_file, self.kubeconfig = server.url, server.ca_file, server.kubeconfig
        self.home = home

    def credentials(self, user: str, groups: Sequence[str]) -> Credentials:
        return Credentials(token=self._server.issue_token(user, list(groups)))

    def bearer(self) -> str:
        return self._server.issue_token("reader", [])


class Real:
    """A real control plane: etcd, kube-apiserver, and kube-controller-manager."""

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
    """Factory of clients that closes their connections at the end."""

    cluster: Cluster
    stack: ExitStack

    def of(self, who: Credentials) -> Client:
        """Return a client with these credentials. `Credentials()` is anonymous."""
        transport = Transport(self.cluster.url, tls_context(self.cluster.ca_file, who))
        self.stack.callback(transport.close)
        return Client(transport, who.token)

    def user(self, name: str, *groups: str) -> Client:
        return self.of(self.cluster.credentials(name, groups))

    def admin(self) -> Client:
        """Return a client of the cluster administrator."""
        return self.of(Credentials.from_kubeconfig(self.cluster.kubeconfig))


@dataclass(frozen=True)
class Kubectl:
    """Run kubectl as the administrator in one namespace."""

    program: str
    kubeconfig: Path
    home: Path
    namespace: str

    def run(self, *arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command and return the process. The exit code is not checked."""
        return self._start([self.program, "--namespace", self.namespace, *arguments], input)

    def line(self, line: str) -> None:
        """Run a displayed kubectl command in a shell. Raise AssertionError with its error output if
        it fails.
        """
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
        """Run the command and return its output. Raise AssertionError with its error output if it
        fails.
        """
        done = self.run(*arguments, input=input)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def read(self, *what: str) -> Obj:
        """Return an object in the JSON format of `kubectl get`."""
        found: Obj = json.loads(self("get", *what, "-o", "json"))
        return found


def kubectl_program() -> str | None:
    """Return the kubectl of the real control plane, or else the one installed on this machine."""
    built = find("kubectl")
    return str(built) if built else shutil.which("kubectl")
