"""What every test shares: the real control plane, how deep a run looks, and what was left out."""

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

from tests.depth import DEEP, SEED, choice, some

pytest_plugins = [
    *("tests.connections", "tests.controlplane.plugin", "tests.mergepatches", "tests.programs"),
    "tests.timelimit",
]

# The gate tries the same examples in every run. A property has its own number where these are too few.
settings.register_profile("gate", deadline=None, derandomize=True, database=None)
settings.register_profile("deep", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile("deep" if DEEP else "gate")

# What resolves addresses is kept by the name of the URLconf, so that nothing is wrong when a test has
# another: to make it anew takes longer than most of these tests.
setting_changed.disconnect(root_urlconf_changed)


# Of what a control plane does in a test a quarter would be the collection of memory, of which there is
# enough, and another one that its threads look for work on processors that others use.
os.environ.setdefault("GOGC", "400")
os.environ.setdefault("GOMAXPROCS", "1")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "deep: what only `make test-deep` does")
    config.addinivalue_line(
        "markers",
        "programs: starts others: a cluster, a database server, a browser; see tests/programs.py",
    )
    config.addinivalue_line(
        "markers", "alike: the same code whatever the parameters are; the gate tries some of them"
    )


#: Folders and files whose tests share what is dear, the fixture `control_plane`, a node or a console:
#: one worker runs all tests of one of these. They come first, so that none of them is left over for the
#: end, and such that those which wait for programs run beside those which have browsers at work.
_TOGETHER = (
    (
        *("tests/contract/", "tests/controlplane/", "tests/kube/test_runtime"),
        *("tests/kube/test_usage", "tests/ui/relations/test_on_a_cluster"),
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
    ),
    ("tests/accounts/test_on_a_cluster", "tests/accounts/test_protection_on_a_cluster"),
    ("tests/chaos/",),
    ("tests/rbac/test_agreement", "tests/rbac/test_differential"),
)
#: Parameters of a test that is marked `alike`, in the gate.
SOME = 8
_FIRST = (*_TOGETHER, ("tests/leaks/",), ("tests/hostile/",), ("tests/accounts/hostile/",))


#: Fixtures of a whole run whose programs work also while nobody asks them.
_SHARED = ("control_plane", "real_node")


def _group(nodeid: str) -> str:
    """One of `_TOGETHER`, or a file."""
    file = nodeid.partition("::")[0]
    return next((ones[0] for ones in _TOGETHER if file.startswith(ones)), file)


class _ByFolder(LoadScopeScheduling):
    """The tests of a group go to one worker, in order. Those that run on both clusters are two such
    groups: they share one cluster each."""

    def _split_scope(self, nodeid: str) -> str:
        group = _group(nodeid)
        embedded = group == "tests/contract/" and "[embedded" in nodeid
        return f"{group} embedded" if embedded else group


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """What of `_SHARED` a group of tests has used ends with it; whoever asks later gets another."""
    yield
    if nextitem is not None and _group(item.nodeid) != _group(nextitem.nodeid):
        for name in _SHARED:
            for fixture in item.session._fixturemanager.getfixturedefs(name, item) or ():
                fixture.finish(item._request)  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Three more than there are processors: tests of clusters wait for a good part of their time."""
    return min(len(os.sched_getaffinity(0)) + 3, 5)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _ByFolder(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing of what is collected goes before the end: to look for garbage in it again and again is
    a quarter of the work of each worker then."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_report_header() -> str:
    return f"depth: {'deep' if DEEP else 'gate'}, TEST_SEED={SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not DEEP:
        left_out = {item for item in items if item.get_closest_marker("deep")}
        left_out |= _like_others(items) | _on_both(items)
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=_place)


def _like_others(items: list[pytest.Item]) -> set[pytest.Item]:
    """Of each test that is marked `alike` all but so many, by its name and theirs."""
    alike: dict[str, dict[str, pytest.Item]] = defaultdict(dict)
    for item in items:
        if item.get_closest_marker("alike"):
            alike[item.nodeid.partition("[")[0]][item.nodeid] = item
    return {
        item
        for test, ones in alike.items()
        for name, item in ones.items()
        if name not in some(test, ones, SOME)
    }


def _on_both(items: list[pytest.Item]) -> set[pytest.Item]:
    """Pages in front of both clusters are the same code: of what is tried of them on the real one a
    sixth is tried on the embedded one, by the tests' names."""
    return {
        item
        for item in items
        if item.nodeid.startswith("tests/contract/") and "[embedded" in item.nodeid
        if isinstance(item, pytest.Function) and {"runtime", "_runtime"} & {*item.fixturenames}
        if choice(item.nodeid, (False, True, True, True, True, True))
    }


def _place(item: pytest.Item) -> int:
    firsts = (number for number, ones in enumerate(_FIRST) if item.nodeid.startswith(ones))
    return next(firsts, len(_FIRST))
