"""Debug containers on a real node, for users with and without permission."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.kube.runtime import Runtime
from console.terminals.terminal import get_terminals
from console.ui.core.links import container_startup_url, terminal_url
from tests.contract.grants import rule
from tests.contract.pages import Page
from tests.controlplane.waiting import eventually
from tests.node.image import IMAGE
from tests.node.node import RealNode, container
from tests.node.users import Rights, believe, console_for, page_of
from tests.support.forms import form_data
from tests.support.responses import text_of
from tests.terminals.conftest import Browser, typing
from tests.ui.support import FakeAccess
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

#: All required permissions.
DEBUGGING = [
    rule("get list", "pods"),
    rule("patch", "pods/ephemeralcontainers"),
    rule("create get", "pods/attach"),
]
RIGHTS: Rights = {
    "ann": [rule("*", "*", "*")],
    "tom": DEBUGGING,
    "eve": DEBUGGING[::2],
}


@pytest.fixture(scope="module")
def console(real_node: RealNode) -> Iterator[Runtime]:
    with console_for(real_node, RIGHTS, [PODS]) as found:
        yield found


@pytest.fixture(autouse=True)
def _people(monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch, RIGHTS)


def debugging(console: Runtime, who: str, pod: str) -> Page:
    return page_of(console, who, "debug", PODS, Key("default", pod))


def state(console: Runtime, name: str, debugger: str) -> dict[str, Any]:
    """Return the state of a debug container from the console's cache."""
    entry = console.informer(PODS).store.get(Key("default", name))
    assert entry is not None
    told = entry.original()["status"].get("ephemeralContainerStatuses", ())
    found: dict[str, Any] = next((one["state"] for one in told if one["name"] == debugger), {})
    return found


@pytest.mark.parametrize("who", ["ann", "tom"])
async def test_users_with_permission_can_debug_a_running_pod(
    real_node: RealNode, console: Runtime, who: str
) -> None:
    key = Key("default", f"web-of-{who}")
    script = "echo the app wrote this >/written; exec sleep 12345"
    with real_node.pod(key.name, container("app", script)):
        page = debugging(console, who, key.name)
        sent = {**form_data(await page.asks()), "image": IMAGE, "target": "app", "command": "sh"}
        answer = await page.does(**sent)
        name, url = sent["name"], answer["Location"]
        assert url == container_startup_url("host", key, name)
        eventually(lambda: "running" in state(console, key.name, name), "it runs")
        answer = await page.client().get(url)
        terminal = terminal_url("host", "pods", key, name, attach=True)
        assert (answer.status_code, answer["Location"]) == (302, terminal)
        async with typing(Browser(terminal, FakeAccess(who, get_in=None))) as browser:
            await browser.connected()
            # The debug container shares the processes and files of the target.
            await browser.type("ps; cat /proc/1/root/written\r")
            await browser.until("sleep 12345")
            await browser.until("the app wrote this")
            assert browser.begun["tty"] and browser.begun["reads"]
            await browser.type("exit\r")
            assert (await browser.last())["close"] == 1000
        await get_terminals().close()
        eventually(lambda: "terminated" in state(console, key.name, name), "it has ended")
        shown = await text_of(await page.client().get(url.partition("/terminal")[0]))
        assert name in shown and "Debug container" in shown
        # The target container continues to run.
        [status] = real_node.read(key.name)["status"]["containerStatuses"]
        assert "running" in status["state"] and not status["restartCount"]


async def test_a_missing_image_is_reported(real_node: RealNode, console: Runtime) -> None:
    with real_node.pod("web-2", container("app", "exec sleep 1000")):
        page = debugging(console, "tom", "web-2")
        sent = {**form_data(await page.asks()), "image": "localhost/nobody:1"}
        answer = await page.does(**sent)
        eventually(
            lambda: state(console, "web-2", sent["name"]).get("waiting", {}).get("message"),
            "the kubelet gave up",
        )
        text = await text_of(await page.client().get(answer["Location"]))
        assert f"Could not pull the image of container {sent['name']}" in text
        assert "localhost/nobody:1" in text


async def test_users_without_permission_cannot_debug(real_node: RealNode, console: Runtime) -> None:
    with real_node.pod("web-3", container("app", "exec sleep 1000")):
        page = debugging(console, "eve", "web-3")
        sent = {**form_data(await page.asks()), "image": IMAGE}
        assert "Permission denied by the cluster." in await page.refuses(403, **sent)
        assert "ephemeralContainers" not in real_node.read("web-3")["spec"]
