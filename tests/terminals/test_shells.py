"""The pod of a kubectl or node shell is deleted when its terminal ends. Other pods stay."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import cast

import pytest
from pytest_django import Settings

from console.actions.node_shell import CONTAINER, LABEL
from console.audit.models import AuditRecord
from console.audit.trail import AuditAction
from console.kube.clock import SystemClock
from console.kube.errors import Unavailable
from console.kube.gvr import GVR, PODS, Key
from console.kube.runtime import Runtime
from console.live.sessionmonitor import get_session_monitor
from console.streams.stream import StreamRequest
from console.terminals.shell_pods import delete_leftover_pods, delete_shell_pod
from console.terminals.terminal import get_terminals
from console.ui.core.clusters import Cluster, clusters
from console.ui.core.requests import UserSession
from tests.logs.conftest import POD_PATH, World
from tests.rbac.fakes import FakeConsole
from tests.support.informers import bring, preloaded
from tests.terminals.conftest import TIMEOUT, Browser, typing
from tests.ui.support import FakeAccess, pod

pytestmark = pytest.mark.django_db(transaction=True)


class NoDelete(FakeAccess):
    def can(
        self, verb: str, gvr: GVR, *, namespace: str = "", name: str = "", subresource: str = ""
    ) -> bool:
        return verb != "delete"


@pytest.fixture(autouse=True)
async def _shells(settings: Settings) -> AsyncIterator[None]:
    settings.NODE_SHELL_NAMESPACE = "default"
    yield
    await get_terminals().close()


def opened(world: World, name: str, *, labelled: bool = True, container: str = CONTAINER) -> str:
    """Return the path of a terminal attached to the main process of a shell pod."""
    typed = {"name": container, "image": "busybox", "stdin": True, "tty": True}
    labels = {LABEL: "node"} if labelled else {}
    body = {
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [typed], "restartPolicy": "Never"},
    }
    path = world.start(body).removesuffix("/log")
    return f"{path}/terminal?container={container}&attach=1"


def is_there(world: World, name: str) -> bool:
    code, _body = world.api.call("GET", f"{POD_PATH}/{name}")
    return code == 200


async def is_gone(world: World, name: str) -> None:
    """Wait until the pod is deleted. The console needs the event loop for the deletion."""
    async with asyncio.timeout(TIMEOUT):
        while is_there(world, name):
            await asyncio.sleep(0.05)


async def deletions() -> list[tuple[str, str, int | None]]:
    rows = AuditRecord.objects.filter(verb="delete")
    return [(one.actor, one.name, one.code) async for one in rows]


async def test_shell_pod_is_deleted_when_the_shell_exits(world: World) -> None:
    mark = world.cluster.audit.mark()
    async with typing(Browser(opened(world, "left"))) as browser:
        await browser.prompt()
        await browser.type("exit\r")
        assert (await browser.last())["close"] == 1000
    await is_gone(world, "left")
    await get_terminals().close()
    assert await deletions() == [("admin", "left", 200)]
    [asked] = world.cluster.audit.requests_since(mark, verb="delete")
    assert asked.user == "admin"


async def test_shell_pod_is_deleted_when_the_user_closes_the_terminal(world: World) -> None:
    async with typing(Browser(opened(world, "ended"))) as browser:
        await browser.prompt()
        await browser.say(end=True)
        await browser.last()
    await is_gone(world, "ended")


async def test_console_deletes_the_shell_pod_if_its_user_may_not(world: World) -> None:
    mark = world.cluster.audit.mark()
    browser = Browser(opened(world, "kept"), access=NoDelete("admin", get_in=None))
    async with typing(browser):
        await browser.prompt()
        await browser.type("exit\r")
        await browser.last()
    await is_gone(world, "kept")
    [asked] = world.cluster.audit.requests_since(mark, verb="delete")
    assert asked.user != "admin"


async def test_shell_pod_is_deleted_when_the_session_ends(world: World) -> None:
    browser = Browser(opened(world, "over"))
    async with typing(browser):
        await browser.prompt()
        browser.alive = False
        get_session_monitor()._on_rights(clusters.host)
        await browser.last()
    await is_gone(world, "over")


@pytest.mark.parametrize(
    ("name", "place", "labelled", "container"),
    [
        ("unmarked", "default", False, CONTAINER),
        ("elsewhere", "shop", True, CONTAINER),
        ("nowhere", "", True, CONTAINER),
        ("another", "default", True, "app"),
    ],
)
async def test_other_pods_are_not_deleted(
    world: World, settings: Settings, name: str, place: str, labelled: bool, container: str
) -> None:
    settings.NODE_SHELL_NAMESPACE = place
    path = opened(world, name, labelled=labelled, container=container)
    async with typing(Browser(path)) as browser:
        await browser.prompt()
        await browser.type("exit\r")
        await browser.last()
    await get_terminals().close()
    assert is_there(world, name) and await deletions() == []


async def test_shell_pod_stays_when_an_exec_in_it_ends(world: World) -> None:
    path = opened(world, "used").partition("&attach")[0]
    async with typing(Browser(path)) as browser:
        await browser.prompt()
        await browser.type("exit\r")
        await browser.last()
    await get_terminals().close()
    assert is_there(world, "used") and await deletions() == []


class Refusing:
    """A console client that fails once because kube-apiserver is unavailable."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def delete(self, _gvr: GVR, *, name: str, **_about: str) -> None:
        self.asked.append(name)
        if len(self.asked) == 1:
            raise Unavailable("connection refused")


async def test_failed_deletion_does_not_stop_the_cleanup_of_other_pods() -> None:
    pods = preloaded(PODS)
    for name in ("one", "two"):
        body = pod(name, "default", labels={LABEL: "node"})
        bring(pods, {**body, "status": {"phase": "Succeeded"}})
    console = Refusing()
    runtime = SimpleNamespace(informer=lambda _gvr: pods, console=console, clock=SystemClock())
    await delete_leftover_pods(cast(Runtime, runtime))
    assert sorted(console.asked) == ["one", "two"]


async def test_recreated_pod_with_the_same_name_is_not_deleted() -> None:
    """The console has not received the new pod yet. The session has ended, so the console deletes."""
    body = {**pod("again", "default", labels={LABEL: "node"}), "status": {"phase": "Succeeded"}}
    pods = preloaded(PODS, [body])
    console = FakeConsole({PODS: pods})
    console.delayed = True
    console.put(PODS, {**body, "metadata": {**body["metadata"], "uid": "another"}})
    runtime = SimpleNamespace(informer=lambda _gvr: pods, console=console, clock=SystemClock())
    await delete_leftover_pods(cast(Runtime, runtime))

    async def over() -> bool:
        return False

    order = StreamRequest(
        cluster=cast(Cluster, SimpleNamespace(runtime=runtime)),
        account="admin",
        presence=UserSession(over, lambda _cluster: FakeAccess()),
        rights=(),
        gvr=PODS,
        key=Key("default", "again"),
        recorded=AuditAction("admin", "admin", "create", PODS, "default", "again", "attach"),
        path="",
    )
    await delete_shell_pod(order, body["metadata"]["uid"])
    assert "default/again" in console.of(PODS)
