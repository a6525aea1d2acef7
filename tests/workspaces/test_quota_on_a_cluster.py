"""Projects compete for the quota of their workspace, on a real control plane."""

import asyncio
import base64
import json
import random
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from aiohttp import web
from django.test import AsyncClient
from pytest_django import Settings

from console.kube.errors import ApiError, Forbidden
from console.kube.gvr import (
    GVR,
    PODS,
    REPLICA_SETS,
    RESOURCE_QUOTAS,
    SERVICE_ACCOUNTS,
    WORKSPACES,
    Key,
)
from console.kube.identity import Identity
from console.kube.quantity import Amounts, parse_amounts
from rbac.process_clusters import get_authorizer
from tests.controlplane.pki import Authority
from tests.rbac.objects import user
from tests.support.depth import fewer
from tests.support.ports import LOOPBACK, free_port
from tests.workspaces.conftest import Tenancy
from tests.workspaces.users import (
    WAIT,
    Person,
    apply,
    delete,
    listed,
    pod,
    quota,
    read,
    template,
    until,
)
from workspaces.controllers.quota_events import QuotaEventRecorder
from workspaces.names import SHARE
from workspaces.quota_webhook import MAX_WAIT, webhook_manifest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site")]

#: Attempts after the quota is used up: more than any delayed event could admit unnoticed.
AFTERWARDS = 10
Sums = dict[str, Amounts]
WEBHOOKS = GVR("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations")


class Recorder:
    """Records the sum of the projects' shares at every version in kube-apiserver."""

    def __init__(self, tenancy: Tenancy, projects: Sequence[str]) -> None:
        self._projects = projects
        self._informer = tenancy.runtime.informer(RESOURCE_QUOTAS)
        self.seen: list[Sums] = []
        self.stop: Callable[[], None] = self._informer.add_listener(lambda _key: self._look())

    def now(self) -> Sums:
        """Return the asked, enforced and used amounts of each resource."""
        found: Sums = {"asked": {}, "enforced": {}, "used": {}}
        for name in self._projects:
            entry = self._informer.store.get(Key(name, SHARE))
            item = entry.original() if entry is not None else {}
            status = item.get("status") or {}
            for part, texts in (
                ("asked", (item.get("spec") or {}).get("hard")),
                ("enforced", status.get("hard")),
                ("used", status.get("used")),
            ):
                for resource, amount in parse_amounts(texts).items():
                    found[part][resource] = found[part].get(resource, Decimal(0)) + amount
        return found

    def _look(self) -> None:
        self.seen.append(self.now())


class Tenants:
    """Creates and deletes many pods concurrently as a user."""

    def __init__(self, tenancy: Tenancy, name: str) -> None:
        self._runtime, self._who = tenancy.runtime, Identity(name)
        self.refused: list[str] = []

    async def create(self, project: str, name: str) -> bool:
        client = self._runtime.as_user(self._who)
        try:
            await client.create(PODS, yaml.safe_load(pod(name)), namespace=project)
        except Forbidden as error:
            self.refused.append(error.message)
            return False
        except ApiError:
            return False
        return True

    async def fill(self, projects: Sequence[str], wanted: int) -> int:
        """Create pods in all projects until `wanted` exist, then continue for some attempts. Return
        the number created.
        """
        made, end = 0, time.monotonic() + WAIT

        async def one(project: str) -> None:
            nonlocal made
            left = AFTERWARDS
            while left and time.monotonic() < end:
                if made >= wanted:
                    left -= 1
                if await self.create(project, f"pod-{uuid4().hex[:12]}"):
                    made += 1
                else:
                    await asyncio.sleep(0.05)

        await asyncio.gather(*map(one, projects))
        return made

    async def delete(self, project: str) -> None:
        client = self._runtime.as_user(self._who)
        items = self._runtime.informer(PODS).store.snapshot().entries
        names = [key.name for key in items if key.namespace == project]
        for name in names:
            await client.delete(PODS, namespace=project, name=name)


