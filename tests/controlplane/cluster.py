"""A control plane that a test can start in seconds, watch, and break.

    with ControlPlane() as cluster:
        cluster.kubectl("create", "namespace", "demo")
        cluster.kill()
        cluster.restart()

It listens on loopback only, has its own certificate authority, and leaves no process behind, not
even when the tests are killed. It ends no process but its own.
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
from tests.controlplane.build import Report, ensure
from tests.controlplane.component import Component, ComponentError, environment
from tests.controlplane.layout import MASTERS, Layout
from tests.controlplane.pki import KeyPair

__all__ = ["APISERVER", "ETCD", "ControlPlane"]

#: The programs whose faults tests are about.
APISERVER, ETCD = "kube-apiserver", "etcd"

_KUBECTL_SECONDS = 60.0

#: Who has a token, and their groups. They have no rights until a test grants some.
USERS: Mapping[str, Sequence[str]] = {"reader": (), "writer": (), "stranger": ()}


def _silent(_: str) -> None:
    """Takes the builder's progress when nobody wants to see it."""


class ControlPlane:
    """etcd and kube-apiserver and, at choice, the controllers with the scheduler, and kwok.

    The methods block and are for one thread at a time.
    """

    def __init__(
        self,
        *,
        with_controllers: bool = True,
        with_kwok: bool = False,
        users: Mapping[str, Sequence[str]] = USERS,
        options: programs.ApiserverOptions | None = None,
        report: Report = _silent,
    ) -> None:
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
        #: What the server shows for 127.0.0.1, for whoever stands in front of it.
        self.serving: KeyPair = self._layout.serving
        #: The administrator's, as is `api`.
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

    # Starting and ending

    def start(self) -> None:
        """Builds what is missing, starts everything and waits until it is ready."""
        self._programs = ensure(self._needed(), self._report)
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
        """Ends all of it and removes its files. It cannot be started again."""
        atexit.unregister(self.stop)
        # Those who call come before the called, so that they do not log that it is gone.
        for component in reversed(self._components.values()):
            component.kill()
        self._temporary.cleanup()

    def _needed(self) -> list[str]:
        names = ["etcd", "kube-apiserver", "kubectl"]
        if self._with_controllers:
            names += ["kube-controller-manager", "kube-scheduler"]
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
        # The sign that pods are admitted from here on.
        self._wait(manager, self._has_service_account, "make the default service account")

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
        """What runs, by the name of the program."""
        found = {name: component.pid for name, component in self._components.items()}
        return {name: pid for name, pid in found.items() if pid is not None}

    # Faults

    def kill(self, program: str = APISERVER) -> None:
        """SIGKILL to one program; the rest stay."""
        self._component(program).kill()

    def restart(self, program: str = APISERVER) -> None:
        """The program anew, with the same port and data; waits until kube-apiserver, if it runs, is
        ready.

        Its watch cache begins at the present, so it answers 410 to a watch from before.
        """
        self.kill(program)
        if program == ETCD:
            self._component(ETCD).start(programs.etcd(self._layout))
            if APISERVER in self.pids:
                self.wait_ready()
        else:
            self._start_apiserver()

    def freeze(self, program: str = APISERVER) -> None:
        """SIGSTOP: connections stay open, new ones too, and nothing answers."""
        self._component(program).freeze()

    def thaw(self, program: str = APISERVER) -> None:
        """Ends a freeze."""
        self._component(program).thaw()

    def wait_ready(self) -> None:
        """Until kube-apiserver, which must be running, says that it and etcd are well."""
        self._wait(self._component(APISERVER), self._is_ready, "be ready")

    def compact(self) -> int:
        """Makes etcd forget its past; returns the revision at which memory begins now.

        kube-apiserver answers from its watch cache, which remembers recent changes all the same.
        To have 410 for a resource, name it in `ApiserverOptions.uncached`, or `restart()`.
        """
        return etcd.compact(self._layout.etcd_url)

    # Identities

    def token(self, user: str) -> str:
        """The bearer token of one of `users`."""
        return self._layout.tokens[user]

    def api_as(self, user: str) -> Api:
        """Requests with this user's token."""
        return self.api_with(self.token(user))

    def api_with(self, token: str | None) -> Api:
        """Requests with any token, or without an identity."""
        return Api(self.url, self._tls(), token)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig with a client certificate for anybody, also those without a token."""
        return self._layout.kubeconfig(user, groups)

    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.ca_file))
        # As later versions of Python do by default, so that our certificates suit them too.
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    # Use

    def kubectl(
        self, *arguments: str, input: str | None = None, kubeconfig: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs kubectl as the administrator unless told otherwise, whatever its exit code."""
        folder = self._layout.folder
        return subprocess.run(
            [str(self._programs["kubectl"]), *arguments],
            input=input,
            # HOME holds its cache of discovery, which must not be the developer's.
            env={**environment(folder), "KUBECONFIG": str(kubeconfig or self.kubeconfig)},
            capture_output=True,
            text=True,
            timeout=_KUBECTL_SECONDS,
            check=False,
        )

    def add_nodes(self, number: int) -> list[str]:
        """Registers simulated nodes and returns their names; kwok makes them ready soon after."""
        return [nodes.register(self.api, next(self._node_numbers)) for _ in range(number)]

    # Audit

    def audit_mark(self) -> int:
        """A point in the audit log; a request is recorded only just after its answer went out."""
        log = self._layout.audit_log
        return log.stat().st_size if log.exists() else 0

    def audit_events(self, mark: int = 0, **fields: str) -> list[AuditEvent]:
        """The requests since `mark` whose fields equal those given: `verb="list"`, `user=...`."""
        return [
            event
            for event in read_events(self._layout.audit_log, mark)
            if all(getattr(event, name) == value for name, value in fields.items())
        ]

    def requests(self, user: str) -> list[tuple[str, str, str]]:
        """(verb, group, resource) of every request of that user so far."""
        return [(one.verb, one.group, one.resource) for one in self.audit_events(user=user)]
