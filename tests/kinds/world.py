"""The test objects of every kind: those of its fixture, and hostile variants of them.

A fixture is `fixtures/<plural>.yaml`, or `<plural>.<group>.yaml` if two kinds share a plural. It
contains a few objects in the states that users look for. Everything else is the same for every
kind.
"""

import re
from collections.abc import Coroutine, Iterator, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import yaml

from console.kube.gvr import GVR, Key
from console.kube.identity import Identity
from console.kube.informer import Informer
from console.kube.listwatch import WatchEvent
from console.kube.livelist import LIMIT, LiveList
from console.kube.projections import DECODERS
from console.kube.uncached import UNCACHED
from console.ui.core.kind import ResourceKind, Scope
from tests.support.informers import bring, preloaded
from tests.support.staticruntime import StaticRuntime

Obj = dict[str, Any]

FIXTURES = Path(__file__).parent / "fixtures"
#: Attacks in every text field controlled by tenants: markup, a formula, and a bidirectional
#: override.
POLYGLOT = "\"'><img src=x onerror=alert(1)>{{7*7}}\u202e=1+1\x00"
LONG_NAME = "worst-" + "x" * 247
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T")


def fixture_file(kind: ResourceKind) -> Path:
    own = FIXTURES / f"{kind.gvr.qualified}.yaml"
    return own if own.exists() else FIXTURES / f"{kind.gvr.resource}.yaml"


def fixture_of(kind: ResourceKind) -> list[Obj]:
    """Return the objects as sent by kube-apiserver, with times as strings."""
    return deepcopy(_parsed(fixture_file(kind)))


@cache
def _parsed(path: Path) -> list[Obj]:
    found = yaml.load_all(path.read_text(), _Loader)  # noqa: S506
    return [_versioned(obj) for obj in found if obj]


def objects_of(kind: ResourceKind) -> list[Obj]:
    """Return the objects of the fixture and hostile variants."""
    known = fixture_of(kind)
    return [*known, *_worst(kind, known[0])]


def informer_of(kind: ResourceKind, objects: list[Obj] | None = None) -> Informer[Any]:
    found = objects_of(kind) if objects is None else objects
    if not kind.private:
        return preloaded(kind.gvr, found)
    everything = LiveList(kind.gvr, UNCACHED[kind.gvr].decode, {}, _start)
    everything.replace([UNCACHED[kind.gvr].redact(encoded(obj)) for obj in found], "1")
    everything.connected()
    return everything


def decoded(kind: ResourceKind, obj: Obj) -> Any:
    """Return the projection. Raise `msgspec.DecodeError` for invalid objects."""
    private = UNCACHED.get(kind.gvr)
    if private is not None:
        return private.decode(private.redact(encoded(obj)))[0]
    return DECODERS[kind.gvr](encoded(obj))[0]


class LiveLists:
    """Live lists of preloaded objects, with at most `limit` objects each.

    `asked` records users and namespaces, `made` the lists returned.
    """

    def __init__(self, informer: Informer[Any], limit: int = LIMIT) -> None:
        self.informer = informer
        self.limit = limit
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.made: list[LiveList[Any]] = []

    def __call__(self, gvr: GVR, identity: Identity, namespaces: Sequence[str]) -> LiveList[Any]:
        self.asked.append((identity.name, tuple(namespaces)))
        found = LiveList(gvr, UNCACHED[gvr].decode, {}, _start, limit=self.limit)
        entries = self.informer.store.snapshot().entries.values()
        wanted = [item for item in entries if not namespaces[0] or item.key.namespace in namespaces]
        found.replace([encoded(item.original()) for item in wanted[: self.limit]], "1")
        found.connected()
        self.made.append(found)
        return found


def change(runtime: StaticRuntime, kind: ResourceKind, obj: Obj) -> None:
    """Simulate a watch event with a new version of an object for the informer and all live lists."""
    if not kind.private:
        bring(runtime.informer(kind.gvr), obj)
        return
    lists = runtime._live_lists
    assert isinstance(lists, LiveLists)
    assert lists.informer.gvr == kind.gvr
    shown = UNCACHED[kind.gvr].redact(encoded(obj))
    key = Key(obj["metadata"]["namespace"], obj["metadata"]["name"])
    for found in (lists.informer, *lists.made):
        if found.store.get(key) is not None:
            found.event(WatchEvent("MODIFIED", shown))


class _Started:
    def cancel(self) -> None: ...


def _start(coroutine: Coroutine[Any, Any, None]) -> _Started:
    """Preloaded lists don't watch."""
    coroutine.close()
    return _Started()


def encoded(obj: Obj) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(obj))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in an object except the object itself."""
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, child in children:
        yield (*path, key)
        yield from leaves(child, (*path, key))


def at(obj: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        obj = obj[key]
    return obj


def put(obj: Obj, path: tuple[Any, ...], value: Any) -> Obj:
    """Return a copy with another value at `path`."""
    changed = deepcopy(obj)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def without(obj: Obj, path: tuple[Any, ...]) -> Obj:
    changed = deepcopy(obj)
    del at(changed, path[:-1])[path[-1]]
    return changed


def is_time(value: Any) -> bool:
    return isinstance(value, str) and _TIME.match(value) is not None


class _Loader(yaml.SafeLoader):
    """Keep times as strings, as in JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _versioned(obj: Obj) -> Obj:
    obj["metadata"].setdefault("resourceVersion", "1")
    return obj


def _worst(kind: ResourceKind, first: Obj) -> list[Obj]:
    place = {"namespace": "shop"} if kind.scope is Scope.NAMESPACED else {}
    bare = {"metadata": {"name": "worst-bare", **place, "uid": "bare", "resourceVersion": "1"}}
    ending = _named(first, "worst-ending")
    ending["metadata"]["deletionTimestamp"] = "2026-11-20T12:00:00Z"
    return [bare, ending, _hostile(_named(first, LONG_NAME))]


def _named(obj: Obj, name: str) -> Obj:
    copy = deepcopy(obj)
    copy["metadata"] |= {"name": name, "uid": f"uid-{name[:20]}"}
    return copy


def _hostile(obj: Obj) -> Obj:
    """Replace every string except names of the object and times."""
    for path in list(leaves(obj)):
        kept = path[0] == "metadata" and path[1:2] not in (("labels",), ("annotations",))
        value = at(obj, path)
        if not kept and isinstance(value, str) and not is_time(value):
            at(obj, path[:-1])[path[-1]] = POLYGLOT
    return obj
