"""Lists of workloads show the problem of their pods as the cause of their state."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils.translation import override

from console.kube.gvr import DEPLOYMENTS, GVR, JOBS, PODS, REPLICA_SETS, STATEFUL_SETS, Key
from console.live.listview import ListView
from console.live.mailbox import Mail
from console.live.view import ClientState
from console.ui.core.access import Access
from console.ui.core.kind_permissions import permissions_key
from console.ui.core.registry import kinds
from console.ui.details.detail import start_informers
from console.ui.lists.selection import ListQuery
from console.ui.lists.table import build_table, row_of
from console.ui.lists.viewspec import ViewSpec
from rbac.process_clusters import set_host_cluster, unset_host_cluster
from tests.support.informers import bring, preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.details.relations.shop import PerType, a_pod, everything, named, template, world
from tests.ui.support import admin

WEB = Key("shop", "web")
ALL = (DEPLOYMENTS, REPLICA_SETS, PODS)


@pytest.fixture
def runtime() -> Iterator[StaticRuntime]:
    found = StaticRuntime(dict(world(everything())))
    set_host_cluster(found)
    yield found
    unset_host_cluster()


def spec_of(gvr: GVR) -> ViewSpec:
    kind = kinds.by_type(gvr)
    assert kind is not None
    return ViewSpec(kind, "host")


def reason(runtime: StaticRuntime, gvr: GVR = DEPLOYMENTS, access: Access | None = None) -> str:
    """Return the reason in the status cell of `web` in `shop`."""
    row = row_of(ListQuery.of(spec_of(gvr), access or admin()), WEB, runtime.informer(gvr))
    assert row is not None
    value: Any = next(cell.value for cell in row.cells if cell.column == "status")
    return str(value.reason)


def test_cause_is_the_problem_of_the_pods_of_the_newest_revision(runtime: StaticRuntime) -> None:
    assert reason(runtime).startswith("1 pod: Crash loop: CrashLoopBackOff")
    pods = runtime.informer(PODS)
    bring(pods, a_pod("web-2-ccccc", waiting="CrashLoopBackOff"))
    bring(pods, a_pod("web-1-ddddd", owner="web-1", waiting="ImagePullBackOff"))
    assert reason(runtime).startswith("2 pods: Crash loop: CrashLoopBackOff")
    with override("zh-hans"):
        assert "CrashLoopBackOff" in reason(runtime) and "pod" not in reason(runtime)


def test_cause_requires_permission_to_list_pods_and_revisions(runtime: StaticRuntime) -> None:
    rights: dict[GVR, Any] = dict.fromkeys(ALL, ["shop"])
    assert "Crash loop" in reason(runtime, access=PerType(rights))
    for hidden in (PODS, REPLICA_SETS):
        for other in ([], ["team-b"]):
            viewer = PerType({**rights, hidden: other})
            assert "Crash loop" not in reason(runtime, access=viewer)


@pytest.mark.parametrize("gvr", [PODS, REPLICA_SETS])
def test_list_is_not_shared_with_viewers_who_see_other_causes(gvr: GVR) -> None:
    kind = kinds.by_type(DEPLOYMENTS)
    assert kind is not None
    rights: dict[GVR, Any] = dict.fromkeys(ALL, ["shop"])
    keys = [permissions_key(kind, PerType(one)) for one in (rights, {**rights, gvr: []})]
    assert keys[0] != keys[1]


def test_healthy_workload_has_no_cause(runtime: StaticRuntime) -> None:
    deployment = everything()[DEPLOYMENTS][0]
    counts = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
    bring(runtime.informer(DEPLOYMENTS), {**deployment, "status": counts})
    assert "Crash loop" not in reason(runtime)


@pytest.mark.parametrize(("gvr", "owner"), [(STATEFUL_SETS, "StatefulSet"), (JOBS, "Job")])
def test_workloads_that_own_their_pods_have_causes(gvr: GVR, owner: str) -> None:
    bad = a_pod("web-0", waiting="ImagePullBackOff")
    bad["metadata"] |= named("web-0", owner=(owner, "web"))["metadata"]
    workload = {**named("web"), "spec": {"template": template()}, "status": {"active": 1}}
    found = {gvr: preloaded(gvr, [workload]), PODS: preloaded(PODS, [bad])}
    set_host_cluster(StaticRuntime(found))
    assert "1 pod: Image pull failed: ImagePullBackOff" in reason(StaticRuntime(found), gvr)
    unset_host_cluster()


def opened(runtime: StaticRuntime) -> ListView:
    """Return an open list whose viewer has the current page."""
    spec, access, informer = spec_of(DEPLOYMENTS), admin(), runtime.informer(DEPLOYMENTS)
    causes = start_informers(spec.kind.cause_types(), access)
    view = ListView(spec, "en", informer, None, causes)
    table = build_table(ListQuery.of(spec, access), informer)
    assert view.update(Mail(), access, anew=True) == []
    rows = {row.key: row.signature for row in table.rows}
    assert view.catch_up(ClientState(table.etag, rows), access) == []
    return view


def test_open_list_follows_the_causes(
    runtime: StaticRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = opened(runtime)
    assert set(view.others) == {PODS, REPLICA_SETS}
    pods, changed = runtime.informer(PODS), Mail(types=frozenset({PODS}))
    bring(pods, a_pod("web-2-bbbbb", waiting="ImagePullBackOff"))
    [frame] = view.update(changed, admin())
    assert "1 pod: Image pull failed: ImagePullBackOff" in frame and frame.count("<tr ") == 1
    # A change that no row shows is cheap.
    monkeypatch.setattr("console.live.listview.build_table", lambda *_given: 1 / 0)
    bring(pods, a_pod("web-2-aaaaa", restarts=3))
    assert view.update(changed, admin()) == []
