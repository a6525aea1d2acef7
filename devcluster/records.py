"""Storage primitives: objects at a resourceVersion, changes, and collections with a change history."""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from devcluster.objects import Obj, decode, dig, meta

# Number of changes kept per collection. A watch that resumes from an older one fails with 410.
HISTORY_LIMIT = 10_000

Event = Literal["ADDED", "MODIFIED", "DELETED"]


class Record:
    """An object at one resourceVersion."""

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
        """Return a new copy of the object that the caller can change."""
        return decode(self.data)

    def field(self, path: str) -> str | None:
        """Return the value of a selectable field as text."""
        if path == "metadata.name":
            return self.name
        if path == "metadata.namespace":
            return self.namespace
        return self.fields.get(path)


# Selectable fields whose path in the object differs from their name.
_PLACES = {
    "status.successful": "status.succeeded",
    "source": "source.component",
    "deprecatedSource.component": "source.component",
    "reportingController": "reportingComponent",
}
# Default values of fields that are missing in the object, if not the empty string.
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
    """A write, with the previous record and the new one. For DELETED, `new` is the last state."""

    __slots__ = ("kind", "new", "old", "rv", "wire")

    def __init__(self, kind: Event, new: Record, old: Record | None) -> None:
        self.kind, self.new, self.old, self.rv = kind, new, old, new.rv
        # Encoded watch events by API version, shared by all watchers.
        self.wire: dict[str, bytes] = {}


Listener = Callable[[Change], None]


class Collection:
    """The objects of one type by key, which is `namespace/name` or `name`, and their change
    history.
    """

    def __init__(self, name: str, fields: tuple[str, ...], oldest: int) -> None:
        self.name, self.fields = name, fields
        self.records: dict[str, Record] = {}
        self.keys: list[str] = []
        self.history: deque[Change] = deque()
        #: Oldest resourceVersion from which a watch can resume.
        self.oldest = oldest
        self.listeners: set[Listener] = set()
        #: Callbacks that end watches when the type is removed.
        self.close_callbacks: set[Callable[[], None]] = set()

    def keys_in(self, namespace: str) -> list[str]:
        """Return the sorted keys of a namespace, or all keys if the name is empty."""
        if not namespace:
            return list(self.keys)
        start = bisect_left(self.keys, f"{namespace}/")
        # "0" is the character after "/" in ASCII.
        return self.keys[start : bisect_left(self.keys, f"{namespace}0")]

    def records_in(self, namespace: str = "") -> list[Record]:
        return [self.records[key] for key in self.keys_in(namespace)]

    def at(self, resource_version: int) -> dict[str, Record]:
        """Return the objects at an older resourceVersion by undoing later changes.

        `resource_version` must not be older than `oldest`.
        """
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
        """Return the changes after the resourceVersion, oldest first."""
        found: list[Change] = []
        for change in reversed(self.history):
            if change.rv <= resource_version:
                break
            found.append(change)
        return found[::-1]

    def apply(self, change: Change) -> None:
        key = change.new.key
        if change.kind == "DELETED":
            del self.records[key]
            del self.keys[bisect_left(self.keys, key)]
        else:
            self.records[key] = change.new
            if change.kind == "ADDED":
                insort(self.keys, key)
        self.history.append(change)
        if len(self.history) > HISTORY_LIMIT:
            self.oldest = self.history.popleft().rv
