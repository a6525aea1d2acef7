"""Draining a node, from the confirmation page to the eviction of the last pod."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from django.utils import timezone

from console.audit.models import AuditRecord
from console.draining import runner
from console.draining.results import PodResult
from console.draining.runner import get_drains
from console.kube import clients
from console.kube.errors import Unavailable
from console.kube.gvr import NODES, POD_DISRUPTION_BUDGETS, PODS, Key
from console.kube.messages import Message
from console.kube.runtime import Runtime
from console.operations.models import Operation, State
from console.operations.store import STALE
from tests.contract.cleanup import Cleanup
from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.evictions import budget, pod_exists, set_running, wait_for_budget_status
from tests.contract.grants import review, rule, user
from tests.contract.objects import create_pod, path, pod, unique
from tests.contract.pages import Page, Person, console_on, known, person, refused_to_strangers
from tests.controlplane.waiting import eventually
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)
NODE_PATH = "/api/v1/nodes"
SECONDS = 20.0
RIGHTS = (
    rule("get list patch", "nodes"),
    rule("list", "poddisruptionbudgets", "policy"),
    rule("list", "pods"),
    rule("create", "pods/eviction"),
)


@pytest.fixture(scope="module")
def runtime(cluster: Cluster) -> Iterator[Runtime]:
    with console_on(cluster, [NODES, PODS, POD_DISRUPTION_BUDGETS]) as found:
        yield found


@pytest_asyncio.fixture(autouse=True)
async def _no_drain_is_left(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    monkeypatch.setattr(runner, "CHECK_SECONDS", 0.1)
    monkeypatch.setattr(runner, "RETRY_SECONDS", 0.3)
    yield
    # Stop all drains, as at process shutdown.
    await get_drains().interrupt()


@dataclass(frozen=True)
class Site:
    """A node with pods of one namespace, and a user with permission to drain it."""

    admin: Client
    runtime: Runtime
    namespace: str
    editor: Person
    node: Obj
    owner: Obj

    @property
    def name(self) -> str:
        return str(self.node["metadata"]["name"])

    def pod(self, app: str = "", *, owned: bool = True, mirror: bool = False, **spec: Any) -> Obj:
        """Create a running pod on the node and wait until the console has loaded it."""
        body = pod(unique("pod"), {"app": app or unique("app")}, nodeName=self.name)
        if mirror:
            body["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "abc"}
        body["spec"] |= {"terminationGracePeriodSeconds": 0, **spec}
        if owned:
            meta = self.owner["metadata"]
            body["metadata"]["ownerReferences"] = [
                {
                    **{"apiVersion": "v1", "kind": "ConfigMap", "controller": True},
                    **{"name": meta["name"], "uid": meta["uid"]},
                }
            ]
        made = create_pod(self.admin, self.namespace, body)
        set_running(self.admin, self.namespace, made["metadata"]["name"])
        known(self.runtime, PODS, self.now(made))
        return made

    def now(self, made: Obj) -> Obj:
        found: Obj = self.admin.get(path(self.namespace, "pods", made["metadata"]["name"])).ok()
        return found

    def budget(self, app: str, *numbers: int, **spec: Any) -> str:
        """Create a PodDisruptionBudget, wait for its status, and return its path."""
        at = budget(self.admin, self.namespace, app, **spec)
        wait_for_budget_status(self.admin, at, *numbers)
        known(self.runtime, POD_DISRUPTION_BUDGETS, self.admin.get(at).ok())
        return at

    def page(self, action: str = "drain") -> Page:
        return self.editor.on(action, "nodes", self.node)

    async def progress(self, who: str = "") -> str:
        url = f"/clusters/host/nodes/{self.name}/actions/drain/progress"
        answer = await ClientAs()(who or self.editor.name).get(url)
        text: str = await text_of(answer)
        assert answer.status_code == 200, text
        return text

    async def says(self, *texts: str) -> str:
        """Wait until the progress page contains all these texts, and return the page."""
        until, text = time.monotonic() + SECONDS, ""
        while time.monotonic() < until:
            text = re.sub(r"\s+", " ", await self.progress())
            if all(one in text for one in texts):
                return text
            await asyncio.sleep(0.05)
        raise AssertionError(f"never {texts}: {text}")

    @property
    def cordoned(self) -> bool:
        found = self.admin.get(f"{NODE_PATH}/{self.name}").ok()
        return bool(found.get("spec", {}).get("unschedulable"))


def _node(cleanup: Cleanup, runtime: Runtime, name: str) -> Obj:
    labels = {"kubernetes.io/hostname": name}
    room = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    body = {
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": room, "allocatable": room},
    }
    made = cleanup.create(NODE_PATH, body)
    known(runtime, NODES, made)
    return made


@pytest.fixture
def site(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    runtime: Runtime,
    namespace: str,
    cleanup: Cleanup,
) -> Site:
    node = _node(cleanup, runtime, unique("node"))
    named = {"metadata": {"name": unique("owner")}}
    owner = admin.post(path(namespace, "configmaps"), named).ok()
    editor = person(monkeypatch, cleanup, namespace, *RIGHTS)
    return Site(admin, runtime, namespace, editor, node, owner)


async def test_the_drain_page_shows_the_effect_on_each_pod(site: Site) -> None:
    app = unique("app")
    moves, lost = site.pod(app), site.pod(owned=False)
    keeps = site.pod(volumes=[{"name": "scratch", "emptyDir": {}}])
    name = site.budget(app, 1, 1, 0, 1, minAvailable=1).rpartition("/")[2]
    text = await site.page().asks()
    for one in (moves, lost, keeps):
        assert one["metadata"]["name"] in text
    assert "Pods that will be lost" in text and "Pods that will be evicted" in text
    assert "Delete 1 pod without a controller" in text
    assert "Delete the data of 1 pod in emptyDir volumes" in text
    assert "currently block eviction" in text and f"/poddisruptionbudgets/{name}" in text
    assert f"kubectl drain {site.name} --ignore-daemonsets --timeout=30m" in text
    assert not site.cordoned


@pytest.mark.also_old
async def test_draining_cordons_the_node_and_evicts_every_pod(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "PAGE", 5)
    pods = [site.pod() for _ in range(12)]
    answer = await site.page().does(minutes="5")
    assert answer["Location"] == f"/clusters/host/nodes/{site.name}"
    text = await site.says("drained this node", "12 of 12")
    assert "Uncordon" in text and "every 15s" in text and "stays cordoned" in text
    assert site.cordoned and not any(pod_exists(site.admin, one) for one in pods)
    kept = await Operation.objects.aget()
    assert (kept.actor, kept.state, kept.name) == (site.editor.name, State.DONE, site.name)
    trail = [
        (one.actor, one.verb, one.resource, one.subresource, one.code)
        async for one in AuditRecord.objects.order_by("time", "pk")
    ]
    mine = site.editor.name
    assert trail[0] == (mine, "patch", "nodes", "drain", 200)
    assert trail[1:] == [(mine, "create", "pods", "eviction", 200)] * 12
    page = await text_of(await site.page().client().get(f"/clusters/host/nodes/{site.name}"))
    assert 'id="drain"' in page and "drained this node" in page
    # The result is hidden after the node is uncordoned.
    await site.page("uncordon").does()
    known(site.runtime, NODES, site.admin.get(f"{NODE_PATH}/{site.name}").ok())
    assert "drained this node" not in await site.progress()


async def test_only_a_few_evictions_are_requested_in_parallel(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of parallel evictions is limited, to protect kube-apiserver."""
    monkeypatch.setattr(runner, "MAX_CONCURRENT_EVICTIONS", 2)
    ask, asking, most = runner.DrainTask._ask, 0, 0

    async def counted(self: runner.DrainTask, result: PodResult) -> None:
        nonlocal asking, most
        asking += 1
        most = max(most, asking)
        try:
            await ask(self, result)
        finally:
            asking -= 1

    monkeypatch.setattr(runner.DrainTask, "_ask", counted)
    for _ in range(4):
        site.pod()
    await site.page().does(minutes="5")
    await site.says("drained this node", "4 of 4")
    assert most == 2


