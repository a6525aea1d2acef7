"""Each action that shows a kubectl command has the same effect as that command. The console changes
one object, the command changes an identical one, and the results are compared.
"""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from accounts.bootstrap import manifests
from console.kube import gvr as types
from console.kube.gvr import GVR
from console.kube.runtime import Runtime
from console.ui.core.actions import Action
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from tests.contract.client import Client, Obj
from tests.contract.cluster import Cluster, Kubectl
from tests.contract.crds import served
from tests.contract.grants import rule
from tests.contract.objects import config_map, deployment, pod, unique
from tests.contract.pages import Page, Person, console_on, known, person
from tests.contract.test_certificate_actions import asking
from tests.contract.test_service_actions import drawn
from tests.contract.test_storage_actions import NOBODY, _snapshots
from tests.contract.test_workload_actions import cron_job, daemon_set, job, stateful_set
from tests.contract.tidy import Scrap
from tests.controlplane.waiting import eventually
from tests.depth import fewer
from tests.views.conftest import _site
from tests.views.test_lists import text_of

__all__ = ["_site", "_snapshots"]

pytestmark = pytest.mark.django_db(transaction=True)
TAINT = {"key": "example.com/old", "value": "yes", "effect": "PreferNoSchedule"}
#: Actions that need special objects. They are compared in other modules.
ELSEWHERE = {
    "rollback": "test_workload_actions: a revision that there was",
    "rerun": "test_workload_actions: kubectl has no such thing",
    "keys": "test_key_actions: the line of a Secret leaves its values out",
    "expand": "test_storage_actions: of a claim with a volume",
    "snapshot": "test_storage_actions: of a claim with a volume",
    "clone": "test_storage_actions: of a claim with a volume",
    "volume": "test_storage_actions: of a snapshot that is ready",
    "drain": "test_drain: by evictions, for as long as it takes",
    "default-registry": "test_registry_actions: all of a project share one service account",
    "role": "test_account_actions: with a role of the project, and bindings that it had",
    "debug": "test_debug_actions: kubectl waits until the container runs",
    "shell": "test_node_shells: in a namespace of its own",
    "edit": "test_edit: kubectl opens an editor",
    "log": "test_logs: nothing is changed",
    "terminal": "tests/terminals: nothing is changed",
    "open-port": "tests/proxying/test_panel: nothing is changed",
}


@dataclass(frozen=True)
class Case:
    """An action to compare.

    `body`: the object, without its name. `sent`: form input that replaces the initial values, or
    functions of the initial values. `makes`: the resource type of the object that the action
    creates, if any. `called`: the name of that object.
    """

    gvr: GVR
    action: str
    body: Mapping[str, Any]
    sent: Mapping[str, str | Callable[[str], str]] = field(default_factory=dict)
    makes: GVR | None = None
    called: str = "NAME"

    def __str__(self) -> str:
        return f"{self.gvr.resource}-{self.action}"

    @property
    def kind(self) -> ResourceKind:
        return kind_of(self.gvr)


def kind_of(gvr: GVR) -> ResourceKind:
    found = kinds.by_type(gvr)
    assert found is not None
    return found


def another_taint(shown: str) -> str:
    """Replace a taint in the form's text. Taints of controllers are kept."""
    return shown.replace("example.com/old=yes:PreferNoSchedule", "example.com/new:NoSchedule")


