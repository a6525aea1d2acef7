"""Node shells: permissions, the pod of a shell, and its cleanup."""

import html
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from console.actions.node_shell import LABEL, MAX_LIFETIME
from console.kube.gvr import NAMESPACES, NODES, PODS, Key
from console.kube.runtime import Runtime
from console.terminals.shell_pods import delete_leftover_pods, is_leftover
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.grants import Grants, rule, user
from tests.contract.objects import create_pod, path, pod, unique
from tests.contract.pages import Page, Person, console_on, known, kubectl_line, person, recorded
from tests.controlplane.waiting import eventually
from tests.support.forms import form_data
from tests.support.responses import text_of
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
IMAGE = "example/nsenter:1"


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [NAMESPACES, NODES, PODS]) as found:
        yield found


@pytest.fixture(autouse=True)
def shells(settings: Settings, admin: Client, runtime: Runtime, namespace: str) -> str:
    """Return the namespace of node shells, after pods are admitted in it."""
    settings.NODE_SHELL_NAMESPACE = namespace
    settings.NODE_SHELL_IMAGE = IMAGE
    create_pod(admin, namespace, pod(unique("first")))
    known(runtime, NAMESPACES, admin.get(f"/api/v1/namespaces/{namespace}").ok())
    return namespace


@pytest.fixture
def node(cleanup: Cleanup, runtime: Runtime) -> Obj:
    made = cleanup.create("/api/v1/nodes", {"metadata": {"name": unique("node")}})
    known(runtime, NODES, made)
    return made


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, shells: str) -> Person:
    """A user with permission to create pods in that namespace and to view nodes."""
    found = person(monkeypatch, cleanup, shells, rule("get list", "nodes"))
    found.grants.here(
        user(found.name), rule("get create", "pods"), rule("create get", "pods/attach")
    )
    found.grants.wait(found.name, verb="create", resource="pods", namespace=shells)
    return found


def made_pods(admin: Client, namespace: str, node: Obj) -> list[Obj]:
    items = admin.get(path(namespace, "pods")).ok()["items"]
    ours = [one for one in items if one["spec"]["containers"][0]["image"] == IMAGE]
    return [one for one in ours if one["spec"].get("nodeName") == node["metadata"]["name"]]


async def test_the_node_shell_form_warns_about_the_privileged_pod(
    editor: Person, node: Obj, shells: str
) -> None:
    page, name = editor.on("shell", "nodes", node), node["metadata"]["name"]
    assert await page.is_offered("nodes", Key("", name))
    text = html.unescape(await page.asks())
    assert f"Open a shell on node {name}" in text
    assert f"A privileged pod starts on the node in project {shells}" in text and "root" in text
    assert "A node shell has no restrictions" in text and "after 4 hours" in text
    assert f"kubectl create -f - -n {shells}" in text


async def test_a_node_shell_creates_one_pod_with_the_users_identity(
    admin: Client, editor: Person, node: Obj, shells: str
) -> None:
    page, name = editor.on("shell", "nodes", node), node["metadata"]["name"]
    sent = form_data(await page.asks())
    answer = await page.does(**sent)
    where = f"/clusters/host/projects/{shells}/pods/{sent['name']}/terminal/starting"
    assert answer["Location"] == f"{where}?container=shell"
    assert "An object with this name already exists." in await page.refuses(409, **sent)
    [made] = made_pods(admin, shells, node)
    assert made["metadata"]["name"] == sent["name"]
    assert made["metadata"]["labels"] == {LABEL: "node"}
    spec = made["spec"]
    assert (spec["hostPID"], spec["hostNetwork"], spec["hostIPC"]) == (True, True, True)
    assert spec["activeDeadlineSeconds"] == 4 * 3600 and spec["restartPolicy"] == "Never"
    assert spec["automountServiceAccountToken"] is False and not spec.get("volumes")
    [container] = spec["containers"]
    assert container["securityContext"] == {"privileged": True}
    assert container["image"] == IMAGE and container["command"][0] == "nsenter"
    assert [one[:-1] for one in await recorded()] == [(editor.name, "create", "shell", name)] * 2
    waits = await page.client().get(answer["Location"])
    assert waits.status_code == 200 and "Starting shell" in await text_of(waits)


