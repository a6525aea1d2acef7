"""Run the console in production mode on a benchmark cluster, and sign in users."""

import asyncio
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, Self

import aiohttp
import msgspec
import yaml

from accounts.bootstrap import admin_user, bootstrap
from accounts.signin.passwords import hash_password
from bench import expiring_watch, tenant
from bench.expiring_watch import Relist
from bench.timing import VARIABLE, Timing
from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.gvr import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, USERS
from console.kube.kubeconfig import CONSOLE
from console.kube.transport import Transport

_ROOT = Path(__file__).resolve().parents[1]
_READY_SECONDS = 120.0
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Cluster(Protocol):
    """A real control plane or the embedded cluster."""

    @property
    def kubeconfig(self) -> Path:
        """Path of the administrator's kubeconfig."""
        ...


class WebConsole:
    """Context manager that runs `quarterdeck serve` through `bench.serving`.

    It creates `accounts` administrators and one tenant. `configuration` is the content of
    `authentication.yaml`.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        accounts: int = 1,
        configuration: dict[str, Any] | None = None,
    ) -> None:
        self._kubeconfig = cluster.kubeconfig
        self.password = secrets.token_urlsafe(12) + "aA1"
        self._folder = TemporaryDirectory(prefix="console-")
        if configuration is not None:
            Path(self._folder.name, "authentication.yaml").write_text(yaml.safe_dump(configuration))
        self._process: subprocess.Popen[bytes] | None = None
        self.accounts = [f"viewer-{number}" for number in range(accounts)]
        self.tenant = f"{tenant.PREFIX}0"
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._command = ["-m", "bench.serving", "--host=127.0.0.1", f"--port={port}"]

    def __enter__(self) -> Self:
        asyncio.run(self._prepare())
        log = Path(self._folder.name, "log").open("wb")
        with log:
            self._process = subprocess.Popen(  # noqa: S603  our own program
                [sys.executable, *self._command],
                cwd=_ROOT,
                env=self._environment(),
                stdout=log,
                stderr=log,
            )
        try:
            asyncio.run(self._wait())
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    @property
    def pid(self) -> int:
        assert self._process is not None  # noqa: S101  only within the block
        return self._process.pid

    def timings(self) -> list[Timing]:
        """Return the timings of all requests with the header so far."""
        lines = self._timings.read_bytes().splitlines()
        return [msgspec.json.decode(line, type=Timing) for line in lines]

    def forget(self) -> None:
        """Make the console list all pods again."""
        os.kill(self.pid, expiring_watch.SIGNAL)

    def relists(self) -> list[Relist]:
        """Return the relists so far, including the first list."""
        lines = self._relists.read_bytes().splitlines()
        return [msgspec.json.decode(line, type=Relist) for line in lines]

    @property
    def _relists(self) -> Path:
        return Path(self._folder.name, "relists")

    @property
    def _timings(self) -> Path:
        return Path(self._folder.name, "timings")

    async def signed_in(self, account: str) -> aiohttp.ClientSession:
        """Return a session of `account`. Raise OSError if the sign-in fails."""
        session, form = await self.at_login()
        form |= {"username": account, "password": self.password}
        async with session.post("/login", data=form, allow_redirects=False) as response:
            if response.status != 302:
                await session.close()
                raise OSError(f"{account} could not sign in: {response.status}")
        return session

    async def at_login(self) -> tuple[aiohttp.ClientSession, dict[str, str]]:
        """Return an anonymous session and the hidden fields of the sign-in form."""
        session = aiohttp.ClientSession(
            self.url, cookie_jar=aiohttp.CookieJar(unsafe=True), headers={"Origin": self.url}
        )
        async with session.get("/login") as response:
            found = _TOKEN.search(await response.text())
        return session, {"csrfmiddlewaretoken": found.group(1) if found else "", "next": ""}

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "KUBECONFIG": str(self._kubeconfig),
            "SECRET_KEY": secrets.token_hex(32),
            "BASE_URL": self.url,
            "STATE_DIR": self._folder.name,
            VARIABLE: str(self._timings),
            expiring_watch.VARIABLE: str(self._relists),
        }

    async def _prepare(self) -> None:
        transport = Transport(Credentials(CONSOLE, str(self._kubeconfig)))
        client = ConsoleClient(transport)
        try:
            await bootstrap(client, admin_password=self.password)
            hashed = await hash_password(self.password)
            for name in self.accounts:
                await client.apply(USERS, _named(admin_user(hashed), name))
                await client.apply(CLUSTER_ROLE_BINDINGS, _bound(name))
            await client.apply(USERS, _named(admin_user(hashed), self.tenant))
        finally:
            await transport.close()

    async def _wait(self) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        async with aiohttp.ClientSession(self.url) as session:
            while True:
                try:
                    async with session.get("/readyz") as response:
                        if response.status == 200:
                            break
                except aiohttp.ClientError:
                    pass
                if time.monotonic() > deadline or (self._process and self._process.poll()):
                    log = Path(self._folder.name, "log").read_text(errors="replace")
                    raise OSError(f"the console did not become ready: {log[-2000:]}")
                await asyncio.sleep(0.1)

    def _end(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()


def _named(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    metadata = {**manifest["metadata"], "name": name}
    spec = {**manifest.get("spec", {}), "email": f"{name}@example.com"}
    return {**manifest, "metadata": metadata, "spec": spec}


def _bound(name: str) -> dict[str, Any]:
    """Return a cluster-admin binding. No controller runs that would create it from a platform role."""
    group = CLUSTER_ROLES.group
    return {
        "apiVersion": CLUSTER_ROLES.group_version,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"bench-{name}"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": name}],
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
