"""Incremental sums of pod requests equal sums computed from scratch."""

from collections.abc import Collection, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from console.kube.gvr import PODS, Key
from console.kube.informer import Informer
from console.kube.reservations import Reservations, ReservationTotal, reservations_of
from tests.pages.overview.world import pods, sized
from tests.support.informers import bring, preloaded, take_away
from tests.ui.support import pod

NAMES = st.sampled_from(["web-1", "web-2", "api-1", "new"])
NAMESPACES = st.sampled_from(["shop", "team-a", "team-b"])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "end", "drop", "read", "relist"]),
        NAMES,
        NAMESPACES,
        st.sampled_from(["", "250m", "3", "nonsense"]),
        st.sampled_from(["", "node-1", "node-2"]),
    ),
    max_size=25,
)
RIGHTS: list[tuple[frozenset[str] | None, frozenset[Key]]] = [
    (None, frozenset()),
    (frozenset({"shop"}), frozenset()),
    (frozenset({"shop", "nowhere"}), frozenset({Key("team-a", "api-1"), Key("shop", "web-1")})),
    (frozenset(), frozenset({Key("", "web-1")})),
]


def added_up(
    informer: Informer[Any],
    namespaces: Collection[str] | None,
    names: Collection[Key],
    node: str | None = None,
) -> ReservationTotal:
    found = ReservationTotal()
    for key, entry in informer.store.snapshot().entries.items():
        seen = namespaces is None or key.namespace in namespaces
        seen = seen or key in names or Key("", key.name) in names
        here = node is None or entry.projection.node == node
        if seen and here and entry.projection.reserved is not None:
            found = found.plus(ReservationTotal(1, entry.projection.reserved))
    return found


def change(informer: Informer[Any], what: str, item: dict[str, Any]) -> None:
    if what == "end":
        item["status"]["phase"] = "Failed"
    if what in ("put", "end"):
        bring(informer, item)
    elif what == "drop":
        take_away(informer, item)
    elif what == "relist":
        informer.replace([], "9")


@given(STEPS)
def test_sums_follow_the_store(steps: Sequence[tuple[str, str, str, str, str]]) -> None:
    informer = preloaded(PODS, pods())
    reservations = Reservations(informer.store)
    for what, name, namespace, cpu, node in [*steps, ("read", "", "", "", "")]:
        change(informer, what, sized(pod(name, namespace, node=node), cpu, "1Mi"))
        if what != "read":
            continue
        for namespaces, names in RIGHTS:
            expected = added_up(informer, namespaces, names)
            assert reservations.total(namespaces, names) == expected
            by = reservations.by_namespace(namespaces, names).values()
            assert sum(held.pods for held in by) == expected.pods
            for at in ("node-1", "node-2", ""):
                assert reservations.of_node(at, namespaces, names) == added_up(
                    informer, namespaces, names, at
                )
        for at, held in reservations.by_node().items():
            assert held == added_up(informer, None, (), at)


def test_only_changed_pods_are_added_again() -> None:
    informer = preloaded(PODS, pods())
    reservations = reservations_of(informer.store)
    assert reservations.total(None).pods == 4
    assert reservations_of(informer.store) is reservations
    bring(informer, pod("new"))
    assert reservations.pending_changes == 1
    assert reservations.total(None).pods == 5
    assert reservations.rebuilds == 1