WEB = deployment("web", "example/zero:1")
SET = stateful_set("web")
RESOURCES = {"containers-0-memory_limit": "1Gi", "containers-0-cpu_request": "100m"}
ENV = {"containers0-0-name": "MODE", "containers0-0-value": "it's\nfast"}
PROBE = {"containers0-1-sort": "exec", "containers0-1-command": "cat 'a b'"}
VOLUME = {"volumes-0-name": "a", "volumes-0-kind": "configMap", "volumes-0-object": "b"}
MOUNTED = {**VOLUME, "containers0-0-volume": "a", "containers0-0-path": "/etc/a"}
PAUSED = {**WEB, "spec": {**WEB["spec"], "paused": True}}
SUSPENDED = {"suspend": True}
LABELS = {"labels": "a=1\nb=two", "annotations": "example.com/note=\"x\\ny 'z'\""}
LABELLED = {**config_map("settings", k="v")}
LABELLED["metadata"]["labels"] = {"a": "0", "gone": "yes"}
REQUEST = {"spec": asking()}
AUTOSCALED = {"least": "2", "most": "5", "cpu": "70", "memory": "90"}
SERVICE = {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
OUTSIDE = {"spec": {**SERVICE["spec"], "type": "LoadBalancer"}}
PASSED = {"ports-0-port": "81", "ports-0-protocol": "TCP", "affinity": "ClientIP"}
PATH = {
    "path": "/",
    "pathType": "Prefix",
    "backend": {"service": {"name": "web", "port": {"number": 80}}},
}
LED = {"spec": {"rules": [{"host": "a.example.com", "http": {"paths": [PATH]}}]}}
LEADS = {"paths-0-type": "Exact", "paths-0-service": "api", "tls-0-secret": "tls"}
CLASS = {"provisioner": NOBODY}
TENANTS = {"metadata": {"labels": {"kubesphere.io/workspace": "acme"}}}
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
CASES = (
    Case(types.DEPLOYMENTS, "scale", WEB, {"replicas": "2"}),
    Case(types.DEPLOYMENTS, "restart", WEB),
    Case(types.DEPLOYMENTS, "pause", WEB),
    Case(types.DEPLOYMENTS, "resume", PAUSED),
    Case(types.DEPLOYMENTS, "set-image", WEB, {"image.c0": "example/zero:2;it's"}),
    Case(types.DEPLOYMENTS, "set-resources", WEB, RESOURCES),
    Case(types.DEPLOYMENTS, "environment", WEB, ENV),
    Case(types.DEPLOYMENTS, "probes", WEB, PROBE),
    Case(types.DEPLOYMENTS, "volumes", WEB, MOUNTED),
    Case(types.DEPLOYMENTS, "strategy", WEB, {"type": "Recreate"}),
    Case(types.STATEFUL_SETS, "strategy", SET, {"partition": "2"}),
    Case(types.DEPLOYMENTS, "delete", WEB),
    Case(types.STATEFUL_SETS, "scale", SET, {"replicas": "2"}),
    Case(types.STATEFUL_SETS, "restart", SET),
    Case(types.STATEFUL_SETS, "set-image", SET, {"image.c0": "example/zero:2"}),
    Case(types.STATEFUL_SETS, "set-resources", SET, RESOURCES),
    Case(types.DAEMON_SETS, "restart", daemon_set("web")),
    Case(types.DAEMON_SETS, "set-image", daemon_set("web"), {"image.c0": "example/zero:2"}),
    Case(types.JOBS, "suspend", job("once")),
    Case(types.JOBS, "resume", {"spec": {**job("once")["spec"], **SUSPENDED}}),
    Case(types.CRON_JOBS, "suspend", cron_job("often")),
    Case(types.CRON_JOBS, "resume", {"spec": {**cron_job("often")["spec"], **SUSPENDED}}),
    Case(types.CRON_JOBS, "environment", cron_job("often"), ENV),
    Case(types.CRON_JOBS, "run", cron_job("often"), {"name": "NAME-x"}, types.JOBS, "NAME-x"),
    Case(types.DEPLOYMENTS, "autoscale", WEB, AUTOSCALED, types.HORIZONTAL_POD_AUTOSCALERS),
    Case(types.STATEFUL_SETS, "autoscale", SET, AUTOSCALED, types.HORIZONTAL_POD_AUTOSCALERS),
    Case(types.SERVICES, "external-access", SERVICE, {"type": "NodePort"}),
    Case(types.SERVICES, "external-access", OUTSIDE, {"type": "ClusterIP"}),
    Case(types.SERVICES, "service", SERVICE, {**PASSED, "selector": "tier=front"}),
    Case(types.INGRESSES, "rules", LED, LEADS),
    Case(types.CONFIG_MAPS, "labels", LABELLED, LABELS),
    Case(types.NAMESPACES, "describe", {}, {"alias": "The shop's", "description": "x & y"}),
    Case(types.NAMESPACES, "assign-workspace", TENANTS, {"workspace": ""}),
    Case(types.NODES, "cordon", {**READY, "spec": {}}),
    Case(types.NODES, "uncordon", {**READY, "spec": {"unschedulable": True}}),
    Case(types.NODES, "taints", {**READY, "spec": {"taints": [TAINT]}}, {"taints": another_taint}),
    Case(types.CERTIFICATE_SIGNING_REQUESTS, "approve", REQUEST),
    Case(types.CERTIFICATE_SIGNING_REQUESTS, "deny", REQUEST),
    Case(types.STORAGE_CLASSES, "set-default", CLASS),
    Case(types.STORAGE_CLASSES, "unset-default", {**CLASS, "metadata": {"annotations": DEFAULT}}),
    Case(types.STORAGE_CLASSES, "allow-expansion", CLASS),
    Case(types.STORAGE_CLASSES, "forbid-expansion", {**CLASS, "allowVolumeExpansion": True}),
    Case(types.STORAGE_CLASSES, "operations", CLASS, {"clone": "true", "snapshot": "false"}),
    Case(types.PODS, "delete", pod("web"), {"grace": "seconds", "seconds": "1"}),
)  # fmt: skip
#: Cases that run the same code as the case of another kind. They are tested only in the full run.
AGAIN = {
    *("statefulsets-scale", "statefulsets-restart", "statefulsets-set-image"),
    *("statefulsets-set-resources", "statefulsets-autoscale", "daemonsets-set-image"),
    *("cronjobs-suspend", "cronjobs-resume"),
}


@pytest.fixture(scope="module")
def _workspaces(admin: Client) -> Iterator[None]:
    """Install the definition of workspaces, because an action waits for the list of workspaces."""
    name = types.WORKSPACE_TEMPLATES.qualified
    with served(admin, [one for one in manifests("crds.yaml") if one["metadata"]["name"] == name]):
        yield


@pytest.fixture(scope="module")
def runtime(cluster: Cluster, _workspaces: None) -> Iterator[Runtime]:
    followed = {case.gvr for case in CASES}
    with console_on(cluster, [*followed, types.REPLICA_SETS]) as found:
        yield found


@pytest.fixture
def olga(monkeypatch: pytest.MonkeyPatch, scrap: Scrap, namespace: str) -> Person:
    return person(monkeypatch, scrap, namespace, rule("*", "*", "*"))


def collection(gvr: GVR, namespace: str) -> str:
    return gvr.path(namespace if kind_of(gvr).view.namespaced else "")


def make(runtime: Runtime, scrap: Scrap, case: Case, namespace: str) -> Obj:
    """Create the object of this case and wait until the console has loaded it."""
    kind, body = case.kind, json.loads(json.dumps(case.body))
    body |= {"apiVersion": kind.gvr.group_version, "kind": kind.api_kind}
    body["metadata"] = {**body.get("metadata", {}), "name": unique("twin")}
    where = collection(case.gvr, namespace)
    made = eventually(
        lambda: (answer := scrap.admin.post(where, body)).status != 403 and answer, "it is admitted"
    )
    assert made
    found: Obj = made.ok()
    path = f"{where}/{body['metadata']['name']}"
    scrap.forget(path)
    if case.gvr == types.NODES:
        found = settled(scrap.admin, path)
    known(runtime, case.gvr, found)
    return found


def settled(admin: Client, path: str) -> Obj:
    """Return the node after its controller has removed the not-ready taint of a new node."""

    def node() -> Obj:
        found: Obj = admin.get(path).ok()
        return found

    eventually(
        lambda: (
            "node.kubernetes.io/not-ready"
            not in [t["key"] for t in node()["spec"].get("taints", ())]
        ),
        "it is ready",
    )
    return node()


def sent(case: Case, made: Obj, page: str) -> dict[str, str]:
    """Return the form data that a browser without JavaScript would submit after the user filled in
    the form.
    """
    found, name = drawn(page), made["metadata"]["name"]
    for key, value in case.sent.items():
        found[key] = value(found[key]) if callable(value) else value.replace("NAME", name)
    return found


async def done(page: Page, case: Case, made: Obj) -> None:
    """Submit the action. Retry on a conflict, because controllers of the real cluster taint a node
    without kubelet.
    """
    for _time in range(10):
        data = {**sent(case, made, await page.asks()), "uid": page.uid}
        answer = await page.client().post(page.url, data)
        if answer.status_code != 409:
            break
    assert answer.status_code == 302, await text_of(answer)


async def line_of(page: Page, fields: Mapping[str, str], *, reviews: bool) -> str:
    """Return the kubectl command that the page shows for this input, before the action runs."""
    step = "review" if reviews else "edit"
    answer = await page.client().post(page.url, {**fields, "step": step, "uid": page.uid})
    assert answer.status_code == 200, answer.content
    found = re.search(
        r"<code>(.*?)</code>", answer.content.decode().rpartition("kubectl:")[2], re.S
    )
    assert found is not None, answer.content
    return html.unescape(found[1])


def alike(obj: Obj | None, name: str) -> Any:
    """Return the object without names, timestamps, and controller annotations, for comparison."""
    if obj is None:
        return None
    about = obj["metadata"]
    notes = {k: v for k, v in about.get("annotations", {}).items() if k not in _NOTED}
    labels = about.get("labels", {})
    spec = dict(obj.get("spec", {}))
    if obj["kind"] == "Node":
        labels = {k: v for k, v in labels.items() if not k.startswith("beta.kubernetes.io/")}
        there = spec.get("taints", ())
        spec["taints"] = [one for one in there if not one["key"].startswith("node.kubernetes.io/")]
    if obj["kind"] == "Service":
        spec = {k: v for k, v in spec.items() if k not in ("clusterIP", "clusterIPs")}
        spec["ports"] = [{**one, "nodePort": "nodePort" in one} for one in spec["ports"]]
    conditions = obj.get("status", {}).get("conditions") or ()
    found = {
        **{key: value for key, value in obj.items() if key not in ("metadata", "status")},
        "metadata": {"labels": labels, "annotations": notes},
        "owners": [(one["kind"], one["name"]) for one in about.get("ownerReferences", ())],
        "spec": spec,
        "verdicts": [one["type"] for one in conditions if one["type"] in ("Approved", "Denied")],
    }
    text = json.dumps(found, sort_keys=True).replace(name, "NAME").replace(about["uid"], "UID")
    text = re.sub(r"kube-api-access-\w+", "TOKEN", text)
    return json.loads(re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?([+-]\d\d:\d\d)?", "TIME", text))


_NOTED = (
    "deployment.kubernetes.io/revision",
    "deprecated.daemonset.template.generation",
    "node.alpha.kubernetes.io/ttl",
)


def outcome(admin: Client, case: Case, made: Obj, namespace: str) -> Any:
    name = made["metadata"]["name"]
    where = collection(case.makes or case.gvr, namespace)
    answer = admin.get(f"{where}/{case.called.replace('NAME', name)}")
    return alike(None if answer.status == 404 else answer.ok(), name)


@pytest.mark.parametrize("case", fewer(CASES, *(c for c in CASES if str(c) not in AGAIN)), ids=str)
async def test_an_action_has_the_same_effect_as_its_kubectl_command(
    runtime: Runtime,
    scrap: Scrap,
    olga: Person,
    kubectl: Kubectl,
    namespace: str,
    case: Case,
) -> None:
    segment = case.kind.segment
    one, other = (make(runtime, scrap, case, namespace) for _ in range(2))
    before = outcome(scrap.admin, case, one, namespace)
    assert before == outcome(scrap.admin, case, other, namespace)
    page, its_page = (olga.on(case.action, segment, made) for made in (one, other))
    action = case.kind.actions_by_name[case.action]
    filled = sent(case, other, await its_page.asks())
    line = await line_of(its_page, filled, reviews=action.has_preview)
    assert outcome(scrap.admin, case, other, namespace) == before
    await done(page, case, one)
    kubectl.line(line)
    found = [outcome(scrap.admin, case, made, namespace) for made in (one, other)]
    assert found[0] == found[1], line
    assert found[0] != before, line


def test_every_action_with_a_kubectl_command_is_covered() -> None:
    told = {
        action.name
        for kind in kinds
        for action in kind.actions_by_name.values()
        if type(action).command is not Action.command
    }
    assert told - ELSEWHERE.keys() == {case.action for case in CASES}
