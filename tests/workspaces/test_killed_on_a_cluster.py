"""Controllers that are killed after a write, on a real control plane.

A controller process ends with a write. The rest of this reconciliation, and all other pending
work, is left to the next process, which knows only the cluster. The final state must equal the
state that uninterrupted controllers produce, and nothing may remain after everything is deleted.

The deep run kills each process after its first write. The gate kills once for each of a quarter
of the pairs of verb and type. tests/accounts/test_crashes.py also interrupts every write of
every controller, with an in-memory client.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from threading import Event
from typing import Any, cast

import pytest

from accounts.users.finalizer import UserFinalizer
from accounts.users.groupbindings import GroupBindingReconciler
from accounts.users.groups import GroupReconciler
from accounts.users.reconciler import UserReconciler
from console.kube import controller
from console.kube.clients import ConsoleClient
from console.kube.controller import Factory, GroupingReconciler, Reconciler, Request, Result
from console.kube.gvr import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    EVENTS,
    GLOBAL_ROLE_BINDINGS,
    GLOBAL_ROLES,
    GROUP_BINDINGS,
    GROUPS,
    GVR,
    LIMIT_RANGES,
    NAMESPACES,
    NETWORK_POLICIES,
    RESOURCE_QUOTAS,
    ROLE_BINDINGS,
    ROLES,
    USERS,
    WORKSPACE_QUOTAS,
    WORKSPACE_ROLE_BINDINGS,
    WORKSPACE_ROLES,
    WORKSPACE_TEMPLATES,
    WORKSPACES,
    Key,
)
from console.kube.runtime import Runtime
from rbac.controllers import FACTORIES as PROJECTION
from tests.accounts.crashing import WRITES
from tests.controlplane.waiting import eventually
from tests.rbac.objects import (
    binding,
    global_role,
    rule,
    user,
    workspace_binding,
    workspace_role,
)
from tests.support.depth import DEEP, choice
from tests.workspaces.conftest import Installed
from tests.workspaces.users import apply, change, delete, listed, read, template
from workspaces.controllers import FACTORIES

ACCOUNTS = (UserReconciler, UserFinalizer, GroupReconciler, GroupBindingReconciler)
#: Seconds. An uninterrupted process stops when it is idle. Requeues later than this count as idle.
TIMEOUT = 20.0
LIFE_SECONDS = 60.0
#: Maximum number of processes per step. More of them indicate controllers that write against each
#: other.
MOST_LIVES = 120
#: All types that the controllers write or read as sources.
KINDS = (
    *(USERS, GROUPS, GROUP_BINDINGS, GLOBAL_ROLES, GLOBAL_ROLE_BINDINGS, WORKSPACE_ROLES),
    *(WORKSPACE_ROLE_BINDINGS, WORKSPACE_TEMPLATES, WORKSPACES, WORKSPACE_QUOTAS, NAMESPACES),
    *(CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, ROLES, ROLE_BINDINGS, RESOURCE_QUOTAS),
    *(LIMIT_RANGES, NETWORK_POLICIES),
)
_VOLATILE = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"}
    | {"lastTransitionTime"}
)
Manifest = dict[str, Any]


class Killed(BaseException):
    """The process was killed. Not an Exception, so that no handler catches it."""


class Life:
    """One process with all controllers. It ends after the first write for which `is_fatal` returns
    True, or when it is idle.
    """

    def __init__(self, installed: Installed, is_fatal: Callable[[str], bool]) -> None:
        self._runtime = Runtime(kubeconfig=str(installed.kubeconfig))
        self._client, self._is_fatal = self._runtime.console, is_fatal
        self._runtime.console = cast(ConsoleClient, self)
        #: Last written version of each object. "" for deleted objects.
        self._written: dict[tuple[GVR, Key], str] = {}
        self._looks: list[Looks] = []
        self._died = Event()
        #: The write that ended the process. Others may have been pending.
        self.ends = ""

    def __getattr__(self, name: str) -> Any:
        """Wrap the write methods of the console's client so that the process can be killed."""
        found = getattr(self._client, name)
        return self._cut(name, found) if name in WRITES else found

    def _cut(self, verb: str, send: Callable[..., Any]) -> Callable[..., Any]:
        async def write(gvr: GVR, *args: Any, **kwargs: Any) -> Any:
            if self._died.is_set():
                raise Killed
            answer = await send(gvr, *args, **kwargs)
            if gvr != EVENTS:
                sort = f"{verb} {gvr.qualified}"
                name = kwargs.get("name") or answer["metadata"]["name"]
                version = "" if verb == "delete" else answer["metadata"]["resourceVersion"]
                self._written[gvr, Key(kwargs.get("namespace", ""), name)] = version
                if self._is_fatal(sort):
                    self.ends = self.ends or sort
                    self._died.set()
                    raise Killed
            return answer

        return write

    def live(self) -> bool:
        """Run until killed or idle, and return True if killed."""
        self._runtime.start()
        try:
            for factory in (*PROJECTION, *FACTORIES, *ACCOUNTS):
                self._runtime.spawn(controller.run(self._runtime, self._watched(factory)))
            eventually(
                lambda: self._died.is_set() or self._runtime.spawn(self._is_idle()).result(),
                "nothing is left to do",
                timeout=LIFE_SECONDS,
            )
        finally:
            self._runtime.stop()
        return self._died.is_set()

    def _watched(self, factory: Factory) -> Reconciler:
        self._looks.append(Looks(factory(self._runtime)))
        return self._looks[-1]

    async def _is_idle(self) -> bool:
        """Return True if all controllers are idle. Runs on the core's event loop for a consistent
        view.
        """
        informers = self._runtime.informers()
        return (
            all(one.freshness.synced for one in informers.values())
            and not any(one.waiting for one in controller.controller_stats().values())
            and not any(one.busy or one.unfinished for one in self._looks)
            and all(self._arrived(*key, version) for key, version in self._written.items())
        )

    def _arrived(self, gvr: GVR, key: Key, version: str) -> bool:
        """Return True if the informer has received this write."""
        informer = self._runtime.informers().get(gvr)
        if informer is None:
            return True
        there = informer.store.get(key)
        if there is None:
            return not version or int(informer.store.resource_version or 0) >= int(version)
        if not version:
            return bool(there.original()["metadata"].get("deletionTimestamp"))
        return int(there.resource_version) >= int(version)


