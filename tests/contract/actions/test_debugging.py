"""Debug containers, which are added to a pod as `kubectl debug` does."""

import html
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import PODS, Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.grants import rule
from tests.contract.objects import create_pod, path, pod, unique
from tests.contract.pages import (
    Page,
    Person,
    console_on,
    known,
    kubectl_line,
    person,
    recorded,
    refused_to_strangers,
)
from tests.support.forms import form_data
from tests.support.responses import text_of
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

RIGHTS = (
    rule("get list", "pods"),
    rule("create get", "pods/attach"),
    rule("patch", "pods/ephemeralcontainers"),
)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [PODS]) as found:
        yield found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(monkeypatch, cleanup, namespace, *RIGHTS)


@pytest.fixture
def made(admin: Client, runtime: Runtime, namespace: str) -> Obj:
    first = {"name": "first", "image": "example/first:1"}
    sidecar = {"name": "side", "image": "example/side:1", "restartPolicy": "Always"}
    found = create_pod(admin, namespace, pod(unique("web"), initContainers=[first, sidecar]))
    known(runtime, PODS, found)
    return found


def debuggers(admin: Client, made: Obj) -> list[dict[str, Any]]:
    about = made["metadata"]
    found = admin.get(path(about["namespace"], "pods", about["name"])).ok()
    return list(found["spec"].get("ephemeralContainers", ()))


@pytest.mark.newer_kubernetes
async def test_the_debug_form_shows_the_kubectl_command(editor: Person, made: Obj) -> None:
    about = made["metadata"]
    page = editor.on("debug", "pods", made)
    assert await page.is_offered("pods", Key(about["namespace"], about["name"]))
    drawn_page = await page.asks()
    name, text = form_data(drawn_page)["name"], html.unescape(drawn_page)
    line = (
        f"kubectl debug {about['name']} -it --image=busybox --container={name} --target=main "
        f"--profile=general -n {about['namespace']}"
    )
    assert line in text
    assert "Kubernetes cannot remove a debug container from a pod" in text
    for target in ("main", "side", ""):
        assert f'<option value="{target}"' in text
    assert '<option value="first"' not in text


@pytest.mark.also_old
async def test_debugging_adds_an_ephemeral_container(
    admin: Client, runtime: Runtime, editor: Person, made: Obj
) -> None:
    page, about = editor.on("debug", "pods", made), made["metadata"]
    sent = {**form_data(await page.asks()), "image": "example/tools:1", "target": "main"}
    sent |= {"profile": "general", "command": "sh -c 'id; sh'"}
    for _twice in range(2):
        answer = await page.does(**sent)
        where = f"/clusters/host/projects/{about['namespace']}/pods/{about['name']}/terminal"
        assert answer["Location"] == f"{where}/starting?container={sent['name']}"
        [found] = debuggers(admin, made)
        assert found["name"] == sent["name"] and found["image"] == "example/tools:1"
        assert found["command"] == ["sh", "-c", "id; sh"] and found["stdin"] and found["tty"]
        assert found["targetContainerName"] == "main"
        assert found["securityContext"] == {"capabilities": {"add": ["SYS_PTRACE"]}}
    record = (editor.name, "patch", "ephemeralcontainers", about["name"], 200)
    assert await recorded() == [record] * 2
    waits = await page.client().get(answer["Location"])
    assert waits.status_code == 200 and f"Starting {sent['name']}" in await text_of(waits)


