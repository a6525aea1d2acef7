"""Composed applications, with and without the type Application on the cluster."""

from collections.abc import Iterator

import pytest

from console.kube.gvr import APPLICATIONS, CUSTOM_RESOURCE_DEFINITIONS
from console.kube.runtime import Runtime
from console.ui.core.clusters import clusters
from devcluster.sample.addons import definitions
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client
from tests.contract.cluster import Cluster
from tests.contract.crds import served
from tests.contract.grants import rule
from tests.contract.objects import path, unique
from tests.contract.pages import console_on, person
from tests.contract.wizard_pages import WizardVisitor
from tests.controlplane.waiting import eventually
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [CUSTOM_RESOURCE_DEFINITIONS]) as runtime:
        yield runtime


@pytest.fixture
def _installed(admin: Client) -> Iterator[None]:
    found = [one for one in definitions() if one["metadata"]["name"] == APPLICATIONS.qualified]
    for one in found:
        one["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    with served(admin, found):
        yield


async def compose(visitor: WizardVisitor, namespace: str, name: str) -> None:
    """Create an application with two services and a route by form."""
    await visitor.open(f"/clusters/host/new/{APPLICATIONS.qualified}?namespace={namespace}")
    await visitor.press("next", name=name)
    assert "/services" in visitor.url, visitor.html
    await visitor.press(
        "act.components.add",
        components__0__name=f"{name}-web",
        components__0__containers__0__image="example/web:1",
    )
    await visitor.press(
        "next",
        components__1__name=f"{name}-db",
        components__1__kind="StatefulSet",
        components__1__containers__0__image="example/db:1",
    )
    assert "/routes" in visitor.url, visitor.html
    await visitor.press("act.routes.add")
    await visitor.press(
        "next",
        routes__0__name=name,
        routes__0__rules__0__host=f"{name}.example.com",
        routes__0__rules__0__paths__0__service=f"{name}-web",
    )
    assert "/review" in visitor.url and "Cannot be created" not in visitor.html, visitor.html


def made(admin: Client, namespace: str, name: str) -> None:
    """Check the objects besides the Application."""
    web = admin.get(path(namespace, "deployments", f"{name}-web-v1", group="apps/v1")).ok()
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/version": "v1"}
    assert web["metadata"]["labels"] == {**labels, "app": f"{name}-web", "version": "v1"}
    db = admin.get(path(namespace, "statefulsets", f"{name}-db-v1", group="apps/v1")).ok()
    assert db["spec"]["serviceName"] == f"{name}-db"
    service = admin.get(path(namespace, "services", f"{name}-db")).ok()
    assert service["spec"]["clusterIP"] == "None"
    where = path(namespace, "ingresses", name, group="networking.k8s.io/v1")
    assert admin.get(where).ok()["metadata"]["labels"] == labels


@pytest.mark.usefixtures("_installed")
async def test_an_application_with_its_services_and_routes_is_created_and_edited(
    runtime: Runtime,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = clusters.host.kinds
    eventually(lambda: kinds.served.serves(APPLICATIONS), "the type is known")
    who = person(monkeypatch, cleanup, namespace, rule("*", "*", "*")).name
    visitor, name = WizardVisitor(who), unique("shop")
    await compose(visitor, namespace, name)
    assert "no type Application" not in visitor.html
    await visitor.press("create")
    assert visitor.url.endswith("/created"), visitor.html
    made(admin, namespace, name)
    where = path(namespace, "applications", name, group=APPLICATIONS.group_version)
    app = admin.get(where).ok()
    assert app["spec"]["addOwnerRef"] is True
    assert app["spec"]["selector"]["matchLabels"]["app.kubernetes.io/name"] == name
    segment = APPLICATIONS.qualified
    await visitor.open(f"/clusters/host/projects/{namespace}/{segment}/{name}/edit/form")
    await visitor.press("go.review", description="Sells things")
    assert "Sells things" in visitor.html and "<ins>" in visitor.html, visitor.html


async def test_without_the_type_the_services_and_routes_are_created_alone(
    runtime: Runtime,
    admin: Client,
    cleanup: Cleanup,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = clusters.host.kinds
    eventually(lambda: kinds.served.serves(APPLICATIONS) is False, "the type is known")
    who = person(monkeypatch, cleanup, namespace, rule("*", "*", "*")).name
    visitor, name = WizardVisitor(who), unique("shop")
    await visitor.open(f"/clusters/host/new?namespace={namespace}")
    assert f"/new/{APPLICATIONS.qualified}" in visitor.html
    await compose(visitor, namespace, name)
    assert "no type Application" in visitor.html
    await visitor.press("create")
    assert visitor.url.endswith("/created"), visitor.html
    made(admin, namespace, name)
