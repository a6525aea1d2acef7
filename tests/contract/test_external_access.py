"""Changing the external access of a service."""

import html
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import SERVICES, Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.objects import path, unique
from tests.contract.pages import Person, console_on, known, person, recorded, refused_to_strangers
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [SERVICES]) as found:
        yield found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(monkeypatch, cleanup, namespace, rule("get list patch", "services"))


def make(admin: Client, runtime: Runtime, namespace: str, **more: Any) -> Obj:
    spec = {"selector": {"app": "web"}, "ports": [{"port": 80}], **more}
    body = {"metadata": {"name": unique("web")}, "spec": spec}
    made: Obj = admin.post(path(namespace, "services"), body).ok()
    known(runtime, SERVICES, made)
    return made


def spec_of(admin: Client, made: Obj) -> dict[str, Any]:
    meta = made["metadata"]
    found: dict[str, Any] = admin.get(path(meta["namespace"], "services", meta["name"])).ok()[
        "spec"
    ]
    return found


async def test_external_access_is_enabled_and_disabled(
    admin: Client, runtime: Runtime, namespace: str, editor: Person
) -> None:
    made = make(admin, runtime, namespace)
    name = made["metadata"]["name"]
    page = editor.on("external-access", "services", made)
    assert await page.is_offered("services", Key(namespace, name))
    asked = await page.asks()
    # An autofocused field would skip the information above it.
    assert "cluster-internal only" in asked and "autofocus" not in asked
    for wanted in ("NodePort", "LoadBalancer", "ClusterIP"):
        await page.does(type=wanted)
        now = spec_of(admin, made)
        assert now["type"] == wanted
        assert ("nodePort" in now["ports"][0]) is (wanted != "ClusterIP")
        assert "externalTrafficPolicy" not in now or wanted != "ClusterIP"
        known(runtime, SERVICES, admin.get(path(namespace, "services", name)).ok())
    assert await recorded() == [(editor.name, "patch", "external-access", name, 200)] * 3


@pytest.mark.parametrize("typed", ["", "ExternalName", "nodeport", "ClusterIP", "\x00"])
async def test_other_service_types_are_rejected(
    admin: Client, runtime: Runtime, namespace: str, editor: Person, typed: str
) -> None:
    made = make(admin, runtime, namespace)
    page = editor.on("external-access", "services", made)
    await page.refuses(400, type=typed)
    assert (await page.status(type=typed))["code"] == 400
    assert spec_of(admin, made) == made["spec"]


@pytest.mark.parametrize(
    "more",
    [{"clusterIP": "None"}, {"type": "ExternalName", "externalName": "a.example.com"}],
    ids=["headless", "external name"],
)
async def test_headless_and_external_name_services_have_no_external_access(
    admin: Client, runtime: Runtime, namespace: str, editor: Person, more: dict[str, str]
) -> None:
    made = make(admin, runtime, namespace, **more)
    page = editor.on("external-access", "services", made)
    assert not await page.is_offered("services", Key(namespace, made["metadata"]["name"]))
    said = html.unescape(await page.refuses(409, type="NodePort"))
    assert "The current state of the object doesn't allow this action." in said


async def test_users_without_permission_cannot_change_external_access(
    admin: Client, runtime: Runtime, namespace: str, editor: Person
) -> None:
    made = make(admin, runtime, namespace)
    await refused_to_strangers(editor.on("external-access", "services", made), "")
    assert spec_of(admin, made) == made["spec"]