class Looks:
    """Reconciler wrapper that records whether it is busy."""

    def __init__(self, inner: Reconciler) -> None:
        self._inner = inner
        self.name, self.gvr = inner.name, inner.gvr
        self.busy = 0
        #: Requests that are reconciled again soon, after an error or a requeue.
        self.unfinished: set[Request] = set()

    def request_for(self, key: Key) -> Request | None:
        if isinstance(self._inner, GroupingReconciler):
            return self._inner.request_for(key)
        return Request(key.namespace, key.name)

    async def reconcile(self, request: Request) -> Result:
        self.busy += 1
        self.unfinished.add(request)
        try:
            result = await self._inner.reconcile(request)
            if result.requeue_after is None or result.requeue_after > TIMEOUT:
                self.unfinished.discard(request)
            return result
        finally:
            self.busy -= 1


def live_on(installed: Installed) -> None:
    Life(installed, lambda _sort: False).live()


def live_and_die(installed: Installed, ends: list[str]) -> None:
    """Run processes until one is not killed, and add the fatal writes to `ends`."""

    def is_fatal(sort: str) -> bool:
        return DEEP or (sort not in ends and choice(sort, (False, False, False, True)))

    for _ in range(MOST_LIVES):
        life = Life(installed, is_fatal)
        if not life.live():
            return
        ends.append(life.ends)
    raise AssertionError("the controllers do not come to rest")


