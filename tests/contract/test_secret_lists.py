"""The list of Secrets, read with the user's identity and without values; and revealing one value."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator

from console.audit.models import AuditRecord
from console.kube.gvr import NAMESPACES, SECRETS
from console.kube.runtime import Runtime
from console.live.limits import SocketCap
from console.routing import websocket_application
from console.ui.core.object_source import MOST_PROJECTS, check_access_not_denied, open_source
from console.ui.core.permissions import Denied
from console.ui.core.registry import kinds
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import VERSION, Grants, role_ref, rule, user
from tests.contract.objects import path, unique
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

CANARY = "hunter2-canary"
HIDDEN = base64.b64encode(CANARY.encode()).decode()
LIST = "/clusters/host/secrets"
NAMES = ("apple", "pear", "quince")


def secret(name: str, **fields: Any) -> Obj:
    """Return a Secret with kubectl's last-applied annotation, which repeats the values."""
    notes = {"kubectl.kubernetes.io/last-applied-configuration": f'{{"data":{{"key":"{HIDDEN}"}}}}'}
    meta = {"name": name, "annotations": notes, "labels": {"fruit": name}}
    return {"metadata": meta, "data": {"key": HIDDEN}, **fields}


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    runtime.require([NAMESPACES])
    eventually(lambda: live(runtime.informer(NAMESPACES)), "projects are known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()


@pytest.fixture(scope="module", autouse=True)
def _secrets(admin: Client, namespace: str) -> None:
    where = path(namespace, "secrets")
    admin.post(where, secret("apple")).ok()
    pair = {"tls.crt": HIDDEN, "tls.key": HIDDEN}
    admin.post(where, secret("pear", type="kubernetes.io/tls", data=pair)).ok()
    admin.post(where, secret("quince", data={}, immutable=True)).ok()


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch, namespace: str) -> FakeAccess:
    """A user whom the console allows to view and delete the Secrets of the namespace."""
    found = FakeAccess(unique("kate"), list_in={namespace}, delete_in={namespace})
    monkeypatch.setitem(VIEWERS, found.identity.name, lambda: found)
    return found


@pytest.fixture
def binding(cleanup: Cleanup, namespace: str, viewer: FakeAccess) -> str:
    """Grant the same permissions in the cluster and return the binding's name."""
    name = viewer.identity.name
    role = path(namespace, "roles", group=VERSION)
    rules = [rule("list watch delete", "secrets")]
    cleanup.admin.post(role, {"metadata": {"name": name}, "rules": rules}).ok()
    grants = Grants(cleanup, namespace)
    made = grants.bind_here(user(name), role_ref("Role", name))
    grants.wait(name, verb="list", resource="secrets", namespace=namespace)
    return path(namespace, "rolebindings", made, group=VERSION)


def let_read(viewer: FakeAccess, cleanup: Cleanup, namespace: str) -> None:
    """Allow the user to get Secrets in the cluster. The console's permissions are set by the test."""
    name = f"{viewer.identity.name}-get"
    role = path(namespace, "roles", group=VERSION)
    cleanup.admin.post(role, {"metadata": {"name": name}, "rules": [rule("get", "secrets")]}).ok()
    grants = Grants(cleanup, namespace)
    grants.bind_here(user(viewer.identity.name), role_ref("Role", name))
    grants.wait(viewer.identity.name, verb="get", resource="secrets", namespace=namespace)


async def get(viewer: FakeAccess, url: str) -> tuple[int, str]:
    """Request the page. Retry while the list is still loading (503), which happens on a busy
    machine.
    """
    for _turn in range(10):
        response = await ClientAs()(viewer.identity.name).get(url)
        if response.status_code != 503:
            break
    return response.status_code, await text_of(response)


async def names(viewer: FakeAccess, query: str) -> list[str]:
    status, text = await get(viewer, f"{LIST}?format=json&{query}")
    assert status == 200, text
    found = json.loads(text)["items"]
    return [item["name"] for item in found if item["name"] in NAMES]


async def test_secrets_are_listed_sorted_and_filtered(
    viewer: FakeAccess, binding: str, runtime: Runtime
) -> None:
    status, html = await get(viewer, LIST)
    assert status == 200, html
    assert all(f'data-key="{next(iter(viewer.list_in or ()))}/{name}"' in html for name in NAMES)
    assert await names(viewer, "sort=-name") == list(NAMES[::-1])
    assert await names(viewer, "sort=keys") == ["quince", "apple", "pear"]
    assert await names(viewer, "type=kubernetes.io/tls") == ["pear"]
    assert await names(viewer, "q=opaque") == ["apple", "quince"]
    assert await names(viewer, "label=fruit%3Dquince") == ["quince"]
    assert SECRETS not in runtime.informers()


