"""Terminals with real shells and programs on a node whose kubelet restarts, for users with
Kubernetes RBAC permissions.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import Any

import pytest

from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    Key,
)
from console.kube.runtime import Runtime
from console.terminals.terminal import get_terminals
from tests.contract.grants import rule
from tests.controlplane.waiting import eventually
from tests.node.containers import status
from tests.node.node import Obj, RealNode, container
from tests.node.users import Rights, console_of, decide, rights_of
from tests.support.responses import text_of
from tests.terminals.conftest import TIMEOUT, Browser, typing, typist
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

#: Every user except the first has a single permission.
RIGHTS: Rights = {
    "ada": [rule("*", "*", "*")],
    "tess": [rule("create get", "pods/exec")],
    "lee": [rule("get", "pods/log")],
    "nora": [rule("get list", "pods")],
    "rob": [rule("create get", "pods/exec")],
}
GROUP = "rbac.authorization.k8s.io"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
ECHO = "echo ready; while read -r line; do echo got $line; done"
_NUMBERS = count()


@pytest.fixture(scope="module")
def console(real_node: RealNode) -> Iterator[Runtime]:
    with console_of(real_node, RIGHTS, [PODS]) as found:
        eventually(lambda: rights_of("rob").can("get", PODS, subresource="exec"), "all may")
        yield found


@pytest.fixture(autouse=True)
async def _people(monkeypatch: pytest.MonkeyPatch, console: Runtime) -> AsyncIterator[None]:
    decide(monkeypatch, RIGHTS)
    yield
    await get_terminals().close()


@pytest.fixture(scope="module")
def shell(real_node: RealNode, console: Runtime) -> Iterator[str]:
    """Return the path of a terminal in a pod."""
    with real_node.pod("typed", container("a", "sleep infinity")):
        yield terminal(console, "typed")


def terminal(console: Runtime, name: str, query: str = "") -> str:
    """Return the path of a terminal after the console received the running pod."""
    pods = console.informer(PODS).store

    def runs() -> bool:
        entry = pods.get(Key("default", name))
        status = entry.original()["status"] if entry is not None else {}
        return "startedAt" in str(status.get("containerStatuses"))

    eventually(runs, f"{name} is known to run")
    return f"/clusters/host/projects/default/pods/{name}/terminal?{query}"


async def run(browser: Browser, line: str) -> str:
    """Return the output of a shell command. The echo of the input is ignored."""
    await browser.connected()
    number = next(_NUMBERS)
    await browser.type(f"echo b'e'gin{number}; {line}; echo o'v'er{number}\r")
    await browser.until(f"over{number}\r\n")
    text = bytes(browser.screen).decode()
    return text.rpartition(f"begin{number}\r\n")[2].rpartition(f"over{number}")[0].strip()


@asynccontextmanager
async def coming_back(path: str, who: str) -> AsyncIterator[Browser]:
    """Reconnect like the page's script while permissions are unconfirmed.

    A watch that resumed may need a new list, so permissions can become unconfirmed twice.
    """
    async with asyncio.timeout(TIMEOUT):
        while True:
            browser = await Browser(path, rights_of(who)).begin()
            if (await browser.hear()).get("error", {}).get("code") != 503:
                break
            await browser.leave()
    try:
        yield browser
    finally:
        await browser.leave()


async def page(who: str, path: str) -> tuple[int, str]:
    answer = await ClientAs()(who).get(path)
    return answer.status_code, await text_of(answer)


@pytest.mark.parametrize("who", ["ada", "tess"])
async def test_permitted_user_runs_commands_in_a_shell(shell: str, who: str) -> None:
    code, text = await page(who, shell)
    assert code == 200 and "data-terminal-url" in text, text
    async with typing(Browser(shell, rights_of(who), size=(111, 33))) as browser:
        assert await run(browser, "echo $((6 * 7))") == "42"
        assert await run(browser, "hostname") == "typed"
        # This image has sh only, none of the preferred shells.
        assert await run(browser, "echo $0; echo $TERM") == "ash\r\nxterm-256color"
        await browser.type("exit 7\r")
        last = await browser.last()
    assert last["ended"]["message"] == "The shell exited with code 7."
    assert (last["ended"]["code"], last["close"]) == (7, 1000)


async def test_terminal_size_reaches_the_program(shell: str) -> None:
    async with typing(Browser(shell, rights_of("tess"), size=(111, 33))) as browser:
        await until_size(browser, "33 111")
        await browser.say(size=(70, 20))
        await until_size(browser, "20 70")


async def until_size(browser: Browser, wanted: str) -> None:
    """Repeat the check, because the kubelet delivers sizes separately from the input and in no
    defined order.
    """
    async with asyncio.timeout(20):
        while await run(browser, "stty size") != wanted:
            pass


@pytest.mark.parametrize("who", ["lee", "nora", "stranger"])
async def test_user_without_permission_is_refused(
    monkeypatch: pytest.MonkeyPatch, shell: str, who: str
) -> None:
    decide(monkeypatch, {who: []})
    code, text = await page(who, shell)
    assert code == 403 and "pods/exec" in text, text
    async with typing(Browser(shell, rights_of(who))) as browser:
        last = await browser.last()
    assert (last["error"]["code"], last["close"]) == (403, 4403)
    assert (
        last["error"]["message"]
        == "You don't have permission to create exec of pods in project default."
    )


async def test_cluster_refuses_even_if_the_console_allows(shell: str) -> None:
    async with typing(Browser(shell, typist("nora"))) as browser:
        last = await browser.last()
    assert (last["error"]["code"], last["close"]) == (403, 4403)
    assert last["error"]["message"].startswith("Permission denied by the cluster.")


async def test_permissions_for_log_exec_and_attach_are_separate(shell: str) -> None:
    log = shell.replace("/terminal?", "/log")
    assert (await page("lee", log))[0] == 200
    code, text = await page("tess", log)
    assert code == 403 and "pods/log" in text
    code, text = await page("tess", f"{shell}attach=1")
    assert code == 403 and "pods/attach" in text
    async with typing(Browser(f"{shell}attach=1", rights_of("tess"))) as browser:
        assert (await browser.last())["error"]["code"] == 403


async def test_user_without_access_to_pods_gets_not_found(shell: str) -> None:
    path = shell.replace("typed", "nobody")
    async with typing(Browser(path, rights_of("tess"))) as browser:
        last = await browser.last()
    assert last["error"] == {"code": 404, "message": "The pod no longer exists."}


async def test_missing_shell_is_named(real_node: RealNode, console: Runtime) -> None:
    tools, nothing = {"name": "tools", "mountPath": "/tools"}, {"name": "no", "mountPath": "/bin"}
    bare = {
        **container("a", ""),
        "command": ["/tools/busybox", "sleep", "infinity"],
        "volumeMounts": [tools, nothing],
    }
    copies = container("copies", "cp /bin/busybox /tools/", volumeMounts=[tools])
    volumes: list[Obj] = [{"name": name, "emptyDir": {}} for name in ("tools", "no")]
    with real_node.pod("bare", bare, initContainers=[copies], volumes=volumes):
        path = terminal(console, "bare")
        for query, what in (("", "shell"), ("shell=bash", "bash"), ("shell=sh", "sh")):
            async with typing(Browser(path + query, rights_of("tess"))) as browser:
                ended = (await browser.last())["ended"]
            assert ended["missing"] and ended["code"] is None, ended
            assert ended["message"] == f"No {what} found in this container."


async def test_losing_the_permission_ends_the_terminal_within_two_seconds(
    real_node: RealNode, console: Runtime, shell: str
) -> None:
    async with typing(Browser(shell, rights_of("rob"))) as browser:
        await run(browser, "true")
        await browser.type("sleep 4242\r")
        await asyncio.to_thread(eventually, lambda: "sleep 4242" in processes(real_node), "it runs")
        gone = await asyncio.to_thread(real_node.cluster.api.request, "DELETE", f"{BINDINGS}/rob")
        assert gone.status == 200
        last = await browser.last()
    right = "You don't have permission to create exec of pods in project default."
    assert last["error"] == {
        "code": 403,
        "message": f"You no longer have permission to view this page. {right}",
    }
    assert last["close"] == 4403
    # The process in the container ends as well.
    await asyncio.to_thread(
        eventually, lambda: "sleep 4242" not in processes(real_node), "it has ended"
    )


def processes(node: RealNode) -> str:
    return node.cluster.kubectl("exec", "typed", "--", "ps").stdout


@pytest.mark.parametrize("killed", ["kubelet", "kube-apiserver"])
async def test_lost_cluster_connection_ends_the_terminal_with_a_message(
    real_node: RealNode, console: Runtime, shell: str, killed: str
) -> None:
    browser = Browser(shell, rights_of("ada"))
    async with typing(browser):
        assert await run(browser, "here=1234; echo $here") == "1234"
        (real_node.kubelet if killed == "kubelet" else real_node.cluster).kill()
        try:
            last = await browser.last()
        finally:
            again = real_node.start_kubelet if killed == "kubelet" else real_node.cluster.restart
            await asyncio.to_thread(again)
    assert last["ended"]["code"] is None and last["close"] == 1000
    lost = (
        "The connection to the container was lost. Programs that you started in the "
        "container may still be running."
    )
    assert last["ended"]["message"] == lost
    async with coming_back(shell, "ada") as other:
        assert await run(other, "echo =$here=") == "=="
        assert other.begun["new"] and other.begun["id"] != browser.begun["id"]
    await asyncio.to_thread(settled, real_node, console)


def settled(node: RealNode, console: Runtime) -> None:
    """Wait until the console's watches for all permissions are current and stable."""
    allows: dict[str, Any] = {"rules": []}
    binds = {"roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "settled"}}
    of = (
        ("ClusterRole", CLUSTER_ROLES, "", allows),
        ("ClusterRoleBinding", CLUSTER_ROLE_BINDINGS, "", binds),
        ("Role", ROLES, "default", allows),
        ("RoleBinding", ROLE_BINDINGS, "default", binds),
    )
    metadata = {"name": "settled", "namespace": "default"}
    items = [
        {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, **more}
        for kind, _, _, more in of
    ]
    made = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    done = node.cluster.kubectl("create", "-f", "-", input=made)
    assert done.returncode == 0, done.stderr
    for kind, gvr, namespace, _ in of:
        key = Key(namespace, "settled")
        eventually(partial(console.informer(gvr).store.get, key), f"each {kind} is followed")
    done = node.cluster.kubectl("delete", "-f", "-", input=made)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("tty", [False, True])
async def test_attach_to_a_container_with_stdin_and_detach(
    real_node: RealNode, console: Runtime, tty: bool
) -> None:
    name = f"reads-{'tty' if tty else 'pipe'}"
    with real_node.pod(name, container("a", ECHO, stdin=True, tty=tty)):
        path = terminal(console, name, "attach=1")
        for word in ("hello", "again"):
            async with typing(Browser(path, rights_of("ada"))) as browser:
                await browser.connected()
                assert (browser.begun["tty"], browser.begun["reads"]) == (tty, True)
                await browser.type(f"{word}\r" if tty else f"{word}\n")
                await browser.until(f"got {word}")
                await browser.say(end=True)
                await browser.last()
        state: dict[str, Any] = status(real_node, name, "a")
        assert "running" in state["state"] and state["restartCount"] == 0


async def test_attach_to_a_container_without_stdin_is_read_only(
    real_node: RealNode, console: Runtime
) -> None:
    with real_node.pod("deaf", container("a", "while :; do echo tick; sleep 1; done")):
        path = terminal(console, "deaf", "attach=1")
        async with typing(Browser(path, rights_of("ada"))) as browser:
            await browser.until("tick")
            assert not browser.begun["tty"] and not browser.begun["reads"]


async def test_deleted_pod_ends_the_terminal(real_node: RealNode, console: Runtime) -> None:
    with real_node.pod("going", container("a", "sleep infinity")):
        async with typing(Browser(terminal(console, "going"), rights_of("ada"))) as browser:
            await run(browser, "true")
            path = "/api/v1/namespaces/default/pods/going?gracePeriodSeconds=0"
            await asyncio.to_thread(real_node.cluster.api.request, "DELETE", path)
            last = await browser.last()
    assert last["ended"]["code"] == 137
