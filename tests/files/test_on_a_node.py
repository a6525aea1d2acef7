"""Files of real containers, for users with Kubernetes RBAC permissions."""

import asyncio
import io
import os
import tarfile
from collections.abc import Iterator
from html import unescape
from re import DOTALL, findall
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from console.audit.models import AuditRecord
from console.files import commands, consumer, transfers
from console.kube.gvr import PODS, Key
from console.kube.runtime import Runtime
from console.live.limits import SocketCap
from tests.contract.grants import rule
from tests.controlplane.waiting import eventually
from tests.files.uploads import Uploader, upload
from tests.node.node import Obj, RealNode, container
from tests.node.users import Rights, console_of, decide, rights_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

RIGHTS: Rights = {
    "ada": [rule("*", "*", "*")],
    "tess": [rule("create get", "pods/exec")],
    "nora": [rule("get list", "pods"), rule("get", "pods/log", "pods/exec")],
}
#: Creates the files of the tests, in a container whose programs are links to busybox.
FILES = r"""
mkdir -p /srv/deep/er /srv/empty; cd /srv
printf 'one\000\377\r\n' > plain.bin; head -c 3000000 /dev/urandom > large
printf x > "$(printf 'new\nline')"; printf y > ./-rf; printf z > '<img src=x>'
printf q > "$(printf '\033[31m')"; printf w > "$(printf 'bad\377')"; printf inner > deep/er/file
ln -s deep link; ln -s /nowhere dangling
ln -s /etc/passwd outside; mkfifo pipe; chmod 640 plain.bin; chown 12:34 plain.bin; chmod 4755 ./-rf
echo ready; exec sleep infinity
"""


@pytest.fixture(scope="module")
def console(real_node: RealNode) -> Iterator[Runtime]:
    with console_of(real_node, RIGHTS, [PODS]) as found:
        eventually(lambda: rights_of("tess").can("get", PODS, subresource="exec"), "all may")
        yield found


@pytest.fixture(autouse=True)
def _people(monkeypatch: pytest.MonkeyPatch, console: Runtime) -> None:
    decide(monkeypatch, RIGHTS)
    monkeypatch.setattr(consumer.UploadConsumer, "cap", SocketCap(4))


@pytest.fixture(scope="module")
def pod(real_node: RealNode, console: Runtime) -> Iterator[str]:
    """Return the path of the files of a pod."""
    with real_node.pod("files", container("a", FILES), container("b", "sleep infinity")):
        eventually(lambda: real_node.log("files", "a") == ["ready"], "all files exist")
        yield files(console, "files")


def files(console: Runtime, name: str) -> str:
    pods = console.informer(PODS).store

    def runs() -> bool:
        entry = pods.get(Key("default", name))
        status = entry.original()["status"] if entry is not None else {}
        return "startedAt" in str(status.get("containerStatuses"))

    eventually(runs, f"{name} is known to run")
    return f"/clusters/host/projects/default/pods/{name}/files"


def at(pod: str, path: str, **more: str) -> str:
    return f"{pod}?{urlencode({'container': 'a', 'path': path, **more})}"


async def get(path: str, status: int = 200, who: str = "tess") -> str:
    answer = await ClientAs()(who).get(path)
    text: str = answer.content.decode() if not answer.streaming else "streamed"
    assert answer.status_code == status, text
    return text


async def download(path: str, who: str = "tess") -> tuple[Any, bytes]:
    answer = await ClientAs()(who).get(path)
    assert answer.status_code == 200, answer.content
    return answer, b"".join([piece async for piece in answer])


def rows(html: str) -> dict[str, list[str]]:
    """Return the texts of the rows by name."""
    found = {}
    for row in findall(r"<tr role=\"row\">\s*<th role=\"rowheader\"(.*?)</tr>", html, DOTALL):
        cells = [unescape("".join(findall(r">([^<]*)", one))).strip() for one in row.split("</t")]
        found[cells[0].lstrip(">")] = cells[1:5]
    return found


async def in_container(node: RealNode, *command: str) -> bytes:
    words = ("exec", "files", "-c", "a", "--", *command)
    return await asyncio.to_thread(node.cluster.kubectl_output, *words)


async def test_folder_is_listed_with_metadata(pod: str) -> None:
    found = rows(await get(at(pod, "/srv")))
    names = [*found]
    assert names[:2] == ["deep/", "empty/"]
    assert {"plain.bin", "-rf", "<img src=x>", "new⟨U+000A⟩line", "⟨U+001B⟩[31m", "pipe"} <= {
        *names
    }
    assert found["plain.bin"][:3] == ["7", "-rw-r-----", "12:34"]
    assert found["-rf"][:3] == ["1", "-rwsr-xr-x", "root:root"]
    assert found["large"][0] == "2.9Mi"
    assert any(name.startswith("link") and name.endswith("→ deep") for name in names)
    html = await get(at(pod, "/srv"))
    assert "<img" not in html and "\x1b" not in html
    assert "This folder is empty." in await get(at(pod, "/srv/empty"))
    assert "er/" in rows(await get(at(pod, "/srv/link")))
    assert "srv/" in rows(await get(at(pod, "/")))


