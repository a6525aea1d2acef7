"""The embedded Kubernetes API server: start, stop, credentials.

with DevCluster(Path("data")) as cluster:
    subprocess.run(["kubectl", "--kubeconfig", cluster.kubeconfig, "get", "pods", "-A"])
"""

import base64
import errno
import socket
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from devcluster.audit import RequestLog
from devcluster.authn import AUTHENTICATED, MASTERS, UserInfo
from devcluster.cluster import Cluster
from devcluster.database import Database
from devcluster.objects import encode
from devcluster.pki import Authority, KeyPair, write_private
from devcluster.releases import Release
from devcluster.sample_data import SampleOptions
from devcluster.server_thread import ServerThread

ADMIN = "kubernetes-admin"
T = TypeVar("T")


class DevClusterError(Exception):
    """The cluster cannot start. The message is a single sentence for users."""


class DevCluster:
    """An API server on 127.0.0.1 with persistent data in `data_dir`.

    With `port` 0, a free port is chosen and kept across `kill` and `start`. With `world`, nodes
    and sample data are created on the first start from `seed`, and change at the rate `churn`
    (see `devcluster.sample_data.SampleOptions`). With `release`, it answers like an older Kubernetes
    version. `start` returns when requests are accepted and raises
    `DevClusterError` if the cluster cannot start.

    Methods can be called from any thread, but not concurrently.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int = 0,
        *,
        world: bool = False,
        seed: int = 7,
        churn: float = 1.0,
        release: Release = Release(),  # noqa: B008  immutable
    ) -> None:
        self.data_dir, self._port = data_dir, port
        self._release = release
        self._sample = SampleOptions(seed, churn) if world else None
        self.audit = RequestLog()
        self._running: ServerThread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # Life ---------------------------------------------------------------------------------------

    def start(self) -> None:
        if self._running:
            raise DevClusterError("The embedded cluster is already running.")
        listener = self._listen()
        try:
            self._start(listener)
        except BaseException:
            listener.close()
            raise

    def _start(self, listener: socket.socket) -> None:
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True)
            authority = Authority(self.data_dir / "pki")
            self._write_admin_kubeconfig(authority)
            database = Database(self.data_dir / "cluster.sqlite3")
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise DevClusterError(
                f"The embedded cluster cannot write to {self.data_dir}: {reason}."
            ) from error
        running = ServerThread(
            listener,
            authority.server_context(),
            database,
            self.data_dir / "tokens.csv",
            authority,
            self.audit,
            self._sample,
            self._release,
        )
        try:
            running.start()
        except (sqlite3.Error, OSError, ValueError) as error:
            raise DevClusterError(
                f"The embedded cluster cannot read its data in {self.data_dir}: {error}."
            ) from error
        self._running = running

    def _listen(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", self._port))
            listener.listen(256)
        except OSError as error:
            listener.close()
            taken = error.errno == errno.EADDRINUSE
            why = "is already in use" if taken else f"cannot be used: {error.strerror}"
            raise DevClusterError(f"Port {self._port} on 127.0.0.1 {why}.") from error
        listener.setblocking(False)
        self._port = listener.getsockname()[1]
        return listener

    def stop(self) -> None:
        """Close open requests and stop the server. Do nothing if the server is not running."""
        if self._running:
            self._running.stop(abruptly=False)
            self._running = None

    def kill(self) -> None:
        """Abort all connections and stop like a killed process.

        `start` restarts the server on the same port with the same data.
        """
        if self._running:
            self._running.stop(abruptly=True)
            self._running = None

    # Credentials and control ---------------------------------------------------------------------

    @property
    def url(self) -> str:
        """`https://127.0.0.1:port`. Without a configured port, the port is 0 before the first
        start.
        """
        return f"https://127.0.0.1:{self._port}"

    @property
    def port(self) -> int:
        return self._port

    @property
    def ca_file(self) -> Path:
        return self.data_dir / "pki" / "ca.crt"

    @property
    def serving_files(self) -> tuple[Path, Path]:
        """Certificate and key of the server for loopback addresses, written when it starts."""
        return self.data_dir / "pki" / "server.crt", self.data_dir / "pki" / "server.key"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig (mode 0600), written when the cluster starts."""
        return self.data_dir / "kubeconfig"

    def write_kubeconfig(self, path: Path) -> None:
        """Copy the administrator's kubeconfig to `path`."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_private(path, self.kubeconfig.read_bytes())
        except OSError as error:
            raise DevClusterError(f"Cannot write {path}: {error.strerror}.") from error

    def issue_token(self, user: str, groups: Sequence[str] = ()) -> str:
        """Return a bearer token for the user. The same user gets the same token each time."""
        wanted = UserInfo(user, tuple(group for group in groups if group != AUTHENTICATED))
        return self.run(lambda cluster: cluster.tokens.permanent_token(wanted))

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Write a kubeconfig (mode 0600) with a token of the user and return its path."""
        token = self.issue_token(user, groups)
        safe = "".join(letter if letter.isalnum() else "-" for letter in user)
        path = self.data_dir / f"kubeconfig-{safe}"
        write_private(path, self._kubeconfig(self.ca_file.read_bytes(), user, {"token": token}))
        return path

    def compact(self) -> None:
        """Discard the change history. Watches that resume from an older resourceVersion fail with
        410 Gone.
        """
        self._require_running().call(lambda cluster: cluster.store.compact())

    def wait_until_idle(self, seconds: float = 30.0) -> None:
        """Wait until the simulated controllers are idle. Raise TimeoutError after `seconds`."""
        self._require_running().wait_until_idle(seconds)

    def run(self, function: Callable[[Cluster], T]) -> T:
        """Run the function on the cluster's thread, where it can access all components."""
        return self._require_running().call(function)

    def _require_running(self) -> ServerThread:
        if not self._running:
            raise DevClusterError("The embedded cluster is not running.")
        return self._running

    def _write_admin_kubeconfig(self, authority: Authority) -> None:
        pair_file = self.data_dir / "pki" / "admin.pem"
        if pair_file.exists():
            certificate, _, key = pair_file.read_bytes().partition(b"\0")
            pair = KeyPair(certificate, key)
        else:
            pair = authority.issue_client(ADMIN, (MASTERS,))
            write_private(pair_file, pair.certificate + b"\0" + pair.key)
        user = {
            "client-certificate-data": base64.b64encode(pair.certificate).decode(),
            "client-key-data": base64.b64encode(pair.key).decode(),
        }
        write_private(self.kubeconfig, self._kubeconfig(authority.pem, ADMIN, user))

    def _kubeconfig(self, ca: bytes, name: str, user: dict[str, str]) -> bytes:
        cluster = {
            "server": self.url,
            "certificate-authority-data": base64.b64encode(ca).decode(),
        }
        # JSON is valid YAML and needs no YAML dumper.
        return encode(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "devcluster", "cluster": cluster}],
                "users": [{"name": name, "user": user}],
                "contexts": [
                    {"name": "devcluster", "context": {"cluster": "devcluster", "user": name}}
                ],
                "current-context": "devcluster",
            }
        )