async def test_competing_projects_never_use_more_than_the_quota(tenancy: Tenancy) -> None:
    # Different names for each run.
    workspace = f"rush-{uuid4().hex[:6]}"
    projects = [f"{workspace}-{letter}" for letter in "abc"]
    last = projects[-1]

    def pods() -> int:
        return sum(len(listed(tenancy, PODS, name)) for name in projects)

    apply(tenancy, user("rae"), template(workspace, "rae"), quota(workspace, pods="6"))
    rae = Person(tenancy, "rae")
    access = get_authorizer().access_for(Identity("rae"))
    await until(lambda: access.can("get", WORKSPACES, name=workspace), "sight of the workspace")
    await tenancy.runtime.wait_synced(PODS, timeout=20)
    recorder, tenants = Recorder(tenancy, projects), Tenants(tenancy, "rae")
    for name in projects:
        answer = await rae.post(f"/workspaces/{workspace}/projects/-/new", name=name)
        assert answer.status_code == 302, answer.content.decode()
    for name in projects:
        await until(partial(rae.may, "create", name), f"rights in {name}")
        account = partial(read, tenancy, SERVICE_ACCOUNTS, "default", name)
        await until(account, f"the account in {name}")

    # All projects request more than the quota. The whole quota gets used and is never exceeded.
    assert await tenants.fill(projects, 6) == 6 == pods()
    assert any("exceeded quota: quarterdeck-workspace" in text for text in tenants.refused)
    await until(lambda: recorder.now()["used"]["pods"] == 6, "the count")
    for url in (f"/workspaces/{workspace}", f"/workspaces/{workspace}/quota"):
        text = (await rae.get(url)).content.decode()
        assert "6 of 6" in text
        assert "Quota reached. Requests for more resources are rejected." in text

    # Another project can use released quota, up to all of it.
    for name in projects:
        await tenants.delete(name)
    await until(lambda: recorder.now()["used"]["pods"] == 0, "the pods are gone", 60)
    assert await tenants.fill([last], 6) == 6

    # A quota below the usage stops all projects and deletes nothing.
    apply(tenancy, quota(workspace, pods="4"))
    await until(lambda: recorder.now()["enforced"]["pods"] <= 4, "the lower quota")
    lowered = len(recorder.seen)
    assert await tenants.fill([projects[0]], 0) == 0
    assert pods() == 6
    assert all(sums["asked"].get("pods", 0) <= 4 for sums in recorder.seen[lowered:])
    # Increasing the quota allows new pods.
    apply(tenancy, quota(workspace, pods="8"))
    assert await tenants.fill([projects[0]], 1) == 1
    recorder.stop()
    assert pods() == 7
    for sums in recorder.seen:
        for part, amounts in sums.items():
            assert amounts.get("pods", Decimal(0)) <= 8, (part, amounts)
    before = recorder.seen[: lowered - 1]
    assert before and all(
        amounts.get("pods", Decimal(0)) <= 6 for sums in before for amounts in sums.values()
    )


def workload(kind: str, name: str, cpu: str, replicas: int = 1) -> dict[str, Any]:
    """Return a workload whose pods request `cpu`."""
    made = yaml.safe_load(pod(name, cpu))
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": made["spec"]}
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
        spec = {"parallelism": replicas, "completions": replicas, "template": template}
        return {"apiVersion": "batch/v1", "kind": kind, "spec": spec, "metadata": {"name": name}}
    selector = {"matchLabels": labels}
    spec = {"replicas": replicas, "selector": selector, "template": template}
    return {"apiVersion": "apps/v1", "kind": kind, "spec": spec, "metadata": {"name": name}}


@dataclass(frozen=True)
class Fair:
    """A workspace with 9.9 CPUs whose four projects have a quarter each."""

    tenancy: Tenancy
    projects: list[str]
    recorder: Recorder
    owner: str

    async def make(self, project: str, manifest: dict[str, Any]) -> None:
        meta = {**manifest["metadata"], "namespace": project}
        await asyncio.to_thread(apply, self.tenancy, {**manifest, "metadata": meta})

    async def kubectl(self, project: str, manifest: str, *options: str) -> str:
        """Create an object as the owner, and return the output."""
        done = await asyncio.to_thread(
            Person(self.tenancy, self.owner).kubectl,
            *("create", "-n", project, "-f", "-", *options),
            stdin=manifest,
        )
        return done.stdout + done.stderr

    def pods(self, project: str) -> int:
        return len(listed(self.tenancy, PODS, project))

    def share(self, project: str, part: str = "spec") -> Amounts:
        item = read(self.tenancy, RESOURCE_QUOTAS, SHARE, project) or {}
        return parse_amounts((item.get(part) or {}).get("hard"))


