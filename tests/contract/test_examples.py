"""Examples of the kinds are created without changes and without warnings."""

import html
import re

import pytest

from console.kube.clients import MERGE_PATCH
from console.kube.gvr import NAMESPACES, Key
from console.kube.runtime import Runtime
from console.ui.core.kind import ResourceKind
from console.ui.core.links import started_url
from console.ui.core.registry import kinds
from console.ui.wizard.examples import Example
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.console import _runtime, runtime
from tests.contract.edit_forms import form_of
from tests.contract.grants import rule
from tests.contract.import_pages import URL
from tests.contract.pages import person
from tests.contract.wizard_pages import WizardVisitor
from tests.controlplane.waiting import eventually
from tests.support.responses import text_of
from tests.views.conftest import ClientAs, _site

__all__ = ["_runtime", "_site", "runtime"]

pytestmark = pytest.mark.django_db(transaction=True)
#: Kinds whose types are not part of Kubernetes.
NOT_SERVED = {"httproutes.gateway.networking.k8s.io"}
EXAMPLES = [
    (kind, one) for kind in kinds for one in kind.examples if kind.segment not in NOT_SERVED
]
#: Examples that read the node, which the restricted pod security level forbids.
PRIVILEGED = {"node-exporter"}
WARN = "pod-security.kubernetes.io/warn"


@pytest.mark.parametrize(("kind", "example"), EXAMPLES, ids=[one.id for _kind, one in EXAMPLES])
async def test_an_example_is_created_without_warnings(
    kind: ResourceKind,
    example: Example,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The form offers the projects of the cache.
    known = runtime.informer(NAMESPACES).store
    eventually(lambda: known.get(Key("", namespace)), "the project is known")
    level = "privileged" if example.id in PRIVILEGED else "restricted"
    admin.patch(
        f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {WARN: level}}}, MERGE_PATCH
    ).ok()
    who = person(monkeypatch, cleanup, namespace, rule("*", "*", "*")).name
    url = started_url(kind.create_url("host", namespace), example=example.id)
    for name in (example.id, f"{example.id}-2"):
        page = await (created if kind.wizard is not None else imported)(who, url, namespace)
        where = f"{kind.gvr.path(namespace if kind.view.namespaced else '')}/{name}"
        if not kind.view.namespaced:
            cleanup.forget(where)
        assert admin.get(where).status == 200, page


async def created(who: str, url: str, namespace: str) -> str:
    """Confirm each step of the wizard and create the objects. Return the last page."""
    visitor = WizardVisitor(who)
    await visitor.open(url)
    while "/review" not in visitor.url:
        before = visitor.url
        await visitor.press("next")
        assert visitor.url != before, visitor.html
    assert_no_warnings(visitor.html)
    await visitor.press("create")
    assert visitor.url.endswith("/created"), visitor.html
    return visitor.html


async def imported(who: str, url: str, namespace: str) -> str:
    """Review and create the objects of the YAML page. Return the last page."""
    form = form_of(200, await text_of(await ClientAs()(who).get(url)))
    sent = {"text": html.unescape(form.text), "namespace": namespace}
    assert_no_warnings(await text_of(await ClientAs()(who).post(URL, {**sent, "step": "review"})))
    return await text_of(await ClientAs()(who).post(URL, {**sent, "step": "create"}))


def assert_no_warnings(page: str) -> None:
    assert "Can be created" in page, page
    assert "Cannot be created" not in page, page
    assert not re.search(r"\d+ warning|problem-line", page), page
