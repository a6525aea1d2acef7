"""Run the console as a user would, on the embedded cluster or on a real one."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from console.ui.core.actions import EditSection
from console.ui.core.registry import kinds
from devcluster.server import DevCluster

# Several consoles are installed in one cluster, one after the other: the first one creates the
# administrator, and the others leave the password unchanged.
from tests.accounts.conftest import PASSWORD as PASSWORD
from tests.controlplane.build import BuildError, ensure
from tests.controlplane.cluster import ControlPlane
from tests.controlplane.plugin import report_skipped
from tests.controlplane.waiting import eventually
from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
#: The start page of an administrator.
PODS = "/clusters/host/pods"


class Cluster(Protocol):
    """The operations on a cluster that browser tests need."""

    kubeconfig: Path

    def kill(self) -> None:
        """Kill kube-apiserver without a shutdown."""
        ...

    def restart(self) -> None:
        """Start the server again with the same data on the same port."""
        ...

    def requests(self, user: str) -> list[tuple[str, str, str]]:
        """Return (verb, group, resource) of all requests of this user so far."""
        ...


class Embedded:
    """The embedded cluster with the same interface as the real one."""

    def __init__(self, folder: Path, *, world: bool = False) -> None:
        self._cluster = DevCluster(folder, world=world, churn=0)
        self._cluster.start()
        self.kubeconfig = self._cluster.kubeconfig

    def kill(self) -> None:
        self._cluster.kill()

    def restart(self) -> None:
        self._cluster.start()

    def stop(self) -> None:
        self._cluster.stop()

    def requests(self, user: str) -> list[tuple[str, str, str]]:
        found = self._cluster.audit.requests_since(0, user=user)
        return [(one.verb, one.group, one.resource) for one in found]


@contextmanager
def started(
    request: pytest.FixtureRequest, folder: Path, *, world: bool = False
) -> Iterator[Cluster]:
    """Start the cluster that the fixture's parameter names, "embedded" or "real". With `world`, the
    embedded cluster has sample objects.
    """
    if request.param == "embedded":
        embedded = Embedded(folder, world=world)
        yield embedded
        embedded.stop()
    else:
        request.getfixturevalue("control_plane_programs")
        with ControlPlane() as real:
            yield real


@dataclass
class Console:
    """A running console. `kubectl` acts as the cluster's administrator; `serve` starts the server."""

    url: str
    cluster: Cluster
    kubectl_program: str
    log: Path
    serve: Callable[[], subprocess.Popen[bytes]]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    #: Cookies of the administrator after the first sign-in.
    session: list[Any] = field(default_factory=list)
    #: Pods created by tests, as (namespace, name).
    made: list[tuple[str, str]] = field(default_factory=list)

    def kill(self) -> None:
        """Kill the server without a shutdown."""
        server = self.processes.pop()
        server.kill()
        server.wait()

    def restart(self) -> None:
        """Start the server again with the same data on the same port. It may not be ready yet."""
        self.processes.append(self.serve())

    def kubectl(self, *arguments: str, input: str | None = None) -> str:
        done = subprocess.run(
            [self.kubectl_program, "--kubeconfig", str(self.cluster.kubeconfig), *arguments],
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def pod(self, *names: str, namespace: str = "default", **labels: str) -> None:
        """Create pods that never run, so that tests can set their status. They are deleted at the
        end.
        """
        pods = [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": namespace, "labels": labels},
                "spec": {"containers": [{"name": "c", "image": "example/image:1"}]},
            }
            for name in names
        ]
        items = {"apiVersion": "v1", "kind": "List", "items": pods}
        self.kubectl("create", "-f", "-", input=json.dumps(items))
        self.made += [(namespace, name) for name in names]

    @contextmanager
    def tidied(self) -> Iterator[None]:
        """Delete the pods that are created in this context at its end."""
        stay = len(self.made)
        yield
        for namespace, made in groupby(sorted(self.made[stay:]), key=lambda one: one[0]):
            names = [name for _, name in made]
            place = ("-n", namespace, "--ignore-not-found", "--grace-period=0", "--force")
            self.kubectl("delete", "pod", *names, *place)
        del self.made[stay:]

    def has_pod(self, name: str) -> bool:
        return f"pod/{name}\n" in self.kubectl("get", "pods", "-o", "name")

    def set_status(self, name: str, status: dict[str, Any], namespace: str = "default") -> None:
        self.kubectl(
            "patch", "pod", name, "-n", namespace, "--subresource=status", "--type=merge",
            "-p", json.dumps({"status": status}),
        )  # fmt: skip


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2) as response:  # noqa: S310
            return bool(response.status == 200)
    except (HTTPError, URLError, OSError):
        return False


