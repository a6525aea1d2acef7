"""The incremental index of referrers equals one computed from all objects after any changes."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.kube import gvr as types
from console.kube.gvr import Key
from console.kube.informer import Informer
from console.kube.store import Entry
from console.ui.core.kind import Target
from console.ui.details.relations.references import Referrers, referrers_of
from tests.support.informers import bring, preloaded, take_away
from tests.ui.details.relations.shop import everything, targets
from tests.ui.support import pod

_NAMES = st.sampled_from(["a", "b", "c"])
#: A pod's name and namespace and the ConfigMaps it references, a deletion, or a relist.
_PUT = st.tuples(
    st.just("put"), _NAMES, st.sampled_from(["shop", "team-b"]), st.lists(_NAMES, max_size=3)
)
_STEPS = st.lists(
    st.one_of(
        _PUT,
        st.tuples(st.just("drop"), _NAMES, st.sampled_from(["shop", "team-b"])),
        st.tuples(st.just("relist"), st.lists(_PUT, max_size=5)),
        st.tuples(st.just("read")),
    ),
    max_size=30,
)


def a_pod(name: str, namespace: str, maps: list[str]) -> dict[str, Any]:
    found = pod(name, namespace)
    found["spec"]["volumes"] = [
        {"name": f"v{at}", "configMap": {"name": m}} for at, m in enumerate(maps)
    ]
    return found


def computed(informer: Informer[Any]) -> dict[Target, set[Key]]:
    found: dict[Target, set[Key]] = {}
    for key, entry in informer.store.snapshot().entries.items():
        for target in targets(informer.gvr, entry.projection):
            found.setdefault(target, set()).add(key)
    return found


def kept(referrers: Referrers) -> dict[Target, set[Key]]:
    known = {(types.CONFIG_MAPS, Key(n, m)) for n in ("shop", "team-b") for m in "abc"}
    found = {target: {entry.key for entry in referrers.of(target)} for target in known}
    return {target: keys for target, keys in found.items() if keys}


@given(_STEPS, st.integers(1, 6))
def test_index_equals_a_new_computation_after_any_changes(
    steps: list[Any], remembered: int
) -> None:
    informer = preloaded(types.PODS)
    referrers = referrers_of(informer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("console.kube.store._REMEMBERED", remembered)
        for step in [*steps, ("read",)]:
            match step:
                case ("put", name, namespace, maps):
                    bring(informer, a_pod(name, namespace, maps))
                case ("drop", name, namespace):
                    take_away(informer, a_pod(name, namespace, []))
                case ("relist", puts):
                    fresh = preloaded(types.PODS, [a_pod(*put[1:]) for put in puts])
                    raws = [_raw(e) for e in fresh.store.snapshot().entries.values()]
                    informer.replace(raws, "1")
                case _:
                    assert kept(referrers) == computed(informer)
    assert {e.resource_version for t in kept(referrers) for e in referrers.of(t)} <= {
        e.resource_version for e in informer.store.snapshot().entries.values()
    }


def _raw(entry: Entry[Any]) -> Any:
    return msgspec.Raw(msgspec.json.encode(entry.original()))


def test_changes_do_not_rebuild_the_index() -> None:
    informer = preloaded(types.PODS, everything()[types.PODS])
    referrers = referrers_of(informer)
    target = (types.CONFIG_MAPS, Key("shop", "late"))
    assert referrers.of(target) == ()
    for number in range(50):
        bring(informer, a_pod(f"p{number}", "shop", ["late"]))
        assert len(referrers.of(target)) == number + 1
    assert referrers.rebuilds == 1


def test_target_without_referrers_is_removed() -> None:
    informer = preloaded(types.PODS, [a_pod("p", "shop", ["a"])])
    referrers = referrers_of(informer)
    assert len(referrers.of((types.CONFIG_MAPS, Key("shop", "a")))) == 1
    bring(informer, a_pod("p", "shop", []))
    assert referrers.of((types.CONFIG_MAPS, Key("shop", "a"))) == ()
    assert not referrers._naming and not referrers._groups and not referrers._group_of


def test_replicas_share_their_references() -> None:
    pods = [a_pod(f"p{number}", "shop", ["a", "b"]) for number in range(20)]
    informer = preloaded(types.PODS, pods)
    referrers = referrers_of(informer)
    assert len(referrers.of((types.CONFIG_MAPS, Key("shop", "b")))) == 20
    assert len(referrers._groups) == 1
    entries = informer.store.snapshot().entries.values()
    assert len({id(entry.projection.uses) for entry in entries}) == 1
