"""Node shells on a real node, for users with and without permission, and their cleanup."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from console.actions import node_shell
from console.kube.gvr import NODES, PODS, Key
from console.kube.runtime import Runtime
from console.terminals.shell_pods import delete_leftover_pods
from console.terminals.terminal import get_terminals
from tests.contract.grants import rule
from tests.controlplane.waiting import eventually
from tests.node.image import IMAGE
from tests.node.node import NAME, RealNode
from tests.node.users import Rights, believe, console_for, page_of
from tests.support.forms import form_data
from tests.terminals.conftest import Browser, typing
from tests.ui.support import FakeAccess
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

SHELLS = "default"
#: All required permissions.
OPENING = [
    rule("get list", "nodes"),
    rule("get create", "pods"),
    rule("create get", "pods/attach"),
]
RIGHTS: Rights = {
    "ann": [rule("*", "*", "*")],
    "tom": OPENING,
    "eve": [rule("get list", "nodes pods"), *OPENING[2:]],
}
#: List files that exist only on the machine, and print the user ID.
TYPED = b"ls /run/containerd; id -u | sed s/^/uid=/; exit\r"


@pytest.fixture(scope="module")
def console(real_node: RealNode) -> Iterator[Runtime]:
    with console_for(real_node, RIGHTS, [NODES, PODS]) as found:
        yield found


@pytest.fixture(autouse=True)
def _people(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    believe(monkeypatch, RIGHTS)
    settings.NODE_SHELL_NAMESPACE, settings.NODE_SHELL_IMAGE = SHELLS, IMAGE


@pytest.mark.parametrize("who", ["ann", "tom"])
async def test_users_with_permission_get_a_root_shell(
    real_node: RealNode, console: Runtime, who: str
) -> None:
    page = page_of(console, who, "shell", NODES, Key("", NAME))
    sent = form_data(await page.asks())
    answer = await page.does(**sent)
    key, pods = Key(SHELLS, sent["name"]), console.informer(PODS).store

    def is_so(running: bool) -> bool:
        entry = pods.get(key)
        if entry is None:
            return False
        return entry.projection.ready == 1 if running else bool(entry.projection.ended)

    eventually(lambda: is_so(running=True), "the shell runs")
    answer = await page.client().get(answer["Location"])
    assert answer.status_code == 302 and "/terminal?" in answer["Location"]
    browser = Browser(answer["Location"], access=FakeAccess(who, get_in=None))
    async with typing(browser):
        await browser.connected()
        await browser.type(TYPED)
        await browser.until("uid=0")
        assert (await browser.last())["close"] == 1000
    await get_terminals().close()
    assert b"containerd.sock" in browser.screen
    if who == "tom":
        # The user who opened the shell cannot delete its pod.
        eventually(lambda: is_so(running=False), "the shell has ended")
        console.spawn(delete_leftover_pods(console)).result(timeout=20)
    eventually(lambda: pods.get(key) is None, "its pod is taken away")


async def test_an_unused_node_shell_ends(
    real_node: RealNode, console: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_shell, "ATTACH_TIMEOUT", 2)
    page = page_of(console, "ann", "shell", NODES, Key("", NAME))
    sent = form_data(await page.asks())
    await page.does(**sent)
    key, pods = Key(SHELLS, sent["name"]), console.informer(PODS).store

    def has_ended() -> bool:
        entry = pods.get(key)
        return entry is not None and bool(entry.projection.ended)

    eventually(has_ended, "the shell has ended")
    console.spawn(delete_leftover_pods(console)).result(timeout=20)
    eventually(lambda: pods.get(key) is None, "its pod is taken away")


async def test_users_without_permission_cannot_open_a_node_shell(
    real_node: RealNode, console: Runtime
) -> None:
    page = page_of(console, "eve", "shell", NODES, Key("", NAME))
    sent = form_data(await page.asks())
    assert "Permission denied by the cluster." in await page.refuses(403, **sent)
    found = real_node.cluster.kubectl("get", "pods", "-n", SHELLS, "-l", "quarterdeck.io/shell")
    assert "No resources found" in found.stderr
