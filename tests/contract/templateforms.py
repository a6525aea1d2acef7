"""Workloads and checks for tests of the forms that edit a pod template."""

import html
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from console.kube import gvr as types
from console.kube.gvr import GVR
from console.kube.runtime import Runtime
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.grants import rule
from tests.contract.objects import deployment, path, unique
from tests.contract.pages import Page, Person, console_on, known, person
from tests.contract.test_service_actions import drawn
from tests.contract.test_workload_actions import cron_job, daemon_set, stateful_set
from tests.contract.tidy import Scrap

WORKLOADS = {
    types.DEPLOYMENTS: lambda name: deployment(name, "example/zero:1"),
    types.STATEFUL_SETS: stateful_set,
    types.DAEMON_SETS: daemon_set,
    types.CRON_JOBS: cron_job,
}
OFFERED = (types.CONFIG_MAPS, types.PERSISTENT_VOLUME_CLAIMS)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [*WORKLOADS, *OFFERED]) as found:
        yield found


@pytest.fixture
def olga(monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str) -> Person:
    return person(
        monkeypatch,
        scrap,
        namespace,
        rule("list", "configmaps persistentvolumeclaims"),
        rule("get list patch", "cronjobs", "batch"),
        rule("get list patch", "deployments statefulsets daemonsets", "apps"),
    )


def pods_of(manifest: Obj) -> dict[str, Any]:
    spec = manifest["spec"]
    spec = spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec
    found: dict[str, Any] = spec["template"]["spec"]
    return found


def at(namespace: str, gvr: GVR, name: str = "") -> str:
    return path(namespace, gvr.resource, name, group=gvr.group_version)


def make(
    admin: Client,
    runtime: Runtime,
    namespace: str,
    pods: Obj,
    gvr: GVR = types.DEPLOYMENTS,
    **spec: Any,
) -> Obj:
    """Create a workload whose pod template contains the fields of `pods`."""
    body = WORKLOADS[gvr](unique("web"))
    body["spec"] |= spec
    pods_of(body).update(deepcopy(pods))
    made: Obj = admin.post(at(namespace, gvr), body).ok()
    known(runtime, gvr, made)
    return made


def now(admin: Client, made: Obj, gvr: GVR = types.DEPLOYMENTS) -> Obj:
    meta = made["metadata"]
    found: Obj = admin.get(at(meta["namespace"], gvr, meta["name"])).ok()
    return found


async def form_of(
    olga: Person, action: str, made: Obj, gvr: GVR = types.DEPLOYMENTS
) -> tuple[Page, dict[str, str]]:
    page = olga.on(action, gvr.resource, made)
    return page, drawn(await page.asks())


async def says_what_is_wrong(
    admin: Client,
    olga: Person,
    action: str,
    made: Obj,
    typed: dict[str, str],
    field: str,
    said: str,
) -> None:
    """Check that invalid input is reported at the field, or for the whole form if `field` is empty,
    in HTML and in the Status. The object must not change.
    """
    page, sent = await form_of(olga, action, made)
    assert said in html.unescape(await page.refuses(400, **{**sent, **typed}))
    status = await page.status(**{**sent, **typed})
    assert (field or "__all__") in [cause["field"] for cause in status["details"]["causes"]]
    assert now(admin, made)["spec"] == made["spec"]


async def what_the_cluster_finds(
    admin: Client, olga: Person, action: str, made: Obj, **typed: str
) -> str:
    """Submit input that the cluster rejects with 422 and return the page. The object must not
    change.
    """
    page, sent = await form_of(olga, action, made)
    text = html.unescape(await page.refuses(422, **{**sent, **typed}))
    assert now(admin, made)["spec"] == made["spec"]
    return text