async def test_no_value_leaves_the_cluster(viewer: FakeAccess, binding: str) -> None:
    for query in ("", "?format=json", "?format=csv", "?format=tsv", f"?q={HIDDEN}", f"?q={CANARY}"):
        status, text = await get(viewer, LIST + query)
        assert status == 200
        if "q=" in query:
            # A search for a value finds nothing.
            assert 'data-total="0"' in text
        else:
            assert CANARY not in text
            assert HIDDEN not in text


async def test_kube_apiserver_can_refuse_a_list_the_console_allowed(viewer: FakeAccess) -> None:
    for query in ("", "?format=json", "?format=csv"):
        status, text = await get(viewer, LIST + query)
        assert status == 403
        assert not any(name in text for name in NAMES)


async def test_lists_are_not_requested_for_users_without_permission(
    monkeypatch: pytest.MonkeyPatch, runtime: Runtime
) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("a list was asked for")

    monkeypatch.setattr(runtime, "live_list", never)
    assert (await ClientAs()("charlie").get(LIST)).status_code == 403
    assert (await ClientAs()("charlie").get(f"{LIST}?namespace=default")).status_code == 403


async def test_too_many_projects_require_a_selection(
    viewer: FakeAccess, binding: str, namespace: str
) -> None:
    viewer.list_in = {namespace, *(f"other-{number}" for number in range(MOST_PROJECTS))}
    status, html = await get(viewer, LIST)
    assert status == 400
    assert f"in at most {MOST_PROJECTS} projects" in html
    assert (await get(viewer, f"{LIST}?format=json"))[0] == 400
    assert await names(viewer, f"namespace={namespace}&sort=name") == list(NAMES)


@pytest.mark.django_db(transaction=True)
async def test_revealing_a_value_requires_get_permission_in_the_cluster(
    viewer: FakeAccess, binding: str, namespace: str, cleanup: Cleanup
) -> None:
    url = f"/clusters/host/projects/{namespace}/secrets/apple"
    viewer.get_in = {namespace}
    client = ClientAs()(viewer.identity.name)
    response = await client.post(f"{url}/actions/reveal")
    html = await text_of(response)
    assert response.status_code == 403
    assert "Permission denied by the cluster." in html and CANARY not in html
    let_read(viewer, cleanup, namespace)
    response = await client.post(f"{url}/actions/reveal")
    html = await text_of(response)
    assert response.status_code == 200, html
    assert f">{CANARY}</code>" in html and "managedFields" not in html
    assert CANARY not in await text_of(await client.get(url))
    codes = [row.code async for row in AuditRecord.objects.order_by("time")]
    assert codes == [403, 200]
    assert (await client.post(f"{url[:-5]}nothing/actions/reveal")).status_code == 404
    assert (await client.post(f"{url[:-5]}%2e%2e/actions/reveal")).status_code == 404


async def still_alive() -> bool:
    return True


