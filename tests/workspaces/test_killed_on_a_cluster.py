"""Controllers that are killed after every write they do, on a real control plane.

Each life of the controllers ends with its first write: whatever was to follow in that reconcile, and in
all others, is left to the next one, which knows nothing but the cluster. What is there in the end must
be what controllers make that live on, and nothing may be left when it is all deleted.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any, cast

import pytest

from accounts.controllers import UserReconciler
from accounts.farewell import FarewellReconciler
from accounts.groupbindings import GroupBindingReconciler
from accounts.groups import GroupReconciler
from console.kube import controller
from console.kube.client import ConsoleClient
from console.kube.gvr import EVENTS, GVR
from console.kube.runtime import Runtime
from rbac.controllers import FACTORIES as PROJECTION
from tests.accounts.crashing import WRITES
from tests.controlplane.cluster import ControlPlane
from tests.rbac.objects import binding, global_role, rule, workspace_binding, workspace_role
from tests.workspaces.cast import person, template
from tests.workspaces.conftest import console_kubeconfig
from workspaces.controllers import FACTORIES

ACCOUNTS = (UserReconciler, FarewellReconciler, GroupReconciler, GroupBindingReconciler)
#: Looks, and seconds between two of them, without a write after which there is nothing left to do. They
#: are counted, since a machine that stands still for a while writes nothing either.
LOOKS, LOOK_EVERY = 50, 0.05
#: Lives that one step may take; more of them is a fight between controllers.
MOST_LIVES = 120
#: All types that the controllers write, and those of which they make something.
KINDS = (
    *("users.iam.kubesphere.io", "groups.iam.kubesphere.io", "groupbindings.iam.kubesphere.io"),
    *("globalroles.iam.kubesphere.io", "globalrolebindings.iam.kubesphere.io"),
    *("workspaceroles.iam.kubesphere.io", "workspacerolebindings.iam.kubesphere.io"),
    *("workspacetemplates.tenant.kubesphere.io", "workspaces.tenant.kubesphere.io"),
    *("resourcequotas.quota.kubesphere.io", "namespaces", "clusterroles", "clusterrolebindings"),
    *("roles", "rolebindings", "resourcequotas", "limitranges", "networkpolicies"),
)
_VOLATILE = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"}
    | {"lastTransitionTime", "kubectl.kubernetes.io/last-applied-configuration"}
)
Manifest = dict[str, Any]


class Killed(BaseException):
    """The process is gone: nobody handles it."""


class Dying:
    """A console client whose process is killed right after its first write. `writes` are counted."""

    def __init__(self, client: ConsoleClient, *, dies: bool) -> None:
        self._client, self._dies = client, dies
        #: Something was written since this was last set.
        self.stirred = False
        self.writes: list[str] = []
        self.died = Event()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name not in WRITES:
            return found

        async def write(gvr: GVR, *args: Any, **kwargs: Any) -> Any:
            if self.died.is_set():
                raise Killed
            answer = await found(gvr, *args, **kwargs)
            self.stirred = True
            if gvr != EVENTS:
                self.writes.append(f"{name} {gvr.qualified}")
                if self._dies:
                    self.died.set()
                    raise Killed
            return answer

        return write


@pytest.fixture(scope="module")
def cluster(control_plane_programs: Mapping[str, Path]) -> Iterator[ControlPlane]:
    with ControlPlane() as found:
        yield found


@pytest.fixture(scope="module")
def kubeconfig(cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return console_kubeconfig(cluster, tmp_path_factory)


def live(kubeconfig: Path, *, dies: bool) -> list[str]:
    """One life of all controllers: to its first write, or until nothing is left to do. What it wrote."""
    runtime = Runtime(kubeconfig=str(kubeconfig))
    client = Dying(runtime.console, dies=dies)
    runtime.console = cast(ConsoleClient, client)
    runtime.start()
    try:
        for factory in (*PROJECTION, *FACTORIES, *ACCOUNTS):
            runtime.spawn(controller.run(runtime, factory(runtime)))
        quiet = 0
        while quiet < LOOKS and not client.died.wait(LOOK_EVERY):
            synced = all(one.freshness.synced for one in runtime.informers().values())
            quiet = quiet + 1 if synced and not client.stirred else 0
            client.stirred = False
    finally:
        runtime.stop()
    return client.writes


def live_on(kubeconfig: Path) -> int:
    return len(live(kubeconfig, dies=False))


def live_and_die(kubeconfig: Path) -> int:
    """How many lives it took."""
    for number in range(MOST_LIVES):
        if not live(kubeconfig, dies=True):
            return number
    raise AssertionError("the controllers do not come to rest")


def kubectl(cluster: ControlPlane, *arguments: str, stdin: str | None = None) -> str:
    done = cluster.kubectl(*arguments, input=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


def put(cluster: ControlPlane, *items: Manifest) -> None:
    plain = []
    for item in items:
        meta = {k: v for k, v in item["metadata"].items() if k not in ("uid", "resourceVersion")}
        plain.append({**item, "metadata": meta})
    body = {"apiVersion": "v1", "kind": "List", "items": plain}
    kubectl(cluster, "apply", "-f", "-", stdin=json.dumps(body))


def meaning(cluster: ControlPlane, name: str) -> dict[str, Manifest]:
    """All objects of the tenant `name`: whatever has its name in its own."""
    items = json.loads(kubectl(cluster, "get", ",".join(KINDS), "-A", "-o", "json"))["items"]
    found = {}
    for item in items:
        meta = item["metadata"]
        if re.search(rf"\b{name}\b", f"{meta.get('namespace', '')}/{meta['name']}"):
            text = json.dumps(_plain(item)).replace(name, "tenant")
            key = f"{item['kind']} {meta.get('namespace', '')}/{meta['name']}"
            found[key.replace(name, "tenant")] = json.loads(text)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in _VOLATILE}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _project(name: str, workspace: str, creator: str, uid: str) -> Manifest:
    """As the console makes them."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {"kubesphere.io/workspace": workspace},
            "annotations": {"kubesphere.io/creator": creator, "quarterdeck.io/preparing": "true"},
            "ownerReferences": [
                {
                    "apiVersion": "tenant.kubesphere.io/v1alpha1",
                    "kind": "Workspace",
                    "name": workspace,
                    "uid": uid,
                    "controller": True,
                }
            ],
        },
    }


