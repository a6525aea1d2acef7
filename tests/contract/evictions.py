"""Running pods and disruption budgets."""

from typing import Any

from tests.contract.client import MERGE_PATCH, Client, Obj
from tests.contract.objects import create_pod, path, pod, unique
from tests.controlplane.waiting import eventually

BUDGETS = "policy/v1"
HEALTHY = ("currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods")


def running(admin: Client, namespace: str, app: str, *, ready: bool = True) -> Obj:
    """Create a pod and set its status to running."""
    name = unique("pod")
    create_pod(admin, namespace, pod(name, {"app": app}))
    set_running(admin, namespace, name, ready=ready)
    found: Obj = admin.get(path(namespace, "pods", name)).ok()
    return found


def set_running(admin: Client, namespace: str, name: str, *, ready: bool = True) -> None:
    condition = {"type": "Ready", "status": str(ready)}
    body = {"status": {"phase": "Running", "conditions": [condition]}}
    admin.patch(f"{path(namespace, 'pods', name)}/status", body, MERGE_PATCH).ok()


def budget(admin: Client, namespace: str, app: str, **spec: Any) -> str:
    """Create a PodDisruptionBudget and return its path."""
    name = unique("pdb")
    spec = {"selector": {"matchLabels": {"app": app}}, **spec}
    admin.post(
        path(namespace, "poddisruptionbudgets", group=BUDGETS),
        {"metadata": {"name": name}, "spec": spec},
    ).ok()
    return path(namespace, "poddisruptionbudgets", name, group=BUDGETS)


def wait_for_budget_status(admin: Client, at: str, *numbers: int) -> Obj:
    """Wait until the fields of `HEALTHY` have these numbers, and return the status."""

    def settled() -> Any:
        status = admin.get(at).ok().get("status", {})
        return [status.get(one) for one in HEALTHY] == [*numbers] and status

    found: Obj = eventually(settled, f"{at} says {numbers}")
    return found


def pod_exists(admin: Client, made: Obj) -> bool:
    about = made["metadata"]
    return admin.get(path(about["namespace"], "pods", about["name"])).status == 200
