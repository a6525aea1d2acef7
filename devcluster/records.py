"""What the store is made of: objects at a resourceVersion, changes, collections with a memory."""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from devcluster.objects import Obj, decode, dig, meta

# Changes that are remembered per collection; a watch that resumes from before them gets 410.
HISTORY = 10_000

Event = Literal["ADDED", "MODIFIED", "DELETED"]


class Record:
    """One object at one resourceVersion."""

    __slots__ = (
        "data",
        "deleting",
        "fields",
        "key",
        "labels",
        "name",
        "namespace",
        "owners",
        "rv",
        "uid",
    )

    def __init__(self, key: str, obj: Obj, data: bytes, fields: Iterable[str]) -> None:
        about = meta(obj)
        self.key, self.data = key, data
        self.name: str = about.get("name", "")
        self.namespace: str = about.get("namespace", "")
        self.uid: str = about.get("uid", "")
        self.rv = int(about["resourceVersion"])
        self.labels: Mapping[str, str] = about.get("labels") or {}
        self.deleting = "deletionTimestamp" in about
        self.owners = tuple(owner.get("uid", "") for owner in about.get("ownerReferences") or ())
        self.fields = {path: _field(obj, path) for path in fields}

    def load(self) -> Obj:
        """A copy of the object that the caller may change."""
        return decode(self.data)

    def field(self, path: str) -> str | None:
        """The text of a field that selectors may name."""
        if path == "metadata.name":
            return self.name
        if path == "metadata.namespace":
            return self.namespace
        return self.fields.get(path)


# Selectable fields that are somewhere else in the object than their name says.
_PLACES = {
    "status.successful": "status.succeeded",
    "source": "source.component",
    "deprecatedSource.component": "source.component",
    "reportingController": "reportingComponent",
}
# What a field is when the object leaves it out, if that is not the empty text.
_ZEROS = {
    "spec.hostNetwork": "false",
    "spec.unschedulable": "false",
    "status.successful": "0",
    "status.replicas": "0",
}


def _field(obj: Obj, path: str) -> str:
    place = _PLACES.get(path, path).replace("regarding.", "involvedObject.")
    value = dig(obj, place)
    if value is None:
        return _ZEROS.get(path, "")
    return str(value).lower() if isinstance(value, bool) else str(value)


class Change:
    """One write: what was there before and what is there now (for DELETED: the last state)."""

    __slots__ = ("kind", "new", "old", "rv", "wire")

    def __init__(self, kind: Event, new: Record, old: Record | None) -> None:
        self.kind, self.new, self.old, self.rv = kind, new, old, new.rv
        # Encoded watch events by the version they are sent in, shared by all watchers.
        self.wire: dict[str, bytes] = {}


Listener = Callable[[Change], None]


class Collection:
    """The objects of one type, by `namespace/name` or `name`."""

    def __init__(self, name: str, fields: tuple[str, ...], oldest: int) -> None:
        self.name, self.fields = name, fields
        self.records: dict[str, Record] = {}
        self.keys: list[str] = []
        self.history: deque[Change] = deque()
        #: A watch may resume from this resourceVersion or a later one.
        self.oldest = oldest
        self.listeners: set[Listener] = set()
        #: Called when the type is gone, so that watches end.
        self.closers: set[Callable[[], None]] = set()

    def keys_in(self, namespace: str) -> list[str]:
        """Sorted keys of a namespace; of all for the empty name."""
        if not namespace:
            return list(self.keys)
        start = bisect_left(self.keys, f"{namespace}/")
        # "0" is the letter after "/".
        return self.keys[start : bisect_left(self.keys, f"{namespace}0")]

    def records_in(self, namespace: str = "") -> list[Record]:
        return [self.records[key] for key in self.keys_in(namespace)]

    def at(self, resource_version: int) -> dict[str, Record]:
        """The objects as they were then, by undoing what came later; `oldest` must not be later."""
        records = dict(self.records)
        for change in reversed(self.history):
            if change.rv <= resource_version:
                break
            if change.old is None:
                records.pop(change.new.key, None)
            else:
                records[change.new.key] = change.old
        return records

    def since(self, resource_version: int) -> list[Change]:
        """The changes after that resourceVersion, oldest first."""
        found: list[Change] = []
        for change in reversed(self.history):
            if change.rv <= resource_version:
                break
            found.append(change)
        return found[::-1]

    def note(self, change: Change) -> None:
        key = change.new.key
        if change.kind == "DELETED":
            del self.records[key]
            del self.keys[bisect_left(self.keys, key)]
        else:
            self.records[key] = change.new
            if change.kind == "ADDED":
                insort(self.keys, key)
        self.history.append(change)
        if len(self.history) > HISTORY:
            self.oldest = self.history.popleft().rv