async def test_missing_and_unsuitable_folders_are_explained(pod: str) -> None:
    assert "No such file or directory" in await get(at(pod, "/nowhere"))
    html = await get(at(pod, "/srv/plain.bin"))
    assert "Not a directory" in html and "Download as file" in html
    await get(at(pod, "/srv/.."), 400)
    await get(f"{pod}?container=zz", 400, "ada")
    await get(pod.replace("/files/", "/nobody/"), 404, "ada")


@pytest.mark.parametrize(
    "name", ["plain.bin", "large", "-rf", "new\nline", "<img src=x>", "\x1b[31m", "outside"]
)
async def test_file_is_downloaded_unchanged(real_node: RealNode, pod: str, name: str) -> None:
    answer, found = await download(at(pod, f"/srv/{name}", format="download"))
    assert found == await in_container(real_node, "cat", f"/srv/{name}")
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment") and "\n" not in str(
        answer.headers
    )


async def test_folder_is_downloaded_as_archive(pod: str) -> None:
    answer, found = await download(at(pod, "/srv", format="download"))
    assert answer["Content-Type"] == "application/x-tar"
    assert answer["Content-Disposition"] == 'attachment; filename="srv.tar"'
    with tarfile.open(fileobj=io.BytesIO(found)) as archive:
        assert {"./deep/er/file", "./plain.bin", "./link", "./new\nline"} <= {*archive.getnames()}
        inner = archive.extractfile("./deep/er/file")
        assert inner is not None and inner.read() == b"inner"
    _, linked = await download(at(pod, "/srv/link", format="download"))
    with tarfile.open(fileobj=io.BytesIO(linked)) as archive:
        assert "./er/file" in archive.getnames()


async def test_only_files_and_folders_are_downloaded(pod: str) -> None:
    await get(at(pod, "/srv/pipe", format="download"), 409)
    await get(at(pod, "/dev/zero", format="download"), 409)
    await get(at(pod, "/srv/dangling", format="download"), 404)
    await get(at(pod, "/", format="download"), 409)


