"""Shared configuration of all tests: the control plane, the depth of a run and the deselected
tests.
"""

import gc
import os
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest
from django.core.signals import setting_changed
from django.test.signals import root_urlconf_changed
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.support.depth import DEEP, SEED, choice, some

pytest_plugins = [
    *(
        "tests.support.connections",
        "tests.controlplane.plugin",
        "tests.support.mergepatches",
        "tests.support.programs",
    ),
    "tests.support.timelimit",
]

# The gate tries the same examples in every run. A property sets its own number where these are too
# few.
settings.register_profile("gate", deadline=None, derandomize=True, database=None)
settings.register_profile("deep", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile("deep" if DEEP else "gate")

# The URL resolver is cached per URLconf name, so overriding ROOT_URLCONF in a test is safe.
# Clearing the cache each time would take longer than most of these tests.
setting_changed.disconnect(root_urlconf_changed)


# Garbage collection would take a quarter of a control plane's CPU time in tests, and idle worker
# threads of the Go scheduler another quarter. Memory is plentiful, processors are shared.
os.environ.setdefault("GOGC", "400")
os.environ.setdefault("GOMAXPROCS", "1")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "deep: what only `make test-deep` does")
    config.addinivalue_line(
        "markers",
        "programs: starts others: a cluster, a database server, a browser; see tests/support/programs.py",
    )
    config.addinivalue_line(
        "markers", "also_old: a contract test that the gate runs on an old control plane, too"
    )
    config.addinivalue_line(
        "markers", "newer_kubernetes: a contract test of a feature that the old one lacks"
    )
    config.addinivalue_line(
        "markers", "sampled: all parameters run the same code; the gate runs a sample of them"
    )


#: Folders and files whose tests share an expensive resource: the fixture `control_plane`, a node or
#: a console. One worker runs all tests of a group. Groups come first so that none of them is left
#: for the end, and are ordered so that groups which wait for programs run beside groups with busy
#: browsers.
_TOGETHER = (
    (
        *("tests/contract/", "tests/controlplane/", "tests/kube/test_runtime"),
        *("tests/kube/test_usage", "tests/ui/details/relations/test_on_a_cluster"),
    ),
    ("tests/browser/looks/",),
    ("tests/accounts/oauth/",),
    ("tests/browser/tasks/",),
    ("tests/browser/pages/",),
    ("tests/accounts/kubesphere/",),
    ("tests/browser/logs/",),
    ("tests/workspaces/",),
    ("tests/browser/repairs/",),
    (
        *("tests/node/", "tests/logs/test_on_a_node", "tests/logs/test_faults"),
        *("tests/proxying/test_on_a_node", "tests/terminals/test_on_a_node"),
        "tests/files/test_on_a_node",
        "tests/gateway/test_kubectl",
    ),
    ("tests/gateway/",),
    ("tests/accounts/test_on_a_cluster", "tests/accounts/test_protection_on_a_cluster"),
    ("tests/chaos/",),
    ("tests/rbac/test_agreement", "tests/rbac/test_differential", "tests/rbac/test_who_may"),
)
#: Number of parameter sets of a test marked `sampled` that the gate runs.
SOME = 8
_FIRST = (*_TOGETHER, ("tests/leaks/",), ("tests/hostile/",), ("tests/accounts/hostile/",))


#: Session fixtures whose programs use CPU time even when idle.
_SHARED = ("control_plane", "old_control_plane", "real_node")


def _group(nodeid: str) -> str:
    """Return the group in `_TOGETHER` that contains the test, or its file."""
    file = nodeid.partition("::")[0]
    return next((ones[0] for ones in _TOGETHER if file.startswith(ones)), file)


def _cluster_of(nodeid: str) -> str:
    """Return the first parameter of a contract test, which is the cluster, or ""."""
    if not nodeid.startswith("tests/contract/") or "[" not in nodeid:
        return ""
    return nodeid.partition("[")[2].rstrip("]").partition("-")[0]


class _ByFolder(LoadScopeScheduling):
    """Schedule the tests of a group on one worker, in order.

    Contract tests form one group per cluster, because each cluster has its own fixtures.
    """

    def _split_scope(self, nodeid: str) -> str:
        group = _group(nodeid)
        found = _cluster_of(nodeid)
        return f"{group} {found}" if found in ("embedded", "old") else group


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Finish the `_SHARED` fixtures after the last test of a group. The next group gets new ones."""
    yield
    if nextitem is not None and _group(item.nodeid) != _group(nextitem.nodeid):
        for name in _SHARED:
            for fixture in item.session._fixturemanager.getfixturedefs(name, item) or ():
                fixture.finish(item._request)  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the number of processors plus three, at most 5: cluster tests wait most of the time."""
    return min(len(os.sched_getaffinity(0)) + 3, 5)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _ByFolder(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Disable garbage collection during test collection, where it would take a quarter of each
    worker's time.

    Collected objects live until the end of the run, so they are frozen afterwards.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_report_header() -> str:
    return f"depth: {'deep' if DEEP else 'gate'}, TEST_SEED={SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _leave_out(config, items, _on_old(items))
    if not DEEP:
        deep = {item for item in items if item.get_closest_marker("deep")}
        _leave_out(config, items, deep | _like_others(items) | _on_both(items))
    items.sort(key=_place)


def _leave_out(config: pytest.Config, items: list[pytest.Item], ones: set[pytest.Item]) -> None:
    config.hook.pytest_deselected(items=[*ones])
    items[:] = [item for item in items if item not in ones]


def _like_others(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the parameter sets of tests marked `sampled` to deselect, chosen by a hash of their
    names.
    """
    sampled: dict[str, dict[str, pytest.Item]] = defaultdict(dict)
    for item in items:
        if item.get_closest_marker("sampled"):
            sampled[item.nodeid.partition("[")[0]][item.nodeid] = item
    return {
        item
        for test, ones in sampled.items()
        for name, item in ones.items()
        if name not in some(test, ones, SOME)
    }


def _on_both(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return five of six contract tests that render pages in front of the embedded cluster.

    They run the same code as on the real cluster. The choice depends on the test's name.
    """
    return {
        item
        for item in items
        if item.nodeid.startswith("tests/contract/") and "[embedded" in item.nodeid
        if isinstance(item, pytest.Function) and {"runtime", "_runtime"} & {*item.fixturenames}
        if choice(item.nodeid, (False, True, True, True, True, True))
    }


#: Fixtures of contract tests that render pages.
_CONSOLE = {"runtime", "_runtime", "_console"}


def _on_old(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the contract tests that do not run on an old control plane.

    The gate runs those marked `also_old`. A deep run runs all tests that render pages, except for
    those marked `newer_kubernetes`.
    """

    def runs(item: pytest.Item) -> bool:
        if item.get_closest_marker("also_old") is not None:
            return True
        renders = isinstance(item, pytest.Function) and _CONSOLE & {*item.fixturenames}
        return bool(DEEP and renders and item.get_closest_marker("newer_kubernetes") is None)

    return {item for item in items if _cluster_of(item.nodeid) == "old" and not runs(item)}


def _place(item: pytest.Item) -> int:
    firsts = (number for number, ones in enumerate(_FIRST) if item.nodeid.startswith(ones))
    return next(firsts, len(_FIRST))