@pytest.mark.parametrize("profile", ["general", "baseline", "restricted", "netadmin", "sysadmin"])
@pytest.mark.parametrize(("target", "command"), [("main", ""), ("", "sh -c 'echo \"$0\"; sh'")])
async def test_debugging_has_the_same_effect_as_its_kubectl_command(
    admin: Client,
    editor: Person,
    made: Obj,
    kubectl: Kubectl,
    profile: str,
    target: str,
    command: str,
) -> None:
    page = editor.on("debug", "pods", made)
    sent = {**form_data(await page.asks()), "image": "example/tools:1"}
    sent |= {"target": target, "profile": profile, "command": command}
    refused = await page.client().post(page.url, {**sent, "uid": "another", "name": "by-line"})
    line = kubectl_line(await text_of(refused))
    # Without this change, kubectl would wait for the container, which never starts on this node.
    kubectl.line(line.replace(" -it ", " -it --attach=false "))
    await page.does(**sent)
    found = {one.pop("name"): one for one in debuggers(admin, made)}
    assert found.keys() == {"by-line", sent["name"]}
    assert found["by-line"] == found[sent["name"]], line


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [
        ({"image": ""}, 400, "Image: This field is required."),
        ({"image": "example/a b"}, 400, "Image: An image name cannot contain spaces."),
        ({"image": "x" * 1001}, 400, "Image: Use at most 1000 characters."),
        ({"target": "other"}, 400, "This option is no longer available. Choose another option."),
        ({"target": "first"}, 400, "This option is no longer available. Choose another option."),
        ({"profile": "legacy"}, 400, "This option is no longer available. Choose another option."),
        ({"command": "sh -c 'x"}, 400, "A quotation mark is missing."),
        ({"name": "main"}, 422, 'Duplicate value: "main"'),
        ({"name": "Not a name"}, 422, "Invalid value"),
        ({"name": "-" * 64}, 400, "Use at most 63 characters."),
        ({"uid": "another"}, 409, "replaced by another object with the same name"),
    ],
)
async def test_invalid_debug_options_are_reported(
    admin: Client, editor: Person, made: Obj, sent: dict[str, str], code: int, said: str
) -> None:
    page = editor.on("debug", "pods", made)
    fields = {**form_data(await page.asks()), "target": "main", "profile": "general", **sent}
    uid = fields.pop("uid", page.uid)
    answer = await page.client().post(page.url, {**fields, "uid": uid})
    text = html.unescape(await text_of(answer))
    assert said in text, text
    assert answer.status_code in ((409, 422) if code == 409 else (code,))
    assert not debuggers(admin, made)


@pytest.mark.parametrize(
    "image", ["<script>alert(1)</script>", "../../etc", "--privileged", "‮gpj.x", "$(reboot)"]
)
async def test_a_hostile_image_name_is_escaped_and_quoted(
    editor: Person, made: Obj, image: str
) -> None:
    page = editor.on("debug", "pods", made)
    fields = {**form_data(await page.asks()), "target": "", "profile": "general", "image": image}
    answer = await page.client().post(page.url, {**fields, "uid": "another"})
    text = await text_of(answer)
    assert "<script>alert" not in text and "\u202e" not in text
    assert answer.status_code in (400, 409, 422)


async def test_users_without_permission_cannot_debug(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    editor: Person,
    made: Obj,
) -> None:
    """Refused by the console, or only by the cluster."""
    sent = form_data(await editor.on("debug", "pods", made).asks())
    sent |= {"target": "main", "profile": "general"}
    await refused_to_strangers(editor.on("debug", "pods", made), "")
    reader = person(monkeypatch, cleanup, namespace, *RIGHTS[:2])
    page: Page = reader.on("debug", "pods", made)
    assert "Permission denied by the cluster." in await page.refuses(403, **sent)
    assert not debuggers(admin, made)


async def test_a_finished_pod_cannot_be_debugged(
    admin: Client, runtime: Runtime, editor: Person, made: Obj, namespace: str
) -> None:
    at = path(namespace, "pods", made["metadata"]["name"])
    body = {"status": {"phase": "Succeeded"}}
    known(runtime, PODS, admin.patch(f"{at}/status", body, MERGE_PATCH).ok())
    page = editor.on("debug", "pods", made)
    answer = await page.client().get(page.url)
    assert answer.status_code == 409