async def test_pods_of_daemonsets_are_not_evicted(site: Site, cleanup: Cleanup) -> None:
    name = unique("agent")
    spec = {
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "nodeSelector": {"kubernetes.io/hostname": site.name},
                "containers": [{"name": "main", "image": "example/agent:1"}],
                "volumes": [{"name": "scratch", "emptyDir": {}}],
            },
        },
    }
    where = path(site.namespace, "daemonsets", group="apps/v1")
    cleanup.create(where, {"metadata": {"name": name}, "spec": spec})

    def placed() -> Any:
        query = {"labelSelector": f"app={name}", "fieldSelector": f"spec.nodeName={site.name}"}
        return site.admin.get(path(site.namespace, "pods"), **query).ok()["items"]

    agent = eventually(placed, "it is placed")[0]
    known(site.runtime, PODS, agent)
    mirror = site.pod(owned=False, mirror=True)
    moves = site.pod()
    text = await site.page().asks()
    assert "DaemonSet pods (not evicted)" in text and "Static pods (not evicted)" in text
    assert 'name="force"' not in text and 'name="empty_dir"' not in text
    await site.page().does(minutes="5")
    await site.says("drained this node", "1 of 1")
    assert pod_exists(site.admin, agent) and pod_exists(site.admin, mirror)
    assert not pod_exists(site.admin, moves)


async def test_data_loss_requires_consent(site: Site) -> None:
    lost = site.pod(owned=False)
    keeps = site.pod(volumes=[{"name": "scratch", "emptyDir": {}}])
    page = site.page()
    text = await page.refuses(400, minutes="5", force="on")
    assert (
        "Delete the data of 1 pod in emptyDir volumes: Select this option to drain the node."
    ) in text
    assert "--force --timeout=5m" in text
    status = await page.status(minutes="5")
    fields = [cause["field"] for cause in status["details"]["causes"]]
    assert sorted(fields) == ["empty_dir", "force"] and not site.cordoned
    await page.does(minutes="5", force="on", empty_dir="on")
    await site.says("drained this node", "2 of 2")
    assert not pod_exists(site.admin, lost) and not pod_exists(site.admin, keeps)


async def test_pods_added_later_are_not_evicted_without_consent(site: Site) -> None:
    """The console's cache can be stale, so that the confirmation page did not list the pod."""
    await site.page().does(minutes="5")
    await site.says("drained this node")
    lost = site.pod(owned=False)
    await site.page("resume-drain").does()
    text = await site.says("No pods were evicted", "Not evicted: the pod or its data would be lost")
    assert "/resume-drain" not in text and pod_exists(site.admin, lost) and site.cordoned


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"minutes": ""}, "Timeout (minutes): Use a whole number from 1 to 1,440."),
        ({"minutes": "0"}, "Use a whole number from 1 to 1,440."),
        ({"minutes": "5", "grace": "soon"}, "Use a whole number from 1 to 86,400."),
    ],
)
async def test_invalid_timeouts_are_rejected(site: Site, sent: dict[str, str], said: str) -> None:
    assert said in await site.page().refuses(400, **sent)
    assert not site.cordoned


@pytest.mark.also_old
async def test_a_drain_waits_for_a_disruption_budget_and_continues(site: Site) -> None:
    app = unique("app")
    kept, free = site.pod(app), site.pod()
    at = site.budget(app, 1, 1, 0, 1, minAvailable=1)
    name = at.rpartition("/")[2]
    await site.page().does(minutes="5")
    text = await site.says(
        f"{site.editor.name} is draining this node",
        "1 of 2",
        "Blocked by a disruption budget",
        f"The disruption budget {name} needs 1 healthy pods and has 1 currently",
    )
    assert "every 2s" in text and "/stop-drain" in text and kept["metadata"]["name"] in text
    assert pod_exists(site.admin, kept) and not pod_exists(site.admin, free)
    site.admin.patch(at, {"spec": {"minAvailable": 0}}, MERGE_PATCH).ok()
    await site.says("drained this node", "2 of 2")
    assert not pod_exists(site.admin, kept)


async def test_a_drain_waits_until_evicted_pods_are_deleted(site: Site) -> None:
    slow = site.pod()
    held = {"metadata": {"finalizers": ["example.com/wait"]}}
    at = path(site.namespace, "pods", slow["metadata"]["name"])
    site.admin.patch(at, held, MERGE_PATCH).ok()
    await site.page().does(minutes="5", grace="7")
    await site.says("Terminating", "0 of 1", slow["metadata"]["name"])
    assert site.now(slow)["metadata"]["deletionGracePeriodSeconds"] <= 7
    site.admin.patch(at, {"metadata": {"finalizers": None}}, MERGE_PATCH).ok()
    site.admin.delete(at, gracePeriodSeconds=0)
    await site.says("drained this node", "1 of 1")


async def _blocked(site: Site) -> Obj:
    """Start a drain that a disruption budget blocks, and return the blocked pod."""
    app = unique("app")
    kept = site.pod(app)
    site.budget(app, 1, 1, 0, 1, minAvailable=1)
    await site.page().does(minutes="5")
    await site.says("Blocked by a disruption budget")
    return kept


async def test_a_recreated_pod_counts_as_evicted(site: Site) -> None:
    kept = await _blocked(site)
    at = path(site.namespace, "pods", kept["metadata"]["name"])
    site.admin.delete(at, gracePeriodSeconds=0).ok()
    body = pod(kept["metadata"]["name"], nodeName=site.name, terminationGracePeriodSeconds=0)
    other = create_pod(site.admin, site.namespace, body)
    await site.says("drained this node", "1 of 1")
    assert pod_exists(site.admin, other)


async def test_refused_evictions_are_reported(site: Site) -> None:
    """The API server refuses to evict a pod that is covered by two budgets."""
    app = unique("app")
    kept, free = site.pod(app), site.pod()
    for _ in range(2):
        site.budget(app, 1, 0, 1, 1, minAvailable=0)
    await site.page().does(minutes="5")
    text = await site.says("the cluster refused to evict some pods", "1 of 2")
    assert "more than one PodDisruptionBudget" in text and "/resume-drain" in text
    assert pod_exists(site.admin, kept) and not pod_exists(site.admin, free)


async def test_stored_errors_do_not_depend_on_the_language(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader may use another language than the process that drains the node."""

    async def cut_off(*_: object) -> None:
        raise Unavailable(Message("The response from the Kubernetes API was incomplete"))

    monkeypatch.setattr(runner.DrainTask, "_ask", cut_off)
    site.pod()
    await site.page().does(minutes="5")
    assert "The response from the Kubernetes API was incomplete" not in await site.says(
        "The cluster did not respond", "0 of 1"
    )


async def test_a_drain_can_be_stopped(site: Site) -> None:
    kept = await _blocked(site)
    await site.page("stop-drain").does()
    text = await site.says(f"{site.editor.name} stopped draining this node")
    assert "stays cordoned" in text and "/uncordon" in text and "/resume-drain" in text
    assert pod_exists(site.admin, kept) and site.cordoned
    assert "The node is not being drained." in await site.page("stop-drain").refuses(409)
    trail = AuditRecord.objects.filter(subresource="eviction")
    asked = await trail.acount()
    at = path(site.namespace, "pods", kept["metadata"]["name"])
    site.admin.delete(at, gracePeriodSeconds=0).ok()
    await site.says("stopped draining this node", "1 of 1")
    assert await trail.acount() == asked


async def test_a_drain_stops_when_the_node_is_uncordoned(site: Site) -> None:
    kept = await _blocked(site)
    await site.page("uncordon").does()
    await _ended(State.STOPPED)
    assert pod_exists(site.admin, kept)


async def test_a_drain_fails_when_the_node_is_recreated(site: Site, cleanup: Cleanup) -> None:
    kept = await _blocked(site)
    site.admin.delete(f"{NODE_PATH}/{site.name}").ok()
    _node(cleanup, site.runtime, site.name)
    await _ended(State.FAILED, "node")
    assert pod_exists(site.admin, kept)


async def _ended(state: State, reason: str = "") -> None:
    until = time.monotonic() + SECONDS
    kept = await Operation.objects.aget()
    while time.monotonic() < until and kept.state == State.RUNNING:
        await asyncio.sleep(0.05)
        kept = await Operation.objects.aget()
    assert kept.state == state and kept.reason == (reason or kept.reason)


async def test_a_drain_stops_when_the_permission_is_revoked(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The console knows that the permission was revoked."""
    kept = await _blocked(site)
    looks = FakeAccess(site.editor.name, delete_in=())
    monkeypatch.setitem(VIEWERS, site.editor.name, lambda: looks)
    text = await site.says(f"{site.editor.name} no longer has permission to drain this node")
    assert "/resume-drain" not in text and "/uncordon" not in text
    assert pod_exists(site.admin, kept)


async def test_a_drain_stops_when_the_cluster_revokes_the_permission(
    site: Site, monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup
) -> None:
    editor = person(monkeypatch, cleanup, site.namespace)
    editor.grants.everywhere(user(editor.name), *RIGHTS)
    editor.grants.wait(editor.name, verb="create", resource="pods", subresource="eviction")
    site = replace(site, editor=editor)
    await _blocked(site)
    bindings = site.admin.get("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings").ok()
    for one in bindings["items"]:
        if any(subject["name"] == site.editor.name for subject in one.get("subjects") or ()):
            where = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
            site.admin.delete(f"{where}/{one['metadata']['name']}").ok()
    await site.says(f"{site.editor.name} no longer has permission to drain this node")
    assert not review(site.admin, site.editor.name, verb="list", resource="pods")


async def test_a_drain_stops_when_the_session_ends(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _blocked(site)
    monkeypatch.setitem(VIEWERS, "other", lambda: FakeAccess("other", get_in=None))
    monkeypatch.delitem(VIEWERS, site.editor.name)
    await _ended(State.FAILED, "session")
    assert "signed out" in await site.progress("other")


async def test_a_drain_stops_after_its_timeout(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MINUTE", 0.2)
    kept = await _blocked(site)
    text = await site.says("Drain stopped because the timeout of 5 minutes was reached.")
    assert kept["metadata"]["name"] in text and "stays cordoned" in text
    assert pod_exists(site.admin, kept)


async def test_an_interrupted_drain_can_be_resumed(site: Site) -> None:
    kept = await _blocked(site)
    await get_drains().interrupt()
    text = await site.says("Drain interrupted", "0 of 1")
    assert "/resume-drain" in text and pod_exists(site.admin, kept)
    await site.page("resume-drain").does()
    await site.says("is draining this node", "Blocked by a disruption budget")
    at = path(site.namespace, "pods", kept["metadata"]["name"])
    site.admin.delete(at, gracePeriodSeconds=0).ok()
    await site.says("drained this node", "1 of 1")


async def test_a_drain_without_heartbeat_can_be_resumed_by_another_process(site: Site) -> None:
    """The first process stops when it runs again."""
    await _blocked(site)
    number = (await Operation.objects.aget()).pk
    past = timezone.now() - 2 * STALE
    # Simulate a missed heartbeat: another process can now take over the operation.
    await Operation.objects.filter(pk=number).aupdate(heartbeat=past, state=State.INTERRUPTED)
    await site.page("resume-drain").does()
    await site.says("is draining this node")
    assert await Operation.objects.filter(state=State.RUNNING).acount() == 1
    await Operation.objects.filter(state=State.RUNNING).aupdate(heartbeat=past)


async def test_a_drain_without_heartbeat_is_shown_as_interrupted(site: Site) -> None:
    await _blocked(site)
    await get_drains().interrupt()
    past = timezone.now() - STALE - timedelta(seconds=1)
    rows = Operation.objects.all()
    await rows.aupdate(heartbeat=past, state=State.RUNNING, ended=None)
    await site.says("Drain interrupted", "/resume-drain")
    assert "The node is not being drained." in await site.page("stop-drain").refuses(409)
    await site.page("resume-drain").does()
    states = [one.state async for one in Operation.objects.order_by("pk")]
    assert states == [State.INTERRUPTED, State.RUNNING]


async def test_a_node_cannot_be_drained_twice_at_the_same_time(site: Site) -> None:
    await _blocked(site)
    assert "The node is already being drained." in await site.page().refuses(409, minutes="5")
    answer = await site.page().client().get(site.page().url)
    assert answer.status_code == 409
    assert (await site.page("resume-drain").status())["code"] == 409
    assert await Operation.objects.acount() == 1


async def test_a_recreated_node_of_the_same_name_is_not_drained(site: Site) -> None:
    page = site.page()
    said = await Page(page.who, page.url, "another").refuses(422, minutes="5")
    assert "replaced by another object with the same name" in said
    assert not site.cordoned and not await Operation.objects.aexists()


async def test_users_without_permission_cannot_drain(
    site: Site, monkeypatch: pytest.MonkeyPatch, cleanup: Cleanup, namespace: str
) -> None:
    for action in ("drain", "stop-drain", "resume-drain"):
        await refused_to_strangers(site.page(action), "nodes")
    partly = FakeAccess("partly", list_in={namespace}, get_in=None)
    monkeypatch.setitem(VIEWERS, "partly", lambda: partly)
    assert "pods" in await Page("partly", site.page().url, site.page().uid).refuses(403)
    eve = person(monkeypatch, cleanup, namespace)
    refused = await eve.on("drain", "nodes", site.node).refuses(403, minutes="5")
    assert "Permission denied by the cluster." in refused
    assert not site.cordoned and not await Operation.objects.aexists()


async def test_progress_hides_pods_from_users_who_cannot_list_them(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = await _blocked(site)
    looks = FakeAccess("looks", list_in=set(), delete_in=(), names=[Key("", site.name)])
    looks.get_in = None
    monkeypatch.setitem(VIEWERS, "looks", lambda: looks)
    text = await site.progress("looks")
    assert "is draining this node" in text and kept["metadata"]["name"] not in text
    assert "of 1" not in text and "disruption budget" not in text and "/stop-drain" not in text