async def test_a_node_shell_has_the_same_effect_as_its_kubectl_command(
    admin: Client, editor: Person, node: Obj, shells: str, kubectl: Kubectl
) -> None:
    page = editor.on("shell", "nodes", node)
    sent = form_data(await page.asks())
    other = unique("by-line")
    refused = await page.client().post(page.url, {"name": other, "uid": "another"})
    assert refused.status_code == 409
    kubectl.line(kubectl_line(await text_of(refused)))
    await page.does(**sent)
    found = {one["metadata"]["name"]: one["spec"] for one in made_pods(admin, shells, node)}
    assert found.keys() == {other, sent["name"]}
    assert found[other] == found[sent["name"]]


async def test_node_shells_are_disabled_without_a_namespace(
    settings: Settings, admin: Client, editor: Person, node: Obj, shells: str
) -> None:
    page = editor.on("shell", "nodes", node)
    settings.NODE_SHELL_NAMESPACE = ""
    assert not await page.is_offered("nodes", Key("", node["metadata"]["name"]))
    assert "regardless of your permissions" in await page.refuses(403, name="shell")
    settings.NODE_SHELL_NAMESPACE = "nowhere"
    assert "Could not open a shell: project nowhere" in await page.refuses(409, name="shell")
    assert not made_pods(admin, shells, node)


@pytest.mark.parametrize("name", ["", "Not a name", "x" * 64, "<b>", "../x"])
async def test_invalid_pod_names_are_rejected(
    admin: Client, editor: Person, node: Obj, shells: str, name: str
) -> None:
    page = editor.on("shell", "nodes", node)
    answer = await page.client().post(page.url, {"uid": page.uid, "name": name})
    assert answer.status_code in (400, 422)
    assert "<b>" not in await text_of(answer) and not made_pods(admin, shells, node)


async def test_users_without_permission_cannot_open_a_node_shell(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    cleanup: Cleanup,
    editor: Person,
    node: Obj,
    shells: str,
) -> None:
    """Refused by the console or only by the cluster. A node with another UID is also refused."""
    page = editor.on("shell", "nodes", node)
    for who, missing in (("bob", "create pods"), ("charlie", "list nodes")):
        said = html.unescape(await Page(who, page.url, page.uid).refuses(403))
        assert f"You don't have permission to {missing}" in said
    text = await Page(editor.name, page.url, "another").refuses(409, name="shell")
    assert "replaced by another object with the same name" in text
    reader = person(monkeypatch, cleanup, shells, rule("get list", "nodes pods"))
    refused = await reader.on("shell", "nodes", node).refuses(403, name="shell")
    assert "Permission denied by the cluster." in refused
    elsewhere = person(monkeypatch, cleanup, shells, rule("get list", "nodes"))
    Grants(cleanup, "default").here(user(elsewhere.name), rule("get create", "pods"))
    refused = await elsewhere.on("shell", "nodes", node).refuses(403, name="shell")
    assert "Permission denied by the cluster." in refused
    assert not made_pods(admin, shells, node)


def test_finished_shell_pods_are_deleted(admin: Client, runtime: Runtime, shells: str) -> None:
    """Running pods and pods without the label are kept."""
    kept, runs, over = (unique(one) for one in ("kept", "runs", "over"))
    labels = {LABEL: "node"}
    for name, about in ((kept, {}), (runs, labels), (over, labels)):
        create_pod(admin, shells, pod(name, about))
    for name in (kept, over):
        at = f"{path(shells, 'pods', name)}/status"
        ended = admin.patch(at, {"status": {"phase": "Succeeded"}}, MERGE_PATCH).ok()
        known(runtime, PODS, ended)
    runtime.spawn(delete_leftover_pods(runtime)).result(timeout=20)
    there = path(shells, "pods")
    eventually(lambda: admin.get(f"{there}/{over}").status == 404, "it is gone")
    assert [admin.get(f"{there}/{name}").status for name in (kept, runs)] == [200, 200]
    entry = runtime.informer(PODS).store.get(Key(shells, runs))
    assert entry is not None
    assert not is_leftover(entry, datetime.now(UTC))
    assert is_leftover(entry, datetime.now(UTC) + MAX_LIFETIME + timedelta(minutes=2))
