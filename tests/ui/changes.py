"""Random changes of a list of pods, and users who may read some of them."""

from typing import Any

import msgspec
from hypothesis import strategies as st

from console.kube.gvr import Key
from console.kube.informer import Informer
from console.ui.core.permissions import Readable
from tests.support.informers import bring, take_away
from tests.ui.support import NAMESPACE_NAMES, pod

RIGHTS = (
    Readable(None),
    Readable(frozenset({"shop"})),
    Readable(frozenset({"team-a", "team-b", "nowhere"})),
    Readable(frozenset({"team-a"}), frozenset({Key("shop", "a"), Key("team-b", "gone")})),
    Readable(frozenset(), frozenset({Key("", "a"), Key("shop", "b"), Key("shop", "a")})),
)
NAMES = ("a", "ab", "b")


names = st.sampled_from(NAMES)
namespaces = st.sampled_from(NAMESPACE_NAMES)
pods = st.builds(
    pod,
    names,
    namespaces,
    waiting=st.sampled_from(("", "", "CrashLoopBackOff", "ContainerCreating")),
    restarts=st.integers(0, 2),
    node=st.sampled_from(("node-1", "node-2", "")),
    ip=st.sampled_from(("10.0.0.2", "10.0.0.10", "fd00::1", "")),
    labels=st.sampled_from(({}, {"app": "x"}, {"app": "y"})),
    created=st.sampled_from(("2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z")),
)
applied = st.tuples(st.just("apply"), pods)
read = st.tuples(st.just("read"), st.none())
changes = st.one_of(
    applied,
    applied,
    st.tuples(st.just("remove"), pods),
    st.tuples(st.just("list"), st.lists(pods, max_size=9)),
    read,
    read,
)


def change(informer: Informer[Any], what: str, given: Any) -> None:
    if what == "apply":
        bring(informer, given)
    elif what == "remove":
        take_away(informer, given)
    elif what == "list":
        objects = {(o["metadata"]["namespace"], o["metadata"]["name"]): o for o in given}
        raws = [msgspec.Raw(msgspec.json.encode(item)) for item in objects.values()]
        informer.replace(raws, "1")
