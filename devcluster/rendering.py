"""Encoding of objects as full objects, table rows or metadata only."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from devcluster.columns import Column
from devcluster.custom_types import CustomVersion
from devcluster.errors import StatusError
from devcluster.objects import Obj, encode, meta
from devcluster.resources import ResourceType
from devcluster.store import Change, Event, Record
from devcluster.tables import columns_for

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
_PARTIAL = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}


class Renderer(ABC):
    """Encode objects of one type and version in the format that the client accepts."""

    @abstractmethod
    def render_object(self, record: Record) -> bytes: ...

    @abstractmethod
    def render_list(self, records: Sequence[Record], metadata: Obj) -> bytes: ...

    @abstractmethod
    def metadata_object(self, metadata: Obj) -> Obj:
        """Return an object that contains only metadata."""

    def event(self, kind: Event, record: Record) -> bytes:
        """Return a line of a watch response."""
        return b'{"type":"' + kind.encode() + b'","object":' + self.render_object(record) + b"}\n"

    def change(self, change: Change) -> bytes:
        """Return the watch event for a change that does not enter or leave the client's selection."""
        return self.event(change.kind, change.new)

    def bookmark(self, resource_version: int, *, initial_end: bool) -> bytes:
        about: Obj = {"resourceVersion": str(resource_version)}
        if initial_end:
            about["annotations"] = {INITIAL_EVENTS_END: "true"}
        return encode({"type": "BOOKMARK", "object": self.metadata_object(about)}) + b"\n"


def error_event(error: StatusError) -> bytes:
    return encode({"type": "ERROR", "object": error.body()}) + b"\n"


class ObjectRenderer(Renderer):
    """Render full objects. A watch event is encoded once and shared by all watchers."""

    def __init__(self, declared: ResourceType, version: str) -> None:
        self._declared, self._version = declared, version
        self._group_version = declared.group_version(version)
        served = declared.version(version)
        self._converts = served is not None and served.to_wire is not None

    def render_object(self, record: Record) -> bytes:
        if self._converts:
            return encode(self._declared.with_type_meta(record.load(), self._version))
        return self._declared.head(self._version) + record.data[1:]

    def render_list(self, records: Sequence[Record], metadata: Obj) -> bytes:
        declared = self._declared
        if declared.custom or self._converts:
            items = [self.render_object(record) for record in records]
        else:
            # Items of built-in lists omit kind and apiVersion.
            items = [record.data for record in records]
        head = {"kind": declared.list_kind_name, "apiVersion": self._group_version}
        start = encode({**head, "metadata": metadata})[:-1]
        return start + b',"items":[' + b",".join(items) + b"]}\n"

    def metadata_object(self, metadata: Obj) -> Obj:
        typed = {"kind": self._declared.kind, "apiVersion": self._group_version}
        return {**typed, "metadata": metadata}

    def change(self, change: Change) -> bytes:
        line = change.wire.get(self._group_version)
        if line is None:
            line = change.wire[self._group_version] = super().change(change)
        return line


class MetadataRenderer(Renderer):
    """Render `PartialObjectMetadata` objects."""

    def render_object(self, record: Record) -> bytes:
        return encode(self.metadata_object(meta(record.load())))

    def render_list(self, records: Sequence[Record], metadata: Obj) -> bytes:
        head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
        items = [self.metadata_object(meta(record.load())) for record in records]
        return encode({**head, "metadata": metadata, "items": items})

    def metadata_object(self, metadata: Obj) -> Obj:
        return {**_PARTIAL, "metadata": metadata}


class TableRenderer(Renderer):
    """Render a `TableRenderer` of meta.k8s.io/v1. Each row includes the object as specified by `include`:
    `Metadata`, `Object` or `None`.
    """

    def __init__(
        self, declared: ResourceType, version: str, custom: CustomVersion | None, include: str
    ) -> None:
        self._declared, self._version, self._include = declared, version, include
        self._columns: tuple[Column, ...] = columns_for(declared, custom)

    def render_object(self, record: Record) -> bytes:
        return self.render_list([record], {"resourceVersion": str(record.rv)})

    def render_list(self, records: Sequence[Record], metadata: Obj) -> bytes:
        return encode(
            {**self.metadata_object(metadata), "rows": [self._row(record) for record in records]}
        )

    def metadata_object(self, metadata: Obj) -> Obj:
        return {
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "columnDefinitions": [column.definition() for column in self._columns],
            "rows": [],
        }

    def _row(self, record: Record) -> Obj:
        obj = record.load()
        row: Obj = {"cells": [column.get(obj) for column in self._columns]}
        if self._include == "Object":
            row["object"] = self._declared.with_type_meta(obj, self._version)
        elif self._include != "None":
            row["object"] = {**_PARTIAL, "metadata": meta(obj)}
        return row


def choose_renderer(
    accept: str,
    include: str,
    declared: ResourceType,
    version: str,
    custom: CustomVersion | None,
) -> Renderer | None:
    """Return a renderer for the first accepted media type that is supported, or None."""
    for offer in accept.split(",") if accept.strip() else ["*/*"]:
        media, *parameters = (part.strip() for part in offer.split(";"))
        if media not in ("application/json", "*/*", "application/*"):
            continue
        values = dict(part.partition("=")[::2] for part in parameters)
        kind = values.get("as", "")
        if not kind:
            return ObjectRenderer(declared, version)
        if values.get("g") == "meta.k8s.io" and values.get("v") == "v1":
            if kind == "Table":
                return TableRenderer(declared, version, custom, include)
            if kind in ("PartialObjectMetadata", "PartialObjectMetadataList"):
                return MetadataRenderer()
    return None
