"""Permissions whose revocation arrives later than changes of the objects, through the
fault-injecting proxy.
"""

from collections.abc import Iterator

import pytest

from console.kube import listwatch
from console.kube.gvr import CLUSTER_ROLES, PODS, ROLE_BINDINGS, USERS
from console.kube.identity import Identity
from console.kube.runtime import Runtime
from rbac.authorizer import SOURCES, Authorizer
from tests.chaos.observer import fresh
from tests.chaos.targets import NAMESPACES
from tests.chaos.world import World
from tests.controlplane.waiting import eventually
from tests.rbac.objects import native_binding, native_role, rule, user

#: Seconds of silence after which a watch counts as dead; shorter than the console's value, for this
#: test.
PATIENCE = 4.0
WHO = Identity("late-bob")
PLACE = NAMESPACES[0]


@pytest.fixture
def runtime(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    monkeypatch.setattr(listwatch, "READ_TIMEOUT", PATIENCE)
    found = Runtime(kubeconfig=str(world.kubeconfig))
    found.start()
    found.require(SOURCES)
    informers = [found.informer(gvr) for gvr in (*SOURCES, PODS)]
    eventually(lambda: all(map(fresh, informers)), "all synced", timeout=30)
    yield found
    found.stop()
    world.heal()


def test_a_permission_revoked_during_a_silent_watch_expires(world: World, runtime: Runtime) -> None:
    role = native_role("late", rule("get list watch", "pods", "core"))
    bound = native_binding("late", "late", f"User {WHO.name}", namespace=PLACE)
    for gvr, item in ((USERS, user(WHO.name)), (CLUSTER_ROLES, role), (ROLE_BINDINGS, bound)):
        meta = {k: v for k, v in item["metadata"].items() if k not in ("uid", "resourceVersion")}
        path = gvr.path(meta.get("namespace", ""))
        assert world.ask("POST", path, {**item, "metadata": meta})[0] == 201
    authorizer, pods = Authorizer(runtime), runtime.informer(PODS)

    def may_list() -> bool:
        return authorizer.access_for(WHO).can("list", PODS, namespace=PLACE)

    eventually(may_list, "the right arrives")
    world.proxy.swallow(ROLE_BINDINGS.resource)
    assert world.ask("DELETE", ROLE_BINDINGS.path(PLACE, "late"))[0] == 200
    body = {"spec": {"containers": [{"name": "app", "image": "example/app"}]}}
    pod = {"metadata": {"name": "made-after"}, **body}
    assert world.ask("POST", PODS.path(PLACE), pod)[0] == 201
    # The watch of pods works, while the watch of role bindings silently misses the revocation.
    eventually(lambda: any(key.name == "made-after" for key in pods.store.snapshot().entries), "it")
    assert may_list()
    eventually(lambda: not may_list(), "the right has ended", timeout=PATIENCE + 6)
    eventually(lambda: fresh(runtime.informer(ROLE_BINDINGS)), "the bindings are followed again")
    assert not may_list()
