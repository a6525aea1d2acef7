"""The environment shared by all schedules of a run: control plane, proxy, and permissions."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from console.kube.kubeconfig import NAMESPACE, ROLES, service_account, write_console_kubeconfig
from tests.chaos.targets import NAMESPACES, TARGETS, Target
from tests.chaos.writer_connection import NoResponse, WriterConnection
from tests.controlplane.build import Report
from tests.controlplane.cluster import APISERVER, ETCD, ControlPlane
from tests.controlplane.layout import MASTERS
from tests.controlplane.programs import ApiserverOptions
from tests.controlplane.proxy import CuttingProxy
from tests.controlplane.waiting import eventually

__all__ = ["World"]

_MANIFESTS = Path(__file__).parents[2] / "manifests"
_USER = "chaos"
_SECONDS = 30.0
#: Padding in bytes of each initial object.
_PADDING = 2000
_BINDING = f"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{service_account('reader')}"


class World:
    """The environment of schedules, which run one at a time. Use it as a context manager. `base` is
    the number of initial objects of each kind and namespace.
    """

    def __init__(self, report: Report, base: int = 100) -> None:
        self._stack = ExitStack()
        self._report = report
        self._base = base

    def __enter__(self) -> Self:
        # ConfigMaps bypass the watch cache, so that a compaction alone makes their watches fail.
        options = ApiserverOptions(uncached=["configmaps"])
        self.cluster = self._stack.enter_context(
            ControlPlane(
                with_controllers=False,
                users={_USER: (MASTERS,)},
                options=options,
                report=self._report,
            )
        )
        self.proxy = self._stack.enter_context(CuttingProxy(self.cluster))
        self._connection = self._stack.enter_context(self.writer_connection())
        self._prepare()
        self._binding = self.ask("GET", _BINDING)[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def writer_connection(self) -> Iterator[WriterConnection]:
        """Yield a connection that bypasses the proxy and has all permissions."""
        writer_connection = WriterConnection(
            self.cluster.url, self.cluster.ca_file, self.cluster.token(_USER)
        )
        try:
            yield writer_connection
        finally:
            writer_connection.close()

    def ask(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, dict[str, Any]]:
        """Send a request like a `WriterConnection`, and retry it until the server responds."""
        deadline = time.monotonic() + _SECONDS
        while True:
            try:
                status, answer = self._connection.send(method, path, body, content_type)
                if status < 500 and status != 429:
                    return status, answer
                problem = str(answer)
            except NoResponse as error:
                problem = str(error)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {path}: {problem}")
            time.sleep(0.1)

    def items(self, target: Target) -> list[dict[str, Any]]:
        """Return all objects of a kind from a fresh, consistent list."""
        status, answer = self.ask("GET", target.gvr.path())
        assert status == 200, answer
        found: list[dict[str, Any]] = answer["items"]
        return found

    # Permissions

    def revoke(self) -> None:
        """Revoke all permissions of the reader. Open watches continue, as usual in Kubernetes."""
        self.ask("DELETE", _BINDING)

    def grant(self) -> None:
        """Restore the permissions of the reader."""
        if self.ask("GET", _BINDING)[0] != 200:
            metadata = {key: self._binding["metadata"][key] for key in ("name", "labels")}
            body = {**self._binding, "metadata": metadata}
            status, answer = self.ask("POST", _BINDING.rpartition("/")[0], body)
            assert status in (201, 409), answer

    def rotate(self) -> None:
        """Recreate the reader's service account: its old token becomes invalid, and the kubeconfig
        gets a new one.
        """
        old = self.cluster.api_with(self._tokens["reader"])
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts"
        name = service_account("reader")
        self.ask("DELETE", f"{path}/{name}")
        status, answer = self.ask("POST", path, {"metadata": {"name": name}})
        assert status == 201, answer
        self._write_kubeconfig()
        # kube-apiserver caches a valid token for some seconds.
        eventually(
            lambda: old.get("/api/v1/pods?limit=1").status == 401, "the old token is refused"
        )

    def define(self) -> None:
        """Install the custom types that come with the console."""
        self._kubectl("apply", "-f", str(_MANIFESTS / "crds.yaml"))
        self._kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")

    # Recovery

    def heal(self) -> None:
        """Remove all faults."""
        self.proxy.heal()
        for program in (ETCD, APISERVER):
            if program in self.cluster.pids:
                self.cluster.thaw(program)
        if ETCD not in self.cluster.pids:
            self.cluster.restart(ETCD)
        if APISERVER not in self.cluster.pids:
            self.cluster.restart(APISERVER)
        self.cluster.wait_ready()
        self.grant()

    # Setup

    def _prepare(self) -> None:
        self.define()
        for file in ("identities.yaml", "reader.yaml"):
            self._kubectl("apply", "-f", str(_MANIFESTS / file))
        for namespace in NAMESPACES:
            self._kubectl("create", "namespace", namespace)
        for target in TARGETS:
            for namespace in target.namespaces:
                for number in range(self._base):
                    body = target.body(f"base-{number}", _PADDING)
                    status, answer = self.ask("POST", target.gvr.path(namespace), body)
                    # The object exists already if the response to the first attempt was late.
                    assert status in (201, 409), answer
        folder = self._stack.enter_context(TemporaryDirectory(prefix="chaos-"))
        self.kubeconfig = Path(folder) / "kubeconfig"
        self._write_kubeconfig()

    def _write_kubeconfig(self) -> None:
        self._tokens = {role: self._token(role) for role in ROLES}
        write_console_kubeconfig(
            self.kubeconfig, self.proxy.url, self.cluster.ca_file, self._tokens
        )

    def _token(self, role: str) -> str:
        account = service_account(role)
        return self._kubectl("create", "token", account, "-n", NAMESPACE, "--duration=24h").strip()

    def _kubectl(self, *arguments: str) -> str:
        done = self.cluster.kubectl(*arguments)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout
