"""Evicting and deleting pods."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from console.audit.models import AuditRecord
from console.kube.gvr import NAMESPACES, POD_DISRUPTION_BUDGETS, PODS, Key
from console.kube.runtime import Runtime
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster
from tests.contract.evictions import budget, pod_exists, running, wait_for_budget_status
from tests.contract.grants import Grants, rule
from tests.contract.objects import path, unique
from tests.contract.pages import join
from tests.controlplane.waiting import eventually
from tests.kube.clusters import live
from tests.support.responses import text_of
from tests.ui.support import FakeAccess
from tests.views.conftest import ClientAs, SignedIn, _site
from tests.views.viewers import VIEWERS

__all__ = ["_site"]

pytestmark = pytest.mark.django_db(transaction=True)

JSON = {"Accept": "application/json"}
FOLLOWED = (NAMESPACES, PODS, POD_DISRUPTION_BUDGETS)
RIGHTS = (
    rule("get list delete", "pods"),
    rule("create", "pods/eviction"),
    rule("list", "poddisruptionbudgets", "policy"),
)


@pytest.fixture(scope="module")
def _runtime(cluster: Cluster) -> Iterator[Runtime]:
    runtime = Runtime(kubeconfig=str(cluster.kubeconfig))
    runtime.start()
    runtime.require(FOLLOWED)
    eventually(lambda: all(live(runtime.informer(gvr)) for gvr in FOLLOWED), "all is known")
    yield runtime
    runtime.stop()


@pytest.fixture(autouse=True)
def runtime(_runtime: Runtime) -> Iterator[Runtime]:
    set_host_cluster(_runtime)
    yield _runtime
    unset_host_cluster()


@dataclass(frozen=True)
class Project:
    """A namespace and a user with permission to delete and evict pods in it."""

    admin: Client
    runtime: Runtime
    namespace: str
    viewer: str

    def pod(self, app: str) -> Obj:
        """Create a running pod and wait until the console has loaded it."""
        made = running(self.admin, self.namespace, app)
        self.known(PODS, made["metadata"]["name"], made["metadata"]["resourceVersion"])
        return made

    def budget(self, app: str, *numbers: int, **spec: Any) -> str:
        """Create a PodDisruptionBudget and return its name."""
        at = budget(self.admin, self.namespace, app, **spec)
        wait_for_budget_status(self.admin, at, *numbers)
        found = self.admin.get(at).ok()["metadata"]
        self.known(POD_DISRUPTION_BUDGETS, found["name"], found["resourceVersion"])
        return str(found["name"])

    def known(self, gvr: Any, name: str, version: str) -> None:
        store = self.runtime.informer(gvr).store

        def arrived() -> bool:
            entry = store.get(Key(self.namespace, name))
            if entry is None:
                return False
            return int(entry.original()["metadata"]["resourceVersion"]) >= int(version)

        eventually(arrived, f"{name} is known")

    def url(self, made: Obj, action: str) -> str:
        name = made["metadata"]["name"]
        return f"/clusters/host/projects/{self.namespace}/pods/{name}/actions/{action}"

    def client(self, **headers: str) -> SignedIn:
        return ClientAs()(self.viewer, **headers)

    async def page(self, made: Obj, action: str) -> str:
        found = await self.client().get(self.url(made, action))
        text: str = await text_of(found)
        assert found.status_code == 200, text
        return text

    async def do(self, made: Obj, action: str, **data: str) -> Any:
        sent = {"uid": made["metadata"]["uid"], **data}
        return await self.client().post(self.url(made, action), sent)

    async def bulk(self, action: str, *made: Obj) -> str:
        lines = [
            f"{one['metadata']['uid']} {self.namespace}%2F{one['metadata']['name']}" for one in made
        ]
        url = f"/bulk/host/pods/{action}"
        done = await self.client().post(url, {"targets": "\n".join(lines)})
        text: str = await text_of(done)
        return text


@pytest.fixture
def project(
    monkeypatch: pytest.MonkeyPatch,
    admin: Client,
    namespace: str,
    cleanup: Cleanup,
    runtime: Runtime,
) -> Project:
    viewer = FakeAccess(
        unique("editor"), list_in={namespace}, delete_in={namespace}, get_in={namespace}
    )
    name = viewer.identity.name
    monkeypatch.setitem(VIEWERS, name, lambda: viewer)
    join(viewer, Grants(cleanup, namespace).team(*RIGHTS, here=True))
    return Project(admin, runtime, namespace, name)


@pytest.mark.also_old
async def test_a_pod_is_evicted(project: Project) -> None:
    app = unique("app")
    made = project.pod(app)
    project.budget(app, 1, 0, 1, 1, minAvailable=0)
    page = await project.page(made, "evict")
    assert "A pod is deleted only if its disruption budget allows the eviction." in page
    assert "No controller manages this pod" in page and "Blocked by a disruption budget" not in page
    done = await project.do(made, "evict")
    assert done.status_code == 302 and done["Location"].endswith(
        f"/pods?namespace={project.namespace}"
    )
    assert not pod_exists(project.admin, made)
    record = await AuditRecord.objects.aget()
    assert (record.verb, record.resource, record.subresource) == ("create", "pods", "eviction")
    assert (record.actor, record.code) == (project.viewer, 200)


@pytest.mark.also_old
async def test_the_blocking_disruption_budget_is_shown(project: Project) -> None:
    app = unique("app")
    made = project.pod(app)
    name = project.budget(app, 1, 1, 0, 1, minAvailable=1)
    note = f"The disruption budget {name} currently does not allow this eviction."
    assert note in await project.page(made, "evict")
    said = (
        "Blocked by a disruption budget. "
        f"The disruption budget {name} needs 1 healthy pods and has 1 currently"
    )
    refused = await project.do(made, "evict")
    assert refused.status_code == 429 and said in await text_of(refused)
    answer = await project.client(**JSON).post(
        project.url(made, "evict"), {"uid": made["metadata"]["uid"]}
    )
    status = json.loads(await text_of(answer))
    assert (status["code"], status["reason"], status["message"]) == (429, "TooManyRequests", said)
    assert pod_exists(project.admin, made)


async def test_a_recreated_pod_of_the_same_name_is_not_evicted(project: Project) -> None:
    made = project.pod(unique("app"))
    url = project.url(made, "evict")
    refused = await project.client().post(url, {"uid": "another"})
    assert refused.status_code == 409
    assert "replaced by another object with the same name" in await text_of(refused)
    assert pod_exists(project.admin, made)


async def test_a_bulk_eviction_reports_blocked_pods(project: Project) -> None:
    free, kept = unique("app"), unique("app")
    name = project.budget(kept, 0, 1, 0, 0, minAvailable=1)
    gone, stays = project.pod(free), project.pod(kept)
    wait_for_budget_status(
        project.admin,
        path(project.namespace, "poddisruptionbudgets", name, group="policy/v1"),
        *(1, 1, 0, 1),
    )
    text = await project.bulk("evict", gone, stays)
    assert "Evicted" in text and "Not evicted" in text
    assert f"The disruption budget {name} needs 1 healthy pods" in text
    assert not pod_exists(project.admin, gone) and pod_exists(project.admin, stays)


@pytest.mark.parametrize("claimed", [False, True])
async def test_users_without_permission_cannot_evict(
    project: Project, monkeypatch: pytest.MonkeyPatch, namespace: str, claimed: bool
) -> None:
    """Refused by the console, or only by the cluster."""
    made = project.pod(unique("app"))
    rights = {namespace} if claimed else set[str]()
    rita = FakeAccess(unique("rita"), list_in={namespace}, delete_in=rights)
    monkeypatch.setitem(VIEWERS, rita.identity.name, lambda: rita)
    uid = made["metadata"]["uid"]
    refused = await ClientAs()(rita.identity.name).post(project.url(made, "evict"), {"uid": uid})
    assert refused.status_code == 403
    assert ("Permission denied by the cluster." in await text_of(refused)) is claimed
    assert pod_exists(project.admin, made)


@pytest.mark.also_old
@pytest.mark.parametrize(
    ("sent", "line", "left"),
    [
        ({}, "kubectl delete pods NAME -n PROJECT", 30),
        ({"grace": "seconds", "seconds": "7"}, "", 7),
        ({"grace": "now", "seconds": ""}, "", None),
    ],
)
async def test_a_pod_is_deleted_with_the_selected_grace_period(
    project: Project, sent: dict[str, str], line: str, left: int | None
) -> None:
    made = project.pod(unique("app"))
    name = made["metadata"]["name"]
    at = path(project.namespace, "pods", name)
    target = {"apiVersion": "v1", "kind": "Node", "name": "some-node"}
    binding = {"metadata": {"name": name}, "target": target}
    project.admin.post(f"{at}/binding", binding).ok()
    page = await project.page(made, "delete")
    assert line.replace("NAME", name).replace("PROJECT", project.namespace) in page
    assert "Pod default: 30 seconds" in page and "The containers may keep running" in page
    assert (await project.do(made, "delete", **sent)).status_code == 302
    if left is None:
        assert not pod_exists(project.admin, made)
        return
    about = project.admin.get(at).ok()["metadata"]
    assert about["deletionGracePeriodSeconds"] == left
    project.admin.delete(at, gracePeriodSeconds=0).ok()


@pytest.mark.parametrize(
    ("sent", "said", "shown"),
    [
        ({"grace": "seconds"}, "Seconds: Enter the number of seconds.", ""),
        ({"grace": "seconds", "seconds": "0"}, "Seconds: Use a whole number from 1 to 86,400.", ""),
        (
            {"grace": "later"},
            "Grace period: This option is no longer available. Choose another option.",
            "",
        ),
        ({"grace": "now", "seconds": "x"}, "Seconds: Use a", " --grace-period=0 --force"),
    ],
)
async def test_invalid_grace_periods_are_rejected(
    project: Project, sent: dict[str, str], said: str, shown: str
) -> None:
    made = project.pod(unique("app"))
    refused = await project.do(made, "delete", **sent)
    text = await text_of(refused)
    assert refused.status_code == 400 and said in text and shown in text
    assert pod_exists(project.admin, made)