async def test_a_live_list_updates_until_the_permission_is_revoked(
    viewer: FakeAccess,
    binding: str,
    admin: Client,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("console.kube.livelist.RECHECK", 0.5)
    monkeypatch.setattr("console.live.consumer.LiveConsumer.cap", SocketCap())
    socket = WebsocketCommunicator(websocket_application, "/ws/live")
    account = viewer.identity.name
    socket.scope |= {
        "account": account,
        "access_in": lambda _cluster: viewer,
        "session_alive": still_alive,
    }
    assert (await socket.connect())[0]
    await subscribe(socket, viewer)
    admin.post(path(namespace, "secrets"), secret("zucchini")).ok()
    while "zucchini" not in (frame := await socket.receive_from(timeout=10)):
        if "refresh" in frame and "zucchini" in await subscribe(socket, viewer):
            break
    assert HIDDEN not in frame
    admin.delete(path(namespace, "secrets", "zucchini")).ok()
    # The console's cached permissions are unchanged; the recheck with kube-apiserver ends the
    # subscription.
    admin.delete(binding).ok()
    while "error" not in (frame := await socket.receive_from(timeout=10)):
        assert HIDDEN not in frame
    assert json.loads(frame)["error"]["code"] == 403
    assert (await socket.receive_output(timeout=10))["code"] == 4403


async def subscribe(socket: WebsocketCommunicator, viewer: FakeAccess) -> str:
    """Subscribe as a page that was just loaded, and return the page."""
    page = await ClientAs()(viewer.identity.name).get(LIST)
    assert page.status_code == 200
    etag = page.context["table"].etag
    await socket.send_json_to({"subscribe": LIST, "etag": etag, "lang": "en"})
    return await text_of(page)


@pytest.mark.django_db(transaction=True)
async def test_a_secret_is_deleted_with_the_users_identity(
    viewer: FakeAccess, binding: str, admin: Client, namespace: str
) -> None:
    made = admin.post(path(namespace, "secrets"), secret("melon")).ok()
    url = f"/clusters/host/projects/{namespace}/secrets/melon/actions/delete"
    status, html = await get(viewer, url)
    assert (status, HIDDEN in html, CANARY in html) == (200, False, False)
    assert made["metadata"]["uid"] in html
    client = ClientAs()(viewer.identity.name)
    assert (await client.post(url, {"uid": made["metadata"]["uid"]})).status_code == 302
    assert admin.get(path(namespace, "secrets", "melon")).status == 404
    assert (await get(viewer, url))[0] == 404


@pytest.fixture
def unwatched(viewer: FakeAccess, namespace: str, cleanup: Cleanup) -> FakeAccess:
    """A user who can list but not watch Secrets, both in the console and in the cluster."""
    name, viewer.watch = viewer.identity.name, False
    role = path(namespace, "roles", group=VERSION)
    rules = [rule("patch delete list", "secrets")]
    cleanup.admin.post(role, {"metadata": {"name": name}, "rules": rules}).ok()
    grants = Grants(cleanup, namespace)
    grants.bind_here(user(name), role_ref("Role", name))
    grants.wait(name, verb="list", resource="secrets", namespace=namespace)
    return viewer


async def test_a_missing_watch_permission_is_reported(
    unwatched: FakeAccess, namespace: str
) -> None:
    """Lists that are read with the user's identity need `watch`. The page must not look like an
    empty list.
    """
    for query in ("", "?format=json", f"?namespace={namespace}"):
        status, text = await get(unwatched, LIST + query)
        assert status == 403 and not any(name in text for name in NAMES)
        assert "watch" in text, text


@pytest.mark.django_db(transaction=True)
async def test_a_secret_page_requires_only_get_permission(
    unwatched: FakeAccess, namespace: str, cleanup: Cleanup
) -> None:
    """A user without `get` receives 403, not "not found"."""
    one = f"/clusters/host/projects/{namespace}/secrets/apple"
    forms = (f"{one}/actions/labels", f"{one}/actions/keys")
    client = ClientAs()(unwatched.identity.name)
    unwatched.get_in = {namespace}
    for url in (one, *forms):
        assert (await get(unwatched, url))[0] == 403, url
    for url in forms:
        assert (await client.post(url, {"uid": "u"})).status_code == 403, url
    let_read(unwatched, cleanup, namespace)
    for url in (one, *forms):
        assert (await get(unwatched, url))[0] == 200, url


async def test_an_action_on_one_secret_does_not_list_secrets(
    viewer: FakeAccess,
    binding: str,
    namespace: str,
    cleanup: Cleanup,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A list could load thousands of objects and waits until the server's cache is up to date."""

    def never(*_: Any) -> Any:
        raise AssertionError("a list was asked for")

    let_read(viewer, cleanup, namespace)
    viewer.get_in = {namespace}
    monkeypatch.setattr(runtime, "live_list", never)
    url = f"/clusters/host/projects/{namespace}/secrets/apple/actions/delete"
    assert (await get(viewer, url))[0] == 200


async def test_a_watch_refused_by_kube_apiserver_is_denied(
    viewer: FakeAccess, unwatched: FakeAccess, namespace: str, runtime: Runtime
) -> None:
    kind = kinds.by_type(SECRETS)
    assert kind is not None
    viewer.watch = True
    with open_source(kind, viewer, (namespace,)) as found:
        eventually(lambda: found.refusal is not None, "the watch is refused")
        with pytest.raises(Denied) as refused:
            check_access_not_denied(kind, found)
    assert refused.value.verb == "watch"
