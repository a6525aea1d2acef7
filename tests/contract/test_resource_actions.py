"""Editing the CPU and memory requests and limits of a workload's containers."""

import html
from collections.abc import Iterator
from typing import Any

import pytest

from console.kube.gvr import DAEMON_SETS, DEPLOYMENTS, GVR, STATEFUL_SETS, Key
from console.kube.runtime import Runtime
from tests.contract.client import MERGE_PATCH, Client, Obj
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
from tests.contract.test_service_actions import drawn
from tests.contract.test_workload_actions import daemon_set, stateful_set
from tests.contract.tidy import Scrap
from tests.views.conftest import _site

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
KINDS = {DEPLOYMENTS: deployment, STATEFUL_SETS: stateful_set, DAEMON_SETS: daemon_set}
BEFORE = {
    "limits": {"memory": "128Mi", "example.com/gpu": "1"},
    "requests": {"cpu": "100m", "memory": "64Mi", "example.com/gpu": "1"},
}


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [*KINDS]) as found:
        yield found


@pytest.fixture
def olga(monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str) -> Person:
    resources = "deployments statefulsets daemonsets"
    return person(monkeypatch, scrap, namespace, rule("get list patch", resources, "apps"))


def make(admin: Client, runtime: Runtime, namespace: str, gvr: GVR = DEPLOYMENTS) -> Obj:
    body = KINDS[gvr](unique("web"))
    spec = body["spec"]["template"]["spec"]
    one = {"name": "app", "image": "example/a:1", "resources": BEFORE}
    spec["containers"] = [one, {"name": "log", "image": "example/b:1"}]
    spec["initContainers"] = [{"name": "init", "image": "example/c:1"}]
    made: Obj = admin.post(where(namespace, gvr), body).ok()
    known(runtime, gvr, made)
    return made


def where(namespace: str, gvr: GVR, name: str = "") -> str:
    return path(namespace, gvr.resource, name, group=gvr.group_version)


def spec_of(admin: Client, made: Obj, gvr: GVR = DEPLOYMENTS) -> dict[str, Any]:
    meta = made["metadata"]
    found = admin.get(where(meta["namespace"], gvr, meta["name"])).ok()
    spec: dict[str, Any] = found["spec"]["template"]["spec"]
    return spec


async def form_of(olga: Person, made: Obj, gvr: GVR = DEPLOYMENTS) -> tuple[Page, dict[str, str]]:
    page = olga.on("set-resources", gvr.resource, made)
    return page, drawn(await page.asks())


@pytest.mark.parametrize("gvr", [*KINDS], ids=lambda gvr: str(gvr.resource))
async def test_requests_and_limits_are_changed_set_and_removed(
    admin: Client, runtime: Runtime, namespace: str, olga: Person, gvr: GVR
) -> None:
    made = make(admin, runtime, namespace, gvr)
    name = made["metadata"]["name"]
    page, sent = await form_of(olga, made, gvr)
    assert await page.is_offered(gvr.resource, Key(namespace, name))
    shown = {key: value for key, value in sent.items() if value and key != "was"}
    assert shown == {
        "containers-0-cpu_request": "100m",
        "containers-0-memory_limit": "128Mi",
        "containers-0-memory_request": "64Mi",
    }
    changed = {
        "containers-0-memory_limit": "1Gi",
        "containers-0-cpu_request": "",
        "containers-1-cpu_limit": "500m",
        "containers-2-memory_request": "16Mi",
    }
    before = spec_of(admin, made, gvr)
    await page.does(**{**sent, **changed})
    now = spec_of(admin, made, gvr)
    app, log = (one["resources"] for one in now["containers"])
    gpu = {"example.com/gpu": "1"}
    assert app == {"limits": {"memory": "1Gi", **gpu}, "requests": {"memory": "64Mi", **gpu}}
    assert log["limits"] == {"cpu": "500m"}
    assert now["initContainers"][0]["resources"] == {"requests": {"memory": "16Mi"}}
    assert without_resources(now) == without_resources(before)
    assert await recorded() == [(olga.name, "patch", "set-resources", name, 200)]


def without_resources(spec: dict[str, Any]) -> dict[str, Any]:
    groups = {
        group: [{**one, "resources": {}} for one in spec[group]]
        for group in ("containers", "initContainers")
    }
    return {**spec, **groups}


async def test_concurrent_changes_cause_a_conflict(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    page, sent = await form_of(olga, made)
    spec = spec_of(admin, made)
    spec["containers"] = spec["containers"][1:]
    change = {"spec": {"template": {"spec": spec}}}
    at = where(namespace, DEPLOYMENTS, made["metadata"]["name"])
    now = admin.patch(at, change, MERGE_PATCH).ok()
    typed = {**sent, "containers-0-memory_limit": "1Gi"}
    answer = await page.status(**typed)
    assert answer["code"] in (400, 409)
    known(runtime, DEPLOYMENTS, now)
    text = await page.refuses(400, **typed)
    assert (
        "The containers have changed since this page was loaded. Reload the page and try again."
    ) in text
    assert spec_of(admin, made) == spec


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({}, "", "No changes were made."),
        ({"containers-0-cpu_limit": "x"}, "containers-0-cpu_limit", "“x” is not a valid quantity."),
        ({"containers-0-cpu_limit": "-1"}, "containers-0-cpu_limit", "“-1” is not a valid quantity."),
        ({"containers-0-cpu_limit": "50m"}, "containers-0-cpu_request", "higher than the limit."),
        ({"containers-0-memory_request": "1Gi"}, "containers-0-memory_request", "higher than the limit."),
        ({"was": "[]"}, "", "The containers have changed since this page was loaded."),
    ],
)  # fmt: skip
async def test_invalid_resource_amounts_are_reported_at_the_field(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    olga: Person,
    typed: dict[str, str],
    field: str,
    said: str,
) -> None:
    made = make(admin, runtime, namespace)
    before = spec_of(admin, made)
    page, sent = await form_of(olga, made)
    assert said in html.unescape(await page.refuses(400, **{**sent, **typed}))
    status = await page.status(**{**sent, **typed})
    assert (field or "__all__") in [cause["field"] for cause in status["details"]["causes"]]
    assert spec_of(admin, made) == before


async def test_users_without_permission_cannot_set_resources(
    admin: Client, runtime: Runtime, namespace: str, olga: Person
) -> None:
    made = make(admin, runtime, namespace)
    await refused_to_strangers(olga.on("set-resources", "deployments", made), "")
