"""Actions on objects of each kind, to compare with kubectl."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from console.kube import gvr as types
from console.kube.gvr import GVR
from console.kube.runtime import Runtime
from console.ui.core.kind import ResourceKind
from console.ui.core.registry import kinds
from tests.contract.cleanup import Cleanup
from tests.contract.client import Client, Obj
from tests.contract.objects import NOBODY, config_map, deployment, pod, unique
from tests.contract.pages import known
from tests.contract.signing_requests import signing_request_spec
from tests.contract.workloads import cron_job, daemon_set, job, stateful_set
from tests.controlplane.waiting import eventually
from tests.support.forms import form_data


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


WEB = deployment("web", "example/zero:1")
SET = stateful_set("web")
PAUSED = {**WEB, "spec": {**WEB["spec"], "paused": True}}
SUSPENDED = {"suspend": True}
LABELS = {"labels": "a=1\nb=two", "annotations": "example.com/note=\"x\\ny 'z'\""}
LABELLED = {**config_map("settings", k="v")}


REQUEST = {"spec": signing_request_spec()}
AUTOSCALED = {"least": "2", "most": "5", "cpu": "70", "memory": "90"}
SERVICE = {"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}
OUTSIDE = {"spec": {**SERVICE["spec"], "type": "LoadBalancer"}}
CLASS = {"provisioner": NOBODY}
TENANTS = {"metadata": {"labels": {"kubesphere.io/workspace": "acme"}}}
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
CASES = (
    Case(types.DEPLOYMENTS, "scale", WEB, {"replicas": "2"}),
    Case(types.DEPLOYMENTS, "restart", WEB),
    Case(types.DEPLOYMENTS, "pause", WEB),
    Case(types.DEPLOYMENTS, "resume", PAUSED),
    Case(types.DEPLOYMENTS, "delete", WEB),
    Case(types.STATEFUL_SETS, "scale", SET, {"replicas": "2"}),
    Case(types.STATEFUL_SETS, "restart", SET),
    Case(types.DAEMON_SETS, "restart", daemon_set("web")),
    Case(types.JOBS, "suspend", job("once")),
    Case(types.JOBS, "resume", {"spec": {**job("once")["spec"], **SUSPENDED}}),
    Case(types.CRON_JOBS, "suspend", cron_job("often")),
    Case(types.CRON_JOBS, "resume", {"spec": {**cron_job("often")["spec"], **SUSPENDED}}),
    Case(types.CRON_JOBS, "run", cron_job("often"), {"name": "NAME-x"}, types.JOBS, "NAME-x"),
    Case(types.DEPLOYMENTS, "autoscale", WEB, AUTOSCALED, types.HORIZONTAL_POD_AUTOSCALERS),
    Case(types.STATEFUL_SETS, "autoscale", SET, AUTOSCALED, types.HORIZONTAL_POD_AUTOSCALERS),
    Case(types.SERVICES, "external-access", SERVICE, {"type": "NodePort"}),
    Case(types.SERVICES, "external-access", OUTSIDE, {"type": "ClusterIP"}),
    Case(types.CONFIG_MAPS, "labels", LABELLED, LABELS),
    Case(types.NAMESPACES, "describe", {}, {"alias": "The shop's", "description": "x & y"}),
    Case(types.NAMESPACES, "assign-workspace", TENANTS, {"workspace": ""}),
    Case(types.NODES, "cordon", {**READY, "spec": {}}),
    Case(types.NODES, "uncordon", {**READY, "spec": {"unschedulable": True}}),
    Case(types.CERTIFICATE_SIGNING_REQUESTS, "approve", REQUEST),
    Case(types.CERTIFICATE_SIGNING_REQUESTS, "deny", REQUEST),
    Case(types.STORAGE_CLASSES, "set-default", CLASS),
    Case(types.STORAGE_CLASSES, "unset-default", {**CLASS, "metadata": {"annotations": DEFAULT}}),
    Case(types.STORAGE_CLASSES, "allow-expansion", CLASS),
    Case(types.STORAGE_CLASSES, "forbid-expansion", {**CLASS, "allowVolumeExpansion": True}),
    Case(types.STORAGE_CLASSES, "operations", CLASS, {"clone": "true", "snapshot": "false"}),
    Case(types.PODS, "delete", pod("web"), {"grace": "seconds", "seconds": "1"}),
)  # fmt: skip


def collection(gvr: GVR, namespace: str) -> str:
    return gvr.path(namespace if kind_of(gvr).view.namespaced else "")


def make(
    runtime: Runtime, cleanup: Cleanup, gvr: GVR, body: Mapping[str, Any], namespace: str
) -> Obj:
    """Create the object and wait until the console has loaded it."""
    kind, new = kind_of(gvr), json.loads(json.dumps(body))
    new |= {"apiVersion": kind.gvr.group_version, "kind": kind.api_kind}
    new["metadata"] = {**new.get("metadata", {}), "name": unique("twin")}
    where = collection(gvr, namespace)
    made = eventually(
        lambda: (answer := cleanup.admin.post(where, new)).status != 403 and answer,
        "it is admitted",
    )
    assert made
    found: Obj = made.ok()
    path = f"{where}/{new['metadata']['name']}"
    cleanup.forget(path)
    if gvr == types.NODES:
        found = settled(cleanup.admin, path)
    known(runtime, gvr, found)
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
    found, name = form_data(page), made["metadata"]["name"]
    for key, value in case.sent.items():
        found[key] = value(found[key]) if callable(value) else value.replace("NAME", name)
    return found
