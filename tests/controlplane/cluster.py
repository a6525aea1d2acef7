"""A control plane for tests with fault injection and audit log.

    with ControlPlane() as cluster:
        cluster.kubectl("create", "namespace", "demo")
        cluster.kill()
        cluster.restart()

It listens only on loopback and has its own certificate authority. Its processes end with the
tests, even if the tests are killed. It never signals other processes.
"""

import atexit
import ssl
import subprocess
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

from tests.controlplane import etcd, nodes, programs
from tests.controlplane.api import Api
from tests.controlplane.audit import AuditEvent, read_events
from tests.controlplane.build import OLD, Report, ensure
from tests.controlplane.component import Component, ComponentError, environment
from tests.controlplane.layout import MASTERS, Layout
from tests.controlplane.pki import KeyPair

__all__ = ["APISERVER", "ETCD", "ControlPlane"]

#: Programs for which faults can be simulated.
APISERVER, ETCD = "kube-apiserver", "etcd"

_KUBECTL_SECONDS = 60.0

#: Users with a bearer token, and their groups. They have no permissions by default.
USERS: Mapping[str, Sequence[str]] = {"reader": (), "writer": (), "stranger": ()}


def _silent(_: str) -> None:
    """Ignore progress messages of the builder."""


class ControlPlane:
    """A control plane: etcd, kube-apiserver, and optionally controllers with scheduler, and kwok.

    Methods block and are not thread-safe.
    """

    def __init__(
        self,
        *,
        with_controllers: bool = True,
        with_kwok: bool = False,
        users: Mapping[str, Sequence[str]] = USERS,
        options: programs.ApiserverOptions | None = None,
        old: bool = False,
        report: Report = _silent,
    ) -> None:
        """With `old`, all Kubernetes programs but kubectl are from `tools-1.24/`."""
        self._old = old
        self._with_controllers = with_controllers
        self._with_kwok = with_kwok
        self._options = options or programs.ApiserverOptions()
        self._report = report
        self._programs: Mapping[str, Path] = {}
        self._components: dict[str, Component] = {}
        self._node_numbers = count(1)
        self._temporary = TemporaryDirectory(prefix="controlplane-", ignore_cleanup_errors=True)
        self._layout = Layout(Path(self._temporary.name).resolve(), users)
        self.url = self._layout.url
        self.ca_file = self._layout.authority.certificate
        #: Serving certificate of kube-apiserver for 127.0.0.1, also used by proxies in front of it.
        self.serving: KeyPair = self._layout.serving
        #: Kubeconfig of the administrator. `api` uses the same identity.
        self.kubeconfig = self._layout.kubeconfig("admin", (MASTERS,))
        tls = self._tls()
        tls.load_cert_chain(*self._layout.admin)
        self.api = Api(self.url, tls)

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
        """Build missing programs, start all programs and wait until they are ready."""
        found = ensure(self._needed(), self._report)
        self._programs = {name.removesuffix(OLD): path for name, path in found.items()}
        atexit.register(self.stop)
        try:
            self._component(ETCD).start(programs.etcd(self._layout))
            self._start_apiserver()
            if self._with_controllers:
                self._start_controllers()
            if self._with_kwok:
                self._component("kwok").start(programs.kwok(self._layout))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop all programs and remove all files. The control plane cannot be started again."""
        atexit.unregister(self.stop)
        # Stop clients before servers, so that they don't log connection errors.
        for component in reversed(self._components.values()):
            component.kill()
        self._temporary.cleanup()

    def _needed(self) -> list[str]:
        kubernetes = ["kube-apiserver"]
        if self._with_controllers:
            kubernetes += ["kube-controller-manager", "kube-scheduler"]
        names = ["etcd", "kubectl", *(name + OLD if self._old else name for name in kubernetes)]
        if self._with_kwok:
            names.append("kwok")
        return names

    def _component(self, name: str) -> Component:
        if name not in self._components:
            if name not in self._programs:
                raise ComponentError(f"{name} was not started")
            program = self._programs[name]
            self._components[name] = Component(name, program, self._layout.folder)
        return self._components[name]

    def _start_apiserver(self) -> None:
        arguments = programs.apiserver(
            self._layout, self._options, service_accounts=self._with_controllers
        )
        apiserver = self._component(APISERVER)
        apiserver.start(arguments)
        self.wait_ready()

    def _start_controllers(self) -> None:
        manager = self._component("kube-controller-manager")
        manager.start(programs.controller_manager(self._layout))
        self._component("kube-scheduler").start(programs.scheduler(self._layout))
        # From this point on, pods are admitted.
        self._wait(manager, self._has_service_account, "create the default service account")

    def _wait(self, component: Component, is_so: Callable[[], bool], what: str) -> None:
        def check() -> bool:
            for one in self._components.values():
                one.check()
            return is_so()

        component.wait_until(check, what)

    def _is_ready(self) -> bool:
        try:
            return self.api.get("/readyz", timeout=5).status == HTTPStatus.OK
        except OSError:
            return False

    def _has_service_account(self) -> bool:
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        try:
            return self.api.get(path).status == HTTPStatus.OK
        except OSError:
            return False

    @property
    def pids(self) -> dict[str, int]:
        """Process IDs of the running programs by name."""
        found = {name: component.pid for name, component in self._components.items()}
        return {name: pid for name, pid in found.items() if pid is not None}

    # Faults

    def kill(self, program: str = APISERVER) -> None:
        """Kill one program with SIGKILL."""
        self._component(program).kill()

    def restart(self, program: str = APISERVER) -> None:
        """Restart the program with the same port and data, and wait until kube-apiserver (if
        running) is ready.

        The watch cache of a restarted kube-apiserver has no history, so watches from before fail
        with 410.
        """
        self.kill(program)
        if program == ETCD:
            self._component(ETCD).start(programs.etcd(self._layout))
            if APISERVER in self.pids:
                self.wait_ready()
        else:
            self._start_apiserver()

    def freeze(self, program: str = APISERVER) -> None:
        """Stop the program with SIGSTOP. Connections are accepted and stay open, but get no
        response.
        """
        self._component(program).freeze()

    def thaw(self, program: str = APISERVER) -> None:
        """Resume a frozen program."""
        self._component(program).thaw()

    def wait_ready(self) -> None:
        """Wait until the running kube-apiserver reports that it and etcd are ready."""
        self._wait(self._component(APISERVER), self._is_ready, "become ready")

    def compact(self) -> int:
        """Compact etcd and return the compacted revision.

        kube-apiserver still serves recent changes from its watch cache. To get 410 for a
        resource, add it to `ApiserverOptions.uncached`, or use `restart()`.
        """
        return etcd.compact(self._layout.etcd_url)

    # Identities

    def token(self, user: str) -> str:
        """Return the bearer token of one of `users`."""
        return self._layout.tokens[user]

    def api_as(self, user: str) -> Api:
        """Return a client with the user's token."""
        return self.api_with(self.token(user))

    def api_with(self, token: str | None) -> Api:
        """Return a client with any token, or an anonymous client."""
        return Api(self.url, self._tls(), token)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Return a kubeconfig with a client certificate for any user."""
        return self._layout.kubeconfig(user, groups)

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.ca_file))
        # Strict checks are the default in later Python versions. The certificates must pass them
        # too.
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    # Use

    def kubectl(
        self, *arguments: str, input: str | None = None, kubeconfig: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl, by default as the administrator. A nonzero exit code raises no error."""
        folder = self._layout.folder
        return subprocess.run(
            [str(self._programs["kubectl"]), *arguments],
            input=input,
            # kubectl stores its discovery cache in HOME, which must not be the developer's.
            env={**environment(folder), "KUBECONFIG": str(kubeconfig or self.kubeconfig)},
            capture_output=True,
            text=True,
            timeout=_KUBECTL_SECONDS,
            check=False,
        )

    def kubectl_output(self, *arguments: str) -> bytes:
        """Run kubectl as the administrator, and return the unchanged bytes of its output. Raise
        `CalledProcessError` if it fails.
        """
        return subprocess.run(
            [str(self._programs["kubectl"]), *arguments],
            env={**environment(self._layout.folder), "KUBECONFIG": str(self.kubeconfig)},
            capture_output=True,
            timeout=_KUBECTL_SECONDS,
            check=True,
        ).stdout

    def add_nodes(self, number: int) -> list[str]:
        """Register simulated nodes and return their names. kwok makes the nodes ready soon after."""
        return [nodes.register(self.api, next(self._node_numbers)) for _ in range(number)]

    # Audit

    def audit_mark(self) -> int:
        """Return the current position in the audit log. A request is recorded shortly after its
        response.
        """
        log = self._layout.audit_log
        return log.stat().st_size if log.exists() else 0

    def audit_events(self, mark: int = 0, **fields: str) -> list[AuditEvent]:
        """Return the requests since `mark` whose fields match, such as `verb="list"`."""
        return [
            event
            for event in read_events(self._layout.audit_log, mark)
            if all(getattr(event, name) == value for name, value in fields.items())
        ]

    def requests(self, user: str) -> list[tuple[str, str, str]]:
        """Return (verb, group, resource) of all requests of the user."""
        return [(one.verb, one.group, one.resource) for one in self.audit_events(user=user)]