@pytest.fixture
async def fair(tenancy: Tenancy) -> AsyncIterator[Fair]:
    workspace, owner = f"fair-{uuid4().hex[:6]}", f"fay-{uuid4().hex[:6]}"
    projects = [f"{workspace}-{letter}" for letter in "abcd"]
    hard = {"requests_cpu": "9900m", "limits_cpu": "9900m"}
    apply(tenancy, user(owner), template(workspace, owner), quota(workspace, **hard))
    fay = Person(tenancy, owner)
    access = get_authorizer().access_for(Identity(owner))
    await until(lambda: access.can("get", WORKSPACES, name=workspace), "sight of the workspace")
    recorder = Recorder(tenancy, projects)
    made = Fair(tenancy, projects, recorder, owner)
    for name in projects:
        answer = await fay.post(f"/workspaces/{workspace}/projects/-/new", name=name)
        assert answer.status_code == 302, answer.content.decode()
    quarter = Decimal("2.475")
    for name in projects:
        await until(partial(fay.may, "create", name), f"rights in {name}")
        account = partial(read, tenancy, SERVICE_ACCOUNTS, "default", name)
        await until(account, f"the account in {name}")
        even = lambda name=name: made.share(name, "status").get("requests.cpu") == quarter  # noqa: E731
        await until(even, f"the share of {name}")
    await tenancy.runtime.wait_synced(RESOURCE_QUOTAS, timeout=20)
    tenancy.runtime.on_refusal = QuotaEventRecorder(tenancy.runtime).record
    yield made
    tenancy.runtime.on_refusal = None
    recorder.stop()
    for sums in recorder.seen:
        for part, amounts in sums.items():
            for resource, amount in amounts.items():
                assert amount <= Decimal("9.9"), (part, resource)


# A ReplicaSet behaves like a Deployment, which the test of released quota also covers, and a
# StatefulSet like a Job.
@pytest.mark.parametrize("kind", fewer(["Deployment", "ReplicaSet", "StatefulSet", "Job"], "Job"))
async def test_a_workload_larger_than_an_equal_share_gets_unused_quota(
    fair: Fair, kind: str
) -> None:
    project = fair.projects[0]
    await fair.make(project, workload(kind, "large", "3"))
    await until(lambda: fair.share(project, "status")["requests.cpu"] >= 3, "a larger share")
    await until(lambda: fair.pods(project) == 1, "the pod")
    # Continue up to the whole quota.
    await fair.make(project, workload(kind, "larger", "6"))
    await until(lambda: fair.pods(project) == 2, "the next pod")


async def test_a_refused_pod_of_a_user_can_be_created_later(fair: Fair) -> None:
    project = fair.projects[1]
    body = yaml.safe_load(pod("own", "9"))
    client = fair.tenancy.runtime.as_user(Identity(fair.owner))
    with pytest.raises(Forbidden, match="exceeded quota: quarterdeck-workspace"):
        await client.create(PODS, body, namespace=project)
    await until(lambda: fair.share(project, "status")["requests.cpu"] >= 9, "a larger share")
    async with asyncio.timeout(WAIT):
        # kube-apiserver observes the quota by a watch.
        while True:
            with suppress(Forbidden):
                await client.create(PODS, body, namespace=project)
                break
            await asyncio.sleep(0.05)


