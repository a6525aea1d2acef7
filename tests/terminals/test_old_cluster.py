"""Terminals and files on Kubernetes before 1.30, which has only version 4 of the stream protocol."""

import pytest

from console.files import transfers
from console.kube.clients import UserClient
from console.kube.errors import NodeRefused, UnsupportedProtocol
from console.terminals.command import V4
from console.terminals.consumer import terminal_error_text
from devcluster.releases import Release
from tests.files.uploads import upload
from tests.logs.conftest import World
from tests.terminals.conftest import Browser, typing, typist

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def release() -> Release:
    return Release(21)


def path_of(world: World, name: str, page: str) -> str:
    return world.start(world.pod(name)).removesuffix("/log") + f"/{page}"


async def test_shell_runs(world: World) -> None:
    async with typing(Browser(path_of(world, "old", "terminal?"))) as browser:
        assert await browser.run("echo $((6 * 7))") == "42"
        await browser.say(size=(70, 20))
        await browser.prompt()
        await browser.type("exit 3\n")
        assert (await browser.last())["ended"]["code"] == 3


async def test_uploaded_file_is_complete(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program that writes the file can't read the end of its input."""
    page = path_of(world, "files", "files")
    data = bytes(range(256)) * 300
    found = await upload(f"{page}?path=/tmp", typist(), "data.bin", data)
    assert found["close"] == 1000, found
    monkeypatch.setattr(transfers, "_FINISH_SECONDS", 5.0)
    found = await upload(f"{page}?path=/proc", typist(), "data.bin", b"")
    assert found["error"]["code"] == 409, found
    assert "The container reported an error" in found["error"]["message"]


async def test_unsupported_protocol_is_not_reported_as_a_missing_permission(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = UserClient.connect

    def newer(self, path, _protocols, *args, **more):  # type: ignore[no-untyped-def]
        return connect(self, path, ["v6.channel.k8s.io"], *args, **more)

    monkeypatch.setattr(UserClient, "connect", newer)
    browser = await Browser(path_of(world, "newer", "terminal?")).begin()
    found = await browser.last()
    await browser.leave()
    text = "The node of the pod supports none of the stream protocols v6.channel.k8s.io."
    assert (found["error"]["code"], found["error"]["message"], found["close"]) == (502, text, 4403)


def test_refusal_of_the_node_names_the_kubelet() -> None:
    assert "the node of the pod refused it" in terminal_error_text(NodeRefused())
    assert V4 in terminal_error_text(UnsupportedProtocol([V4]))
