"""Files of containers in the embedded cluster."""

import io
import re
import tarfile
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from console.kube.gvr import PODS as PODS_TYPE
from console.kube.gvr import Key
from tests.controlplane.waiting import eventually
from tests.logs.conftest import World
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs
from tests.views.viewers import VIEWERS

pytestmark = pytest.mark.django_db(transaction=True)

PODS = "/clusters/host/projects/default/pods"
NOWHERE = {"nodeSelector": {"no": "where"}, "containers": [{"name": "app", "image": "x"}]}
admin = ClientAs()("admin")


async def get(path: str, status: int = 200, who: str = "admin") -> str:
    answer = await ClientAs()(who).get(path)
    text = await text_of(answer)
    assert answer.status_code == status, text
    return text


async def test_folders_lead_to_files_and_downloads(world: World) -> None:
    path = world.start(world.pod("files")).removesuffix("/log") + "/files"
    html = await get(path)
    assert 'aria-current="page">Files</a>' in html
    [etc] = re.findall(r'href="([^"]*)">etc/</a>', html)
    html = await get(path + unescape(etc))
    [download] = re.findall(r'href="([^"]*)" download aria-label="Download hostname"', html)
    assert await get(path + unescape(download)) == "files\n"
    [folder] = re.findall(r'href="([^"]*)" download>', html)
    answer = await admin.get(path + unescape(folder))
    data = b"".join([piece async for piece in answer])
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        assert "./hostname" in archive.getnames()


async def test_form_uploads_a_file_once(world: World) -> None:
    path = world.start(world.pod("form")).removesuffix("/log") + "/files?path=/tmp"
    for replace, code in (("", 302), ("", 409), ("1", 302)):
        file = SimpleUploadedFile("a.txt", b"hello" + replace.encode())
        answer = await admin.post(path, {"file": file, "replace": replace})
        assert answer.status_code == code
    assert await get(f"{path}/a.txt&format=download") == "hello1"


async def test_upload_requires_a_csrf_token(world: World) -> None:
    path = world.start(world.pod("csrf")).removesuffix("/log") + "/files?path=/tmp"
    client = type(admin)({"X-Cast": "admin"}, csrf=True)
    answer = await client.post(path, {"file": SimpleUploadedFile("a.txt", b"")})
    assert answer.status_code == 403


async def test_pages_of_stopped_and_missing_containers_explain(world: World) -> None:
    world.api.post("/api/v1/namespaces/default/pods", {**world.pod("idle"), "spec": NOWHERE})
    known = world.runtime.informer(PODS_TYPE).store
    eventually(lambda: known.get(Key("default", "idle")), "the pod is known")
    html = await get(f"{PODS}/idle/files")
    assert "No container in this pod is running." in html and "Upload" not in html
    await get(f"{PODS}/idle/files?format=download&path=/etc", 409)
    await get(f"{PODS}/nobody/files", 404)
    await get(f"{PODS}/idle/files?container=zz", 400)
    await get(f"{PODS}/idle/files?path=etc", 400)
    await get("/clusters/host/projects/default/services/idle/files", 404)


async def test_refusal_of_the_cluster_is_explained_on_the_page_of_the_pod(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The console believes that editor has the permission."""
    monkeypatch.setitem(VIEWERS, "editor", lambda: FakeAccess("editor", get_in=None))
    path = world.start(world.pod("closed")).removesuffix("/log") + "/files"
    html = await get(path, 403, "editor")
    assert "Permission denied by the cluster" in html and "pods/exec" in html
    assert 'aria-current="page">Files</a>' in html
    main = html.partition("<main")[2].partition("</main>")[0]
    assert "Upload" not in main and "Download" not in main


@pytest.mark.parametrize("path", ["/$(id)", "/;id", "/-rf", "/a b", "/%0a", "/'\"", "/*", "/{}"])
async def test_path_is_one_argument_of_the_program(world: World, path: str) -> None:
    start = world.start(world.pod(f"args-{len(path)}-{ord(path[1])}")).removesuffix("/log")
    html = await get(f"{start}/files?path={path}")
    assert "No such file or directory" in html
