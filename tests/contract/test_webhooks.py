"""An unresponsive admission webhook during an action, an edit, and an import: the error names the
webhook, nothing is changed if its failure policy is Fail, and the user's input is kept. Runs on
the real cluster, which calls a server started by the test.
"""

import base64
import html
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from console.kube.gvr import CONFIG_MAPS, DEPLOYMENTS, Key
from console.kube.runtime import Runtime
from console.ui.core.links import edit_url
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.edit_forms import Form, form_of
from tests.contract.grants import rule
from tests.contract.objects import config_map, deployment, path, unique
from tests.contract.pages import Person, console_on, known, person
from tests.controlplane.pki import Authority
from tests.controlplane.waiting import eventually
from tests.support.forms import form_data
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "policy.example.com"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
RULES = [
    {"apiGroups": [""], "resources": ["configmaps"]},
    {"apiGroups": ["apps"], "resources": ["deployments", "deployments/scale"]},
]


class Silent(ThreadingHTTPServer):
    """A server that accepts requests and never responds."""

    def __init__(self) -> None:
        self.asked = 0
        self.ended = Event()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: Silent

    def do_POST(self) -> None:
        self.server.asked += 1
        self.server.ended.wait()

    def log_message(self, format: str, *args: object) -> None: ...


@dataclass(frozen=True)
class Webhook:
    """A webhook configuration. `make` installs it for one project with a timeout of one second."""

    server: Silent
    authority: bytes
    cleanup: Cleanup
    namespace: str

    def make(self, policy: str) -> None:
        changes = {"apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"]}
        webhook = {
            "name": NAME,
            "clientConfig": {
                "url": f"https://127.0.0.1:{self.server.server_port}/",
                "caBundle": base64.b64encode(self.authority).decode(),
            },
            "rules": [{**one, **changes} for one in RULES],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.namespace}},
            "failurePolicy": policy,
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "timeoutSeconds": 1,
        }
        self.cleanup.create(WEBHOOKS, {"metadata": {"name": unique("slow")}, "webhooks": [webhook]})
        where, body = path(self.namespace, "configmaps"), config_map(unique("try"))

        def is_asked() -> bool:
            before = self.server.asked
            self.cleanup.admin.post(f"{where}?dryRun=All", body)
            return self.server.asked > before

        eventually(is_asked, "it is asked")


@pytest.fixture(scope="package")
def cluster(real_cluster: Cluster) -> Cluster:
    return real_cluster


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [CONFIG_MAPS, DEPLOYMENTS]) as found:
        yield found


@pytest.fixture
def webhook(
    tmp_path_factory: pytest.TempPathFactory, admin: Client, namespace: str
) -> Iterator[Webhook]:
    authority = Authority(tmp_path_factory.mktemp("webhook"))
    pair = authority.server("webhook", hosts=["localhost"], addresses=["127.0.0.1"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    with Silent() as server, ExitStack() as stack:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever)
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        stack.callback(server.ended.set)
        certificate = authority.certificate.read_bytes()
        yield Webhook(server, certificate, Cleanup(admin, stack), namespace)


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    config_maps = rule("get list patch create", "configmaps")
    scaling = rule("get list patch", "deployments deployments/scale", "apps")
    return person(monkeypatch, cleanup, namespace, config_maps, scaling)


@pytest.fixture
def made(admin: Client, runtime: Runtime, namespace: str) -> Obj:
    found: Obj = admin.post(path(namespace, "configmaps"), config_map(unique("s"), k="v")).ok()
    known(runtime, CONFIG_MAPS, found)
    return found


def timed_out(text: str) -> bool:
    said = html.unescape(text)
    return (
        "The cluster rejected the request." in said and NAME in said and "deadline exceeded" in said
    )


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_labels_are_saved_or_kept_in_the_form(
    webhook: Webhook, admin: Client, made: Obj, editor: Person, policy: str
) -> None:
    page = editor.on("labels", "configmaps", made)
    typed = {**form_data(await page.asks()), "labels": "kept=yes"}
    webhook.make(policy)
    if policy == "Ignore":
        await page.does(**typed)
    else:
        text = await page.refuses(502, **typed)
        assert timed_out(text) and "kept=yes" in text
    where = path(webhook.namespace, "configmaps", made["metadata"]["name"])
    labels = admin.get(where).ok()["metadata"].get("labels", {})
    assert labels == ({"kept": "yes"} if policy == "Ignore" else {})


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_a_deployment_is_scaled_or_unchanged(
    webhook: Webhook, admin: Client, runtime: Runtime, editor: Person, policy: str
) -> None:
    where = path(webhook.namespace, "deployments", group="apps/v1")
    made = admin.post(where, deployment(unique("web"), "example/app:1")).ok()
    known(runtime, DEPLOYMENTS, made)
    page = editor.on("scale", "deployments", made)
    webhook.make(policy)
    if policy == "Ignore":
        await page.does(replicas="2")
    else:
        text = await page.refuses(502, replicas="2")
        assert timed_out(text) and 'value="2"' in text
    found = admin.get(f"{where}/{made['metadata']['name']}").ok()
    assert found["spec"]["replicas"] == (2 if policy == "Ignore" else 0)


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_a_manifest_is_saved_or_kept_in_the_editor(
    webhook: Webhook, admin: Client, made: Obj, editor: Person, policy: str
) -> None:
    name = made["metadata"]["name"]
    url = edit_url("host", "configmaps", Key(webhook.namespace, name))
    client = ClientAs()(editor.name)

    async def sent(form: Form, step: str) -> Form:
        answer = await client.post(url, {**form.fields, "step": step})
        return form_of(answer.status_code, await text_of(answer))

    opened = form_of(200, await text_of(await client.get(url)))
    text = opened.text.replace("k: v", "k: typed")
    webhook.make(policy)
    reviewed = await sent(opened.with_text(text), "review")
    if policy == "Ignore":
        assert (await sent(reviewed, "save")).status == 302
    else:
        # Admission also runs for a dry run.
        assert reviewed.status == 502 and timed_out(reviewed.html) and reviewed.text == text
    found = admin.get(path(webhook.namespace, "configmaps", name)).ok()
    assert found["data"] == {"k": "typed" if policy == "Ignore" else "v"}


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_a_new_object_is_created_or_its_yaml_is_kept(
    webhook: Webhook, admin: Client, runtime: Runtime, editor: Person, policy: str
) -> None:
    name = unique("new")
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  k: typed\n"
    webhook.make(policy)
    data = {"step": "create", "text": text, "namespace": webhook.namespace}
    answer = await ClientAs()(editor.name).post("/clusters/host/import", data)
    page = html.unescape(await text_of(answer))
    found = admin.get(path(webhook.namespace, "configmaps", name))
    if policy == "Ignore":
        assert found.ok()["data"] == {"k": "typed"}
    else:
        assert found.status == 404
        assert NAME in page and "deadline exceeded" in page and "k: typed" in page