@pytest.fixture
async def asked(
    fair: Fair, settings: Settings, tmp_path: Path
) -> AsyncIterator[list[dict[str, Any]]]:
    """The requests that kube-apiserver reports to the installed webhook."""
    authority, found = Authority(tmp_path), list[dict[str, Any]]()
    pair = authority.server("webhook", hosts=["localhost"], addresses=[LOOPBACK])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)

    async def answer(request: web.Request) -> web.Response:
        body = await request.read()
        found.append(json.loads(body)["request"])
        response = await AsyncClient().post(request.path, body, content_type="application/json")
        headers = {"Content-Type": "application/json"}
        return web.Response(status=response.status_code, body=response.content, headers=headers)

    application, port = web.Application(), free_port()
    application.router.add_post("/{tail:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, port, ssl_context=context).start()
    settings.BASE_URL = f"https://{LOOPBACK}:{port}"
    installed = webhook_manifest(base64.b64encode(authority.certificate.read_bytes()).decode())
    await asyncio.to_thread(apply, fair.tenancy, installed)
    try:
        async with asyncio.timeout(WAIT):
            while not found:
                await fair.kubectl(fair.projects[0], pod("try", "10m"), "--dry-run=server")
        yield found
    finally:
        name = installed["metadata"]["name"]
        await asyncio.to_thread(delete, fair.tenancy, WEBHOOKS, name)
        await runner.cleanup()


async def test_without_the_webhook_kubectl_is_refused_beyond_the_share(fair: Fair) -> None:
    refused = await fair.kubectl(fair.projects[2], pod("large", "6"))
    assert "exceeded quota: quarterdeck-workspace" in refused


async def test_the_webhook_admits_requests_of_kubectl_up_to_the_whole_quota(
    fair: Fair, asked: list[dict[str, Any]]
) -> None:
    project, other = fair.projects[2:]
    assert "created" in await fair.kubectl(project, pod("large", "6"))
    # Concurrent requests, as of a chart with several bare pods.
    several = [fair.kubectl(other, pod(f"part-{number}", "1200m")) for number in range(3)]
    assert all("created" in text for text in await asyncio.gather(*several))
    before = time.monotonic()
    assert "exceeded quota" in await fair.kubectl(project, pod("too-large", "1"))
    assert time.monotonic() - before < MAX_WAIT
    assert [fair.pods(name) for name in (project, other)] == [1, 3]
    assert {one["operation"] for one in asked} == {"CREATE"}


async def test_a_waiting_workload_gets_released_quota(fair: Fair) -> None:
    first, second = fair.projects[:2]
    await fair.make(first, workload("Deployment", "large", "6"))
    await until(lambda: fair.pods(first) == 1, "the first pod")
    await fair.make(second, workload("Deployment", "large", "5"))
    refused = fair.tenancy.runtime.informer(REPLICA_SETS).store
    waits = lambda: any(  # noqa: E731
        key.namespace == second and "exceeded quota" in entry.projection.status.reason
        for key, entry in refused.snapshot().entries.items()
    )
    await until(waits, "the refusal")
    await fair.make(first, workload("Deployment", "large", "6", replicas=0))
    await until(lambda: fair.share(second, "status")["requests.cpu"] >= 5, "what was given back")
    await until(lambda: fair.pods(second) == 1, "the second pod")


@pytest.mark.parametrize("seed", fewer(range(3), 0))
async def test_workloads_within_the_quota_run_in_any_order(fair: Fair, seed: int) -> None:
    """Workloads of several kinds are created and deleted in all projects. In the end, those that
    fit run.
    """
    rng = random.Random(seed)  # noqa: S311  nothing is to be kept secret
    kept: dict[str, Decimal] = {}
    for at in range(12):
        project = rng.choice(fair.projects)
        kind = rng.choice(["Deployment", "StatefulSet", "ReplicaSet"])
        cpu = Decimal(rng.choice(["0.3", "1", "2.6", "4"]))
        name = f"{kind.lower()}-{at}"
        fits = sum(kept.values(), Decimal(0)) + cpu <= Decimal("9.9")
        await fair.make(project, workload(kind, name, str(cpu)))
        if fits:
            kept[name] = cpu
        else:
            gvr = GVR("apps", "v1", f"{kind.lower()}s")
            await asyncio.to_thread(delete, fair.tenancy, gvr, name, project)

    def running() -> set[str]:
        return {
            str(item["metadata"]["labels"]["app"])
            for project in fair.projects
            for item in listed(fair.tenancy, PODS, project)
        }

    await until(lambda: running() >= kept.keys(), f"all of {sorted(kept)}", 60)