async def test_too_large_download_is_aborted(pod: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a server, the body just ends."""
    monkeypatch.setattr(transfers, "MAX_DOWNLOAD", 1_000_000)
    _, found = await download(at(pod, "/srv/large", format="download"))
    assert len(found) <= 1_000_000


async def test_canceled_download_leaves_no_program(
    real_node: RealNode, pod: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is larger than the buffers of kubelet and kube-apiserver."""
    monkeypatch.setattr(commands, "DRAIN_SECONDS", 60.0)
    await in_container(real_node, "dd", "if=/dev/zero", "of=/srv/huge", "bs=1M", "count=100")
    answer = await ClientAs()("tess").get(at(pod, "/srv/huge", format="download"))
    body = aiter(answer)
    assert await anext(body)
    assert b"cat /srv/huge" in await in_container(real_node, "ps")
    # Django calls this in another thread if the browser disconnects.
    await asyncio.to_thread(answer.close)

    def ended() -> bool:
        words = ("exec", "files", "-c", "a", "--", "ps")
        return b"cat /srv/huge" not in real_node.cluster.kubectl_output(*words)

    await asyncio.to_thread(eventually, ended, "the program has ended", timeout=60)


@pytest.mark.parametrize("data", [b"", b"x\0\xff\r\n", os.urandom(2_000_000)], ids=len)
async def test_file_is_uploaded_over_a_websocket(
    real_node: RealNode, pod: str, data: bytes
) -> None:
    name = f"up {len(data)} <b>.bin"
    last = await upload(at(pod, "/srv/empty"), rights_of("tess"), name, data)
    assert last["done"] == f"Uploaded {name} to /srv/empty." and last["close"] == 1000
    found = await in_container(real_node, "cat", f"/srv/empty/{name}")
    assert len(found) == len(data) and found == data
    assert b".upload" not in await in_container(real_node, "ls", "-A", "/srv/empty")
    await in_container(real_node, "rm", f"/srv/empty/{name}")


async def test_existing_file_is_replaced_only_on_request(real_node: RealNode, pod: str) -> None:
    await in_container(real_node, "sh", "-c", "mkdir -p /srv/over/dir; echo old > /srv/over/a")
    path, access = at(pod, "/srv/over"), rights_of("tess")
    last = await upload(path, access, "a", b"")
    assert last["error"]["code"] == 409 and "a already exists." in last["error"]["message"]
    last = await upload(path, access, "dir", b"", replace=True)
    assert "dir exists and is not a regular file." in last["error"]["message"]
    assert await in_container(real_node, "cat", "/srv/over/a") == b"old\n"
    assert "done" in await upload(path, access, "a", b"new", replace=True)
    assert await in_container(real_node, "cat", "/srv/over/a") == b"new"


async def test_canceled_upload_leaves_no_file(real_node: RealNode, pod: str) -> None:
    await in_container(real_node, "mkdir", "-p", "/srv/cut")
    uploader = await Uploader(at(pod, "/srv/cut"), rights_of("tess")).begin(name="a", size=10**6)
    await uploader.send(b"x" * 60_000)
    assert b".upload" in await in_container(real_node, "ls", "-A", "/srv/cut")
    await uploader.socket.disconnect(timeout=20)
    assert await in_container(real_node, "ls", "-A", "/srv/cut") == b""


async def test_failed_upload_is_explained(pod: str, monkeypatch: pytest.MonkeyPatch) -> None:
    access = rights_of("tess")
    last = await upload(at(pod, "/proc"), access, "a", b"")
    assert last["error"]["code"] == 409 and "The container reported an error:" in str(last)
    last = await upload(at(pod, "/srv"), access, "../a", b"")
    assert (last["error"]["code"], last["close"]) == (400, 1008)
    monkeypatch.setattr(consumer, "MAX_UPLOAD", 10)
    last = await upload(at(pod, "/srv"), access, "a", b"")
    assert "done" in last
    uploader = await Uploader(at(pod, "/srv"), access).begin(name="b", size=11)
    assert (await uploader.last())["error"]["code"] == 413


async def test_browser_that_sends_too_much_is_disconnected(pod: str) -> None:
    uploader = await Uploader(at(pod, "/srv/empty"), rights_of("tess")).begin(name="a", size=10**8)
    for _ in range(20):
        await uploader.socket.send_to(bytes_data=b"x" * 60_000)
    assert (await uploader.last())["close"] == 1008


async def test_file_is_uploaded_with_a_form(real_node: RealNode, pod: str) -> None:
    form = {"file": SimpleUploadedFile("form.txt", b"by form"), "replace": "1"}
    answer = await ClientAs()("tess").post(at(pod, "/srv/deep"), form)
    assert answer.status_code == 302 and "path=%2Fsrv%2Fdeep" in answer["Location"]
    assert await in_container(real_node, "cat", "/srv/deep/form.txt") == b"by form"
    answer = await ClientAs()("tess").post(at(pod, "/srv/deep"), {})
    assert answer.status_code == 400


async def test_missing_programs_are_named(real_node: RealNode, console: Runtime) -> None:
    tools, nothing = {"name": "tools", "mountPath": "/tools"}, {"name": "no", "mountPath": "/bin"}
    bare = {
        **container("a", ""),
        "command": ["/tools/busybox", "sleep", "infinity"],
        "volumeMounts": [tools, nothing],
    }
    copies = container("copies", "cp /bin/busybox /tools/", volumeMounts=[tools])
    volumes: list[Obj] = [{"name": name, "emptyDir": {}} for name in ("tools", "no")]
    with real_node.pod("bare", bare, initContainers=[copies], volumes=volumes):
        path = files(console, "bare")
        html = await get(at(path, "/"))
        assert "This container has no find." in html and "Upload" not in html
        assert "Add a debug container" not in html
        assert "Add a debug container" in await get(at(path, "/"), who="ada")
        await get(at(path, "/tools", format="download"), 409)
        last = await upload(at(path, "/"), rights_of("tess"), "a", b"")
        assert last["error"]["message"] == "This container has no stat."


@pytest.mark.parametrize("who", ["nora", "stranger"])
async def test_user_without_permission_is_refused(
    pod: str, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(monkeypatch, {who: []})
    for path in (at(pod, "/srv"), at(pod, "/srv/plain.bin", format="download")):
        assert "pods/exec" in await get(path, 403, who)
    answer = await ClientAs()(who).post(at(pod, "/srv"), {})
    assert answer.status_code == 403
    last = await upload(at(pod, "/srv"), rights_of(who), "a", b"")
    assert (last["error"]["code"], last["close"]) == (403, 4403)


async def test_user_who_views_as_another_user_cannot_upload(pod: str) -> None:
    uploader = Uploader(at(pod, "/srv"), rights_of("tess"), writes=False)
    last = await (await uploader.begin(name="a", size=0)).last()
    assert last["error"]["code"] == 403
    uploader = Uploader(at(pod, "/srv"), rights_of("tess"))
    last = await (await uploader.begin(name="a", size=0, page="another")).last()
    assert last["error"]["code"] == 403 and "Reload the page." in last["error"]["message"]


async def test_each_program_is_recorded_in_the_audit_trail(pod: str) -> None:
    before = {one.pk async for one in AuditRecord.objects.all()}
    await download(at(pod, "/srv/plain.bin", format="download"))
    found = [one async for one in AuditRecord.objects.order_by("pk") if one.pk not in before]
    assert [(one.verb, one.subresource, one.name, one.code) for one in found] == [
        ("create", "exec", "files", 200)
    ] * 2
    assert found[1].message.startswith("cat /srv/plain.bin; container a; exit code 0;")
