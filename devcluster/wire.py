"""Objects as they are sent: whole, as rows of a table, or only their metadata."""

from collections.abc import Sequence
from typing import Protocol

from devcluster.columns import Column
from devcluster.customs import CustomVersion
from devcluster.objects import Obj, encode, meta
from devcluster.resources import ResourceType
from devcluster.statuses import StatusError
from devcluster.store import Change, Event, Record
from devcluster.tables import columns_for, row_of

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Renderer(Protocol):
    """How one client wants the objects of one type in one version."""

    def one(self, record: Record) -> bytes: ...

    def many(self, records: Sequence[Record], metadata: Obj) -> bytes: ...

    def event(self, kind: Event, record: Record) -> bytes:
        """A line of a watch."""
        ...

    def change(self, change: Change) -> bytes:
        """The line of a change that the client sees as what it is."""
        ...

    def bookmark(self, resource_version: int, *, initial_end: bool) -> bytes: ...


def whole(declared: ResourceType, version: str, record: Record) -> bytes:
    """The object's JSON in that version."""
    served = declared.version(version)
    if served and served.to_wire:
        return encode(declared.typed(record.load(), version))
    return declared.head(version) + record.data[1:]


def error_event(error: StatusError) -> bytes:
    return encode({"type": "ERROR", "object": error.body()}) + b"\n"


class Whole:
    """Whole objects. Events are encoded once for all watchers."""

    def __init__(self, declared: ResourceType, version: str) -> None:
        self._declared, self._version = declared, version
        self._group_version = declared.group_version(version)

    def one(self, record: Record) -> bytes:
        return whole(self._declared, self._version, record)

    def many(self, records: Sequence[Record], metadata: Obj) -> bytes:
        declared = self._declared
        served = declared.version(self._version)
        if declared.custom or (served and served.to_wire):
            items = [self.one(record) for record in records]
        else:
            # Items of built-in lists do not repeat kind and apiVersion.
            items = [record.data for record in records]
        head = {"kind": declared.list_kind_name, "apiVersion": self._group_version}
        start = encode({**head, "metadata": metadata})[:-1]
        return start + b',"items":[' + b",".join(items) + b"]}\n"

    def event(self, kind: Event, record: Record) -> bytes:
        return b'{"type":"' + kind.encode() + b'","object":' + self.one(record) + b"}\n"

    def change(self, change: Change) -> bytes:
        line = change.wire.get(self._group_version)
        if line is None:
            line = change.wire[self._group_version] = self.event(change.kind, change.new)
        return line

    def bookmark(self, resource_version: int, *, initial_end: bool) -> bytes:
        about = _bookmark_metadata(resource_version, initial_end=initial_end)
        typed = {"kind": self._declared.kind, "apiVersion": self._group_version}
        return encode({"type": "BOOKMARK", "object": {**typed, "metadata": about}}) + b"\n"


def _bookmark_metadata(resource_version: int, *, initial_end: bool) -> Obj:
    about: Obj = {"resourceVersion": str(resource_version)}
    if initial_end:
        about["annotations"] = {INITIAL_EVENTS_END: "true"}
    return about


class _Transformed:
    """Objects that are sent in another shape."""

    def shape(self, record: Record) -> Obj:
        raise NotImplementedError

    def one(self, record: Record) -> bytes:
        return encode(self.shape(record))

    def event(self, kind: Event, record: Record) -> bytes:
        return encode({"type": kind, "object": self.shape(record)}) + b"\n"

    def change(self, change: Change) -> bytes:
        return self.event(change.kind, change.new)


class MetadataOnly(_Transformed):
    """`PartialObjectMetadata`."""

    _TYPE = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}

    def shape(self, record: Record) -> Obj:
        return {**self._TYPE, "metadata": meta(record.load())}

    def many(self, records: Sequence[Record], metadata: Obj) -> bytes:
        head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        items = [self.shape(record) for record in records]
        return encode({**head, "metadata": metadata, "items": items})

    def bookmark(self, resource_version: int, *, initial_end: bool) -> bytes:
        about = _bookmark_metadata(resource_version, initial_end=initial_end)
        return encode({"type": "BOOKMARK", "object": {**self._TYPE, "metadata": about}}) + b"\n"


class Table(_Transformed):
    """`Table` of meta.k8s.io/v1. `include`: `Metadata`, `Object` or `None` beside the cells."""

    def __init__(
        self, declared: ResourceType, version: str, custom: CustomVersion | None, include: str
    ) -> None:
        self._declared, self._version, self._include = declared, version, include
        self._columns: tuple[Column, ...] = columns_for(declared, custom)

    def shape(self, record: Record) -> Obj:
        return self._table([record], {"resourceVersion": str(record.rv)})

    def many(self, records: Sequence[Record], metadata: Obj) -> bytes:
        return encode(self._table(records, metadata))

    def _table(self, records: Sequence[Record], metadata: Obj) -> Obj:
        return {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "columnDefinitions": [column.definition() for column in self._columns],
            "rows": [self._row(record) for record in records],
        }

    def _row(self, record: Record) -> Obj:
        obj = record.load()
        row = row_of(self._columns, obj)
        if self._include == "Object":
            row["object"] = self._declared.typed(obj, self._version)
        elif self._include != "None":
            about = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
            row["object"] = {**about, "metadata": meta(obj)}
        return row

    def bookmark(self, resource_version: int, *, initial_end: bool) -> bytes:
        about = _bookmark_metadata(resource_version, initial_end=initial_end)
        obj = {**self._table([], {"resourceVersion": str(resource_version)}), "rows": []}
        obj["metadata"] = about
        return encode({"type": "BOOKMARK", "object": obj}) + b"\n"


def choose_renderer(
    accept: str,
    include: str,
    declared: ResourceType,
    version: str,
    custom: CustomVersion | None,
) -> Renderer | None:
    """The first of what the client accepts that the server can do; None if there is none."""
    for offer in accept.split(",") if accept.strip() else ["*/*"]:
        media, *parameters = (part.strip() for part in offer.split(";"))
        if media not in ("application/json", "*/*", "application/*"):
            continue
        values = dict(part.partition("=")[::2] for part in parameters)
        kind = values.get("as", "")
        if not kind:
            return Whole(declared, version)
        if values.get("g") == "meta.k8s.io" and values.get("v") == "v1":
            if kind == "Table":
                return Table(declared, version, custom, include)
            if kind in ("PartialObjectMetadata", "PartialObjectMetadataList"):
                return MetadataOnly()
    return None