def meaning(installed: Installed, name: str) -> dict[str, Manifest]:
    """Return all objects of the tenant `name`, selected by the tenant's name in the object's name."""
    found = {}
    for gvr in KINDS:
        for item in listed(installed, gvr):
            meta = item["metadata"]
            if re.search(rf"\b{name}\b", f"{meta.get('namespace', '')}/{meta['name']}"):
                text = json.dumps(_plain(item)).replace(name, "tenant")
                key = f"{gvr.qualified} {meta.get('namespace', '')}/{meta['name']}"
                found[key.replace(name, "tenant")] = json.loads(text)
    return found


def none_goes(installed: Installed) -> bool:
    """Return True if no namespace is terminating, except those that wait for the console's
    controllers.
    """
    return not any(
        "deletionTimestamp" in one["metadata"] and not one["metadata"].get("finalizers")
        for one in listed(installed, NAMESPACES)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k not in _VOLATILE}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _project(name: str, workspace: str, creator: str, uid: str) -> Manifest:
    """Return a namespace as the console creates it."""
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


def steps(installed: Installed, name: str) -> Iterator[Callable[[], None]]:
    """Yield the steps of the scenario. All objects are named after the tenant."""
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
        apply(
            installed, user(boss), user(pat), workspace, quota, _group(name),
            _group(name, f"{name}-staff"), _membership(name),
            workspace_role(f"{name}-own", name, reads),
            workspace_binding(f"{name}-own", name, f"{name}-own", f"Group {name}-team"),
            global_role(f"wide-{name}", rule("get", "nodes")),
            binding(f"wide-{name}", ("User", pat), role=f"wide-{name}"),
        )  # fmt: skip

    def build() -> None:
        uid = read(installed, WORKSPACES, name)["metadata"]["uid"]
        apply(installed, *(_project(f"{name}-{at}", name, boss, uid) for at in ("one", "two")))

    def alter() -> None:
        """Change the manager and a role, remove a project, and change managed objects manually."""
        patch = {"spec": {"template": {"spec": {"manager": pat, "networkIsolation": False}}}}
        change(installed, WORKSPACE_TEMPLATES, name, patch)
        apply(installed, workspace_role(f"{name}-own", name, rule("get list watch", "services")))
        delete(installed, GLOBAL_ROLE_BINDINGS, f"wide-{name}")
        labels = {"kubesphere.io/workspace": None}
        change(installed, NAMESPACES, f"{name}-two", {"metadata": {"labels": labels}})
        delete(installed, ROLES, "viewer", f"{name}-one")

    def leave() -> None:
        """Delete a user and its references."""
        delete(installed, USERS, boss)

    def end() -> None:
        for gvr, gone in (
            (WORKSPACE_TEMPLATES, name),
            (NAMESPACES, f"{name}-two"),
            (GLOBAL_ROLES, f"wide-{name}"),
            (USERS, pat),
        ):
            delete(installed, gvr, gone)

    yield from (found, build, alter, leave, end)


def test_killed_controllers_converge_to_the_same_state(
    installed: Installed, caplog: pytest.LogCaptureFixture
) -> None:
    ends: list[str] = []
    both = zip(steps(installed, "spared"), steps(installed, "hunted"), strict=True)
    for live_step, die_step in both:
        live_step()
        live_on(installed)
        die_step()
        live_and_die(installed, ends)
        what = die_step.__name__
        if what == "end":
            # Kubernetes deletes namespaces with a delay, and the controllers reconcile again
            # afterwards.
            eventually(partial(none_goes, installed), "the end of the namespaces", timeout=60)
            deadline = time.monotonic() + 60
            while meaning(installed, "hunted") or meaning(installed, "spared"):
                assert time.monotonic() < deadline, sorted(meaning(installed, "hunted"))
                live_and_die(installed, ends)
            continue
        spared, hunted = meaning(installed, "spared"), meaning(installed, "hunted")
        assert sorted(hunted) == sorted(spared), what
        for key, item in spared.items():
            assert hunted[key] == item, (what, key)
        assert len(spared) > 20, what
    # Otherwise the test would be trivial.
    assert len(ends) > (40 if DEEP else 5), ends
    failed = [line for line in caplog.messages if " failed; retrying in " in line]
    assert failed == []
    print(f"\nkilled {len(ends)} times")  # noqa: T201
