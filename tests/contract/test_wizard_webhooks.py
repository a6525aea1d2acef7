"""Admission webhooks that refuse or change the objects of a wizard. Runs on the real cluster, which
calls a server started by the test.
"""

import html
from collections.abc import Iterator
from pathlib import Path

import pytest

from console.kube.gvr import DEPLOYMENTS
from console.kube.runtime import Runtime
from tests.contract.admission import NAME, AdmissionServer, admission, patched, refusal
from tests.contract.cleanup import Cleanup
from tests.contract.client import Obj
from tests.contract.cluster import Cluster
from tests.contract.import_pages import Desk, desk
from tests.contract.objects import deployment, path, unique
from tests.contract.pages import console_on
from tests.contract.wizard_pages import GROUP, begin
from tests.controlplane.waiting import eventually
from tests.views.conftest import _site

__all__ = ["_site", "desk"]

pytestmark = pytest.mark.django_db(transaction=True)
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/"


@pytest.fixture(scope="package")
def cluster(real_cluster: Cluster) -> Cluster:
    return real_cluster


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [DEPLOYMENTS]) as found:
        yield found


@pytest.fixture
def server(tmp_path: Path, runtime: Runtime) -> Iterator[AdmissionServer]:
    with admission(tmp_path, lambda _asked: {"allowed": True}) as found:
        yield found


def install(server: AdmissionServer, cleanup: Cleanup, desk: Desk, kind: str) -> None:
    """Install the webhook for Deployments, and wait until the cluster calls it."""
    asked: list[Obj] = []
    answer = server.answer

    def heard(request: Obj) -> Obj:
        asked.append(request)
        return answer(request)

    server.answer = heard
    plural = f"{kind.lower()}s"
    cleanup.create(
        f"{WEBHOOKS}{plural}", server.configuration(kind, desk.namespace, [("apps", "deployments")])
    )
    where = path(desk.namespace, "deployments", group=GROUP)

    def is_asked() -> bool:
        desk.admin.post(f"{where}?dryRun=All", deployment(unique("try"), "example/a:1"))
        return bool(asked)

    eventually(is_asked, "the webhook is called")
    server.answer = answer


async def test_a_refusal_of_a_webhook_is_shown_and_nothing_is_lost(
    server: AdmissionServer, cleanup: Cleanup, desk: Desk
) -> None:
    install(server, cleanup, desk, "ValidatingWebhookConfiguration")
    name = unique("wizard")
    visitor = await begin(desk, name)
    await visitor.press("go.review")
    assert "Can be created" in visitor.html
    server.answer = lambda _asked: refusal("replicas must be odd")
    await visitor.press("create")
    said = html.unescape(visitor.html)
    assert visitor.status == 409, said
    assert f'admission webhook "{NAME}" denied the request: replicas must be odd' in said
    assert desk.admin.get(desk.path("deployments", name, GROUP)).status == 404
    await visitor.press("go.basics")
    assert visitor.fields["name"] == name and visitor.fields["replicas"] == "2"
    server.answer = lambda _asked: {"allowed": True}
    await visitor.press("go.review", replicas="3")
    await visitor.press("create")
    assert "Objects created" in visitor.html, visitor.form
    assert desk.admin.get(desk.path("deployments", name, GROUP)).ok()["spec"]["replicas"] == 3


async def test_a_change_of_a_webhook_is_shown_in_the_review(
    server: AdmissionServer, cleanup: Cleanup, desk: Desk
) -> None:
    install(server, cleanup, desk, "MutatingWebhookConfiguration")
    container = "/spec/template/spec/containers/0"
    server.answer = lambda _asked: patched(
        {"op": "replace", "path": f"{container}/image", "value": "mirror.example.com/web:1"},
        {"op": "add", "path": "/metadata/labels/team", "value": "payments"},
    )
    name = unique("wizard")
    visitor = await begin(desk, name)
    await visitor.press("go.review")
    said = html.unescape(visitor.html)
    assert f"The cluster changes Deployment {desk.namespace}/{name}:" in said
    assert "<del>example/web:1</del> <ins>mirror.example.com/web:1</ins>" in said
    assert "<code>metadata.labels.team</code> added: payments" in said
    assert said.count("The cluster changes") == 2, said
    await visitor.press("create")
    made = desk.admin.get(desk.path("deployments", name, GROUP)).ok()
    assert made["spec"]["template"]["spec"]["containers"][0]["image"] == "mirror.example.com/web:1"
