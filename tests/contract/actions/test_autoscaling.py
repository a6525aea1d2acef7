"""Creating and changing the autoscaler of a workload on the workload's page."""

from collections.abc import Iterator
from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import Key
from console.kube.runtime import Runtime
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.objects import deployment, path, unique
from tests.contract.pages import (
    Page,
    Person,
    console_on,
    known,
    person,
    recorded,
    refused_to_strangers,
)
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
AUTOSCALERS, GROUP = types.HORIZONTAL_POD_AUTOSCALERS, "autoscaling/v2"
FILLED_IN = {"least": "2", "most": "5", "cpu": "70", "memory": ""}
QUEUE = {
    "type": "Object",
    "object": {
        "metric": {"name": "waiting"},
        "describedObject": {"apiVersion": "v1", "kind": "Service", "name": "queue"},
        "target": {"type": "Value", "value": "10"},
    },
}


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [types.DEPLOYMENTS, AUTOSCALERS]) as found:
        yield found


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str) -> Person:
    return person(
        monkeypatch,
        cleanup,
        namespace,
        rule("get list", "deployments", "apps"),
        rule("get list create patch", "horizontalpodautoscalers", "autoscaling"),
    )


@pytest.fixture
def web(admin: Client, runtime: Runtime, namespace: str) -> Obj:
    where = path(namespace, "deployments", group="apps/v1")
    made: Obj = admin.post(where, deployment(unique("web"), "example/web:1", replicas=3)).ok()
    known(runtime, types.DEPLOYMENTS, made)
    return made


def autoscaler(admin: Client, runtime: Runtime, web: Obj, *metrics: Obj, name: str = "") -> Obj:
    """Create a HorizontalPodAutoscaler of the workload."""
    meta = web["metadata"]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": meta["name"]}
    spec = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 4, "metrics": [*metrics]}
    where = path(meta["namespace"], AUTOSCALERS.resource, group=GROUP)
    body = {"metadata": {"name": name or unique("scaler")}, "spec": spec}
    made: Obj = admin.post(where, body).ok()
    known(runtime, AUTOSCALERS, made)
    return made


def spec_of(admin: Client, made: Obj) -> dict[str, Any]:
    meta = made["metadata"]
    found = admin.get(path(meta["namespace"], AUTOSCALERS.resource, meta["name"], group=GROUP))
    spec: dict[str, Any] = found.ok()["spec"]
    return spec


def share(name: str, percent: int) -> Obj:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def page_of(editor: Person, web: Obj) -> Page:
    return editor.on("autoscale", "deployments", web)


@pytest.mark.also_old
async def test_an_autoscaler_is_created(admin: Client, editor: Person, web: Obj) -> None:
    name, namespace = web["metadata"]["name"], web["metadata"]["namespace"]
    page = page_of(editor, web)
    assert await page.is_offered("deployments", Key(namespace, name))
    asked = await page.asks()
    assert 'name="least" value="3"' in asked and 'name="most" value="6"' in asked
    done = await page.does(autoscaler="", **FILLED_IN)
    assert done["Location"].endswith(f"/horizontalpodautoscalers/{name}")
    found = spec_of(admin, web)
    assert (found["minReplicas"], found["maxReplicas"]) == (2, 5)
    assert found["metrics"] == [share("cpu", 70)]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    assert found["scaleTargetRef"] == target
    assert await recorded() == [(editor.name, "create", "autoscale", name, 200)]


@pytest.mark.also_old
async def test_an_existing_autoscaler_is_changed_and_keeps_its_other_metrics(
    admin: Client, runtime: Runtime, editor: Person, web: Obj
) -> None:
    made = autoscaler(admin, runtime, web, share("cpu", 50), QUEUE)
    page = page_of(editor, web)
    asked = await page.asks()
    assert 'name="most" value="4"' in asked and 'name="cpu" value="50"' in asked
    sent = {**FILLED_IN, "cpu": "", "memory": "80", "autoscaler": made["metadata"]["uid"]}
    refused = await page.refuses(409, **{**sent, "uid": "another"})
    assert (
        f"kubectl patch horizontalpodautoscalers.autoscaling {made['metadata']['name']}" in refused
    )
    await page.does(**sent)
    found = spec_of(admin, made)
    assert (found["minReplicas"], found["maxReplicas"]) == (2, 5)
    assert sorted(one["type"] for one in found["metrics"]) == ["Object", "Resource"]
    assert share("memory", 80) in found["metrics"]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"least": "0"}, "Use a whole number from 1"),
        ({"most": ""}, "Use a whole number from 1"),
        ({"least": "9"}, "The maximum must not be less than the minimum."),
        ({"cpu": ""}, "Enter a target for CPU, memory, or both"),
        ({"cpu": "-1"}, "Use a whole number from 1"),
        ({"autoscaler": "another"}, "The autoscaler has changed since this page was loaded."),
    ],
)
async def test_invalid_autoscaler_values_are_reported_at_the_field(
    admin: Client, editor: Person, web: Obj, sent: dict[str, str], said: str
) -> None:
    page = page_of(editor, web)
    assert said in await page.refuses(400, **{"autoscaler": "", **FILLED_IN, **sent})
    status = await page.status(**{"autoscaler": "", **FILLED_IN, **sent})
    assert (status["code"], status["reason"]) == (400, "BadRequest")
    meta = web["metadata"]
    where = path(meta["namespace"], AUTOSCALERS.resource, meta["name"], group=GROUP)
    assert admin.get(where).status == 404


async def test_several_autoscalers_of_one_workload_are_listed(
    admin: Client, runtime: Runtime, editor: Person, web: Obj
) -> None:
    names = [autoscaler(admin, runtime, web)["metadata"]["name"] for _ in range(2)]
    answer = await page_of(editor, web).client().get(page_of(editor, web).url)
    text = answer.content.decode()
    assert answer.status_code == 409 and all(name in text for name in names)


async def test_users_without_permission_cannot_autoscale(editor: Person, web: Obj) -> None:
    await refused_to_strangers(page_of(editor, web), "")
