"""Forms that are generated for types without a declaration."""

from collections.abc import Iterator

import pytest

from console.kube.clients import UserClient
from console.kube.gvr import CUSTOM_RESOURCE_DEFINITIONS
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.cluster import Cluster
from tests.contract.crds import definition, establish
from tests.contract.grants import rule
from tests.contract.objects import unique
from tests.contract.pages import console_on, person
from tests.contract.wizard_pages import WizardVisitor
from tests.controlplane.waiting import eventually
from tests.ui.support import FakeAccess
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [CUSTOM_RESOURCE_DEFINITIONS]) as runtime:
        yield runtime


async def test_an_object_of_a_type_installed_a_moment_ago_is_created_and_edited(
    runtime: Runtime,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visitor = WizardVisitor(person(monkeypatch, cleanup, namespace, rule("*", "*", "*")).name)
    crd = definition()
    where, name = establish(admin, cleanup, crd, namespace), unique("w")
    plural = crd["metadata"]["name"]
    eventually(lambda: clusters.host.kinds.find(plural) is not None, "the kind is known")
    # kube-apiserver publishes the schema a moment after it serves the type.
    document = f"/openapi/v3/apis/{crd['spec']['group']}/v1"
    eventually(lambda: b"Widget" in admin.get(document).body, "the schema is published")
    await visitor.open(f"/clusters/host/new/{plural}?namespace={namespace}")
    monkeypatch.setattr(FakeAccess, "rights_version", lambda access: "unchanged")
    await visitor.open(visitor.url)
    read = UserClient.get_openapi
    asked: list[str] = []

    async def counted(client: UserClient, document: str = "") -> bytes:
        asked.append(document)
        return await read(client, document)

    monkeypatch.setattr(UserClient, "get_openapi", counted)
    await visitor.press("next", name=name)
    assert asked == [], "the schema is remembered from one step to the next"
    size = field_named(visitor, "size")
    await visitor.press("next", **{size: "12"})
    assert "Use a whole number from 1 to 9" in visitor.html
    await visitor.press("go.review", **{size: "7", field_named(visitor, "color"): "red"})
    await visitor.press("create")
    assert visitor.url.endswith("/created"), visitor.html
    made = admin.get(f"{where}/{name}").ok()
    assert made["spec"] == {"size": 7, "color": "red"}
    url = f"/clusters/host/projects/{namespace}/{plural}/{name}/edit/form"
    await visitor.open(url)
    await visitor.press("next")
    assert visitor.fields[field_named(visitor, "size")] == "7"
    await visitor.press("go.review", **{field_named(visitor, "size"): "8"})
    assert "<ins>" in visitor.html, visitor.html


def field_named(visitor: WizardVisitor, label: str) -> str:
    """Return the name of the field with a label."""
    before, _label, _after = visitor.html.partition(f">{label}</label>")
    return before.rpartition('for="w-')[2].rstrip('"').replace("-", ".")