@contextmanager
def running(
    cluster: Cluster,
    folder: Path,
    *,
    opens_ports: bool = False,
    node_shells: str = "",
    state: Path | None = None,
    controllers: bool = True,
) -> Iterator[Console]:
    """Install the console with `manage.py install` and run it with `serve` and `controllers`, as
    the README describes.

    Without `controllers`, users that are created later cannot sign in and workspaces get no
    roles. `node_shells` is the project of node shell pods. `state` is the directory of the
    database (default: `folder`).
    """
    port = free_port()
    more = {"PROXY_BASE_URL": f"http://ports.localhost:{port}"} if opens_ports else {}
    environment = {
        **os.environ,
        "KUBECONFIG": str(folder / "kubeconfig"),
        "SECRET_KEY": "browser-tests-" + "x" * 40,
        "BASE_URL": f"http://127.0.0.1:{port}",
        "STATE_DIR": str(state or folder),
        "AUDIT_STDOUT": "1",
        "QUARTERDECK_ADMIN_PASSWORD": PASSWORD,
        "NODE_SHELL_NAMESPACE": node_shells,
        **more,
    }
    manage = [sys.executable, str(ROOT / "manage.py")]
    done = subprocess.run(
        [*manage, "install", "--kubeconfig", str(cluster.kubeconfig), "--out", environment["KUBECONFIG"]],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    path = folder / "log.txt"
    with path.open("wb") as log:

        def start(*command: str) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                [*manage, *command], env=environment, cwd=ROOT, stdout=log, stderr=log
            )

        serve = partial(start, "serve", "--host", "127.0.0.1", "--port", str(port))
        console = Console(environment["BASE_URL"], cluster, kubectl_program(), path, serve)
        console.processes += [*([start("controllers")] if controllers else []), serve()]
        try:
            eventually(lambda: answers(console.url + "/readyz"), "the console is ready", timeout=60)
            yield console
        finally:
            for process in console.processes:
                process.terminate()
            for process in console.processes:
                assert process.wait(timeout=20) == 0, console.log.read_text()[-4000:]
    assert "Traceback" not in console.log.read_text(), console.log.read_text()[-4000:]


def kubectl_program() -> str:
    """Return the kubectl installed on this machine, or the one built with the control plane."""
    found = shutil.which("kubectl")
    if found is not None:
        return found
    try:
        return str(ensure(["kubectl"], lambda _line: None)["kubectl"])
    except BuildError as error:
        report_skipped("tests in a browser on the embedded cluster", str(error))
        pytest.skip(str(error))


def live(page: Page) -> None:
    """Wait until the page is live and its websocket, if it has one, is open. A failure reports the
    state of the connection.
    """
    told = "body[data-live=live]:is([data-socket=open], :not([ws-connect]))"
    try:
        expect(page.locator(told)).to_have_count(1)
    except AssertionError as error:
        state = "[{...document.body.dataset}, {...document.getElementById('freshness')?.dataset}]"
        error.add_note(f"{page.url}: {page.evaluate(state)}")
        raise


def offered(page: Page, what: str, press: Callable[[Locator], None] = Locator.click) -> Locator:
    """Return the element for an action on an object's page, found by a selector. If the action is
    in the menu, open the menu with `press`.
    """
    found = page.locator(f".acts {what}")
    expect(found.first).to_be_attached()
    seen = found.locator("visible=true")
    if not seen.count():
        press(page.locator(".acts [popovertarget]"))
        menu = page.locator(".acts > li > .menu")
        # A click on a moving menu can hit the page below, which closes the menu.
        eventually(
            lambda: not menu.evaluate("(one) => one.getAnimations().length"),
            "the menu stands still",
        )
    return seen


def action_path(action: str) -> str:
    """Return the end of the URL of an action's page."""
    if action == "edit":
        return "/edit"
    sections = {one.name for kind in kinds for one in kind.actions if isinstance(one, EditSection)}
    return f"/edit/form/{action}" if action in sections else f"/actions/{action}"


def act(page: Page, action: str) -> None:
    """Open the page of an action, or of the YAML editor, from the object's page."""
    path = action_path(action)
    offered(page, f"a[href$='{path}']").click()
    page.wait_for_url(f"**{path}*")


def sign_in(page: Page, console: Console, at: str = PODS, *, anew: bool = False) -> None:
    """Sign in as the administrator and open the list of pods or another path; open no page if the
    path is empty. With `anew`, use a separate session that the test may end.
    """
    if not console.session or anew:
        page.goto(f"{console.url}/login?next={quote(at or PODS)}")
        page.fill("input[name=username]", "admin")
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]:not([form])")
        page.wait_for_url(console.url + (at or PODS))
        if not anew:
            cookies = page.context.cookies()
            console.session = [one for one in cookies if one["name"] == "quarterdeck"]
        return
    page.context.add_cookies(console.session)
    if at:
        page.goto(console.url + at)