def _group(name: str, parent: str = "") -> Manifest:
    labels = {"kubesphere.io/workspace": name}
    labels |= {"iam.kubesphere.io/group-parent": parent} if parent else {}
    own = f"{name}-team" if parent else f"{name}-staff"
    return {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "Group",
        "metadata": {"name": own, "labels": labels},
    }


def _membership(name: str) -> Manifest:
    labels = {"kubesphere.io/workspace": name}
    return {
        "apiVersion": "iam.kubesphere.io/v1alpha2",
        "kind": "GroupBinding",
        "metadata": {"name": f"{name}-team-pat", "labels": labels},
        "groupRef": {"apiGroup": "iam.kubesphere.io", "kind": "Group", "name": f"{name}-team"},
        "users": [f"pat-{name}"],
    }


def steps(cluster: ControlPlane, name: str) -> Iterator[Callable[[], None]]:
    """What is done one after another. Everything is called after the tenant."""
    boss, pat = f"boss-{name}", f"pat-{name}"

    def found() -> None:
        workspace = template(name, boss)
        workspace["spec"]["template"]["spec"]["networkIsolation"] = True
        quota = {
            "apiVersion": "quota.kubesphere.io/v1alpha2",
            "kind": "ResourceQuota",
            "metadata": {"name": name, "labels": {"kubesphere.io/workspace": name}},
            "spec": {
                "selector": {"kubesphere.io/workspace": name},
                "quota": {"hard": {"pods": "9"}},
            },
        }
        reads = rule("get list watch", "pods")
        put(
            cluster, person(boss), person(pat), workspace, quota, _group(name),
            _group(name, f"{name}-staff"), _membership(name),
            workspace_role(f"{name}-own", name, reads),
            workspace_binding(f"{name}-own", name, f"{name}-own", f"Group {name}-team"),
            global_role(f"wide-{name}", rule("get", "nodes")),
            binding(f"wide-{name}", ("User", pat), role=f"wide-{name}"),
        )  # fmt: skip

    def build() -> None:
        kind = "workspaces.tenant.kubesphere.io"
        uid = json.loads(kubectl(cluster, "get", kind, name, "-o", "json"))["metadata"]["uid"]
        put(cluster, *(_project(f"{name}-{at}", name, boss, uid) for at in ("one", "two")))

    def change() -> None:
        """Another manager, another role, a project that leaves, things that were changed by hand."""
        patch = {"spec": {"template": {"spec": {"manager": pat, "networkIsolation": False}}}}
        kind = "workspacetemplates.tenant.kubesphere.io"
        kubectl(cluster, "patch", kind, name, "--type=merge", "-p", json.dumps(patch))
        put(cluster, workspace_role(f"{name}-own", name, rule("get list watch", "services")))
        kubectl(cluster, "delete", "globalrolebindings.iam.kubesphere.io", f"wide-{name}")
        kubectl(cluster, "label", "namespace", f"{name}-two", "kubesphere.io/workspace-")
        kubectl(cluster, "delete", "role", "viewer", "-n", f"{name}-one")

    def leave() -> None:
        """A user goes, and what named them."""
        kubectl(cluster, "delete", "users.iam.kubesphere.io", boss, "--wait=false")

    def end() -> None:
        for kind, gone in (
            ("workspacetemplates.tenant.kubesphere.io", name),
            ("namespace", f"{name}-two"),
            ("globalroles.iam.kubesphere.io", f"wide-{name}"),
            ("users.iam.kubesphere.io", pat),
        ):
            kubectl(cluster, "delete", kind, gone, "--wait=false")

    yield from (found, build, change, leave, end)


def test_the_end_is_the_same_wherever_they_were_killed(
    cluster: ControlPlane, kubeconfig: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lives = 0
    for live_step, die_step in zip(steps(cluster, "spared"), steps(cluster, "hunted"), strict=True):
        live_step()
        live_on(kubeconfig)
        die_step()
        lives += live_and_die(kubeconfig)
        what = die_step.__name__
        if what == "end":
            # Namespaces take Kubernetes a moment, and the controllers look again when they are gone.
            deadline = time.monotonic() + 60
            while meaning(cluster, "hunted") or meaning(cluster, "spared"):
                assert time.monotonic() < deadline, sorted(meaning(cluster, "hunted"))
                lives += live_and_die(kubeconfig)
            continue
        spared, hunted = meaning(cluster, "spared"), meaning(cluster, "hunted")
        assert sorted(hunted) == sorted(spared), what
        for key, item in spared.items():
            assert hunted[key] == item, (what, key)
        assert len(spared) > 20, what
    # Else nothing was tried.
    assert lives > 40, lives
    failed = [line for line in caplog.messages if " failed; again in " in line]
    assert failed == []
    print(f"\nkilled {lives} times")  # noqa: T201
