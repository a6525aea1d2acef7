"""The counts in the menu equal counts computed from the whole store after any changes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import NAMESPACES, PODS
from console.kube.informer import Informer
from console.kube.status import Severity
from console.ui.core.permissions import Readable
from console.ui.core.registry import kinds
from console.ui.navigation.counts import SeverityCounts, counts_of
from console.ui.navigation.level import Level
from console.ui.navigation.nav import NavCount, ProblemCount, all_kinds, nav
from rbac.process_clusters import create_cluster
from tests.support.informers import bring, preloaded
from tests.support.staticruntime import StaticRuntime
from tests.ui.changes import RIGHTS, change, changes
from tests.ui.support import FakeAccess, admin, alice, pod, small_world


def pods_kind() -> Any:
    kind = kinds.by_segment("pods")
    assert kind is not None
    return kind


def counted(informer: Informer[Any], readable: Readable, wanted: tuple[str, ...]) -> Counter[Any]:
    return Counter(
        entry.projection.status.severity
        for key, entry in informer.store.snapshot().entries.items()
        if readable.includes(key) and (not wanted or key.namespace in wanted)
    )


@given(st.lists(changes, max_size=20))
def test_counts_follow_the_store(then: Sequence[tuple[str, Any]]) -> None:
    informer = preloaded(PODS, small_world())
    counts = SeverityCounts(informer.store, pods_kind())
    for what, given_ in [*then, ("read", None)]:
        change(informer, what, given_)
        if what == "read":
            for readable in RIGHTS:
                for wanted in ((), ("shop",), ("shop", "team-a"), ("nowhere",)):
                    assert +counts.of(readable, wanted) == counted(informer, readable, wanted)
                assert counts.failing(readable) == Counter(
                    key.namespace
                    for key, entry in informer.store.snapshot().entries.items()
                    if readable.includes(key) and entry.projection.status.severity is Severity.ERROR
                )


def test_only_changed_objects_are_counted_again() -> None:
    informer = preloaded(PODS, small_world())
    counts = counts_of(pods_kind(), informer)
    counts.of(Readable(None))
    assert counts_of(pods_kind(), informer) is counts
    bring(informer, pod("new"))
    assert counts.pending_changes == 1
    assert sum(counts.of(Readable(None)).values()) == 7
    assert counts.rebuilds == 1


def numbers(access: FakeAccess, namespace: str = "") -> tuple[int | None, int | None]:
    informers = {
        PODS: preloaded(PODS, small_world()),
        NAMESPACES: preloaded(NAMESPACES, []),
    }
    access.cluster = create_cluster("host", StaticRuntime(informers))
    groups = all_kinds(access, Level("cluster", namespace=namespace))
    item = next(item for group in groups for item in group.items if item.url.startswith(URL))
    assert item.count.latest is not None
    return item.count.latest.total, item.count.latest.failing


URL = "/clusters/host/pods"


def test_menu_counts_objects_the_viewer_may_see() -> None:
    assert numbers(admin()) == (6, 2)
    assert numbers(admin(), "shop") == (3, 1)
    assert numbers(alice()) == (2, 1)
    assert numbers(alice(), "team-a") == (2, 1)
    # Where Alice may not list, the menu links to everything she may see.
    assert numbers(alice(), "shop") == (2, 1)


def test_menu_shows_no_count_that_is_not_updated() -> None:
    informers = {PODS: preloaded(PODS, small_world())}
    viewer = admin()

    def count() -> NavCount:
        viewer.cluster = create_cluster("host", StaticRuntime(informers))
        groups = all_kinds(viewer, Level("cluster"))
        return next(i.count for group in groups for i in group.items if i.url == URL)

    assert ">2<" in count().html("en")
    bring(informers[PODS], pod("another", namespace="shop"))
    assert ">7<" in count().html("en")
    del informers[PODS]
    assert count().html("en") == ""
    informers[PODS] = preloaded(PODS, small_world()[:1])
    assert ">1<" in count().html("en")


def test_menu_entry_shows_the_failing_objects_of_all_its_kinds() -> None:
    informers = {PODS: preloaded(PODS, small_world())}
    viewer = admin()
    viewer.cluster = create_cluster("host", StaticRuntime(informers))
    [pods] = [one for one in nav(viewer, Level("cluster"), "pods").rail if one.current]
    assert pods.url == URL and pods.problems is not None
    assert ">2<" in pods.problems.html("en")
    assert "hidden" in ProblemCount(()).html("en")
    [workloads] = [one for one in nav(viewer, Level("cluster"), "jobs").rail if one.current]
    assert workloads.url == "/clusters/host/deployments"
    tabs = nav(viewer, Level("cluster"), "jobs").tabs
    assert [tab.label for tab in tabs if tab.current] == ["Jobs"]
    assert len(tabs) == 6
