"""Lists and objects in the server's Table format, for types whose columns only the server knows.

A table has the columns of `kubectl get`, computed by the API server of the type, and the objects of
its rows. A server that can't convert its objects returns a list without columns. Any aggregated API
server may have written a table, so malformed rows are left out.

- Types that can't be watched are listed again every `INTERVAL` seconds.
- Objects may have no resourceVersion, for example in metrics.k8s.io.

https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
"""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from console.kube.clients import TABLE, UserClient
from console.kube.clock import Clock, SystemClock
from console.kube.errors import InvalidResponse, NotFound
from console.kube.gvr import DOT_SEGMENTS, GVR, LONGEST_NAME, Key
from console.kube.identity import Identity
from console.kube.liststream import ListMeta
from console.kube.listwatch import READ_TIMEOUT, Listing, WatchEvent, watch_events
from console.kube.livelist import LIMIT, LiveObject, Spawn, UserReader, UserSource
from console.kube.messages import Message
from console.kube.names import is_dns_label
from console.kube.projections.common import Object, basics
from console.kube.projections.custom import MOST_COLUMNS, Custom, Value, cell_value
from console.kube.projections.definition import PrinterColumn
from console.kube.store import UNREADABLE
from console.kube.transport import Transport

#: Seconds between two lists of a type that can't be watched. metrics-server measures every 15 s.
INTERVAL = 15.0
#: Objects per request, maximum number of requests of a list, and timeout of a request in seconds.
PAGE, MOST_PAGES, TIMEOUT = 500, 20, 30.0
#: The resourceVersion of a list without one.
_NO_VERSION = "0"
#: Columns that every list of the console has.
_STANDARD = frozenset({"name", "namespace", "age"})
#: Maximum characters of a column's name.
_LONGEST_LABEL = 100

OnColumns = Callable[[tuple[PrinterColumn, ...]], None]


@dataclass(frozen=True, slots=True)
class TableReading:
    """How to read a type as tables.

    `watched` is False if the type can't be watched, or the user may not watch it. `on_columns` is
    called on the core thread with the columns of each list.
    """

    namespaced: bool
    watched: bool
    on_columns: OnColumns


class _Definition(msgspec.Struct):
    name: str
    type: str = "string"
    format: str = ""
    priority: int = 0


class _Meta(ListMeta):
    token: str = msgspec.field(name="continue", default="")


class _Page(msgspec.Struct):
    """A Table, or a list or object of an API server that doesn't support tables."""

    kind: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    columnDefinitions: list[msgspec.Raw] | None = None
    rows: list[msgspec.Raw] | None = None
    items: list[msgspec.Raw] | None = None


class _Row(msgspec.Struct):
    object: msgspec.Raw
    cells: list[msgspec.Raw] | None = None


_page = msgspec.json.Decoder(_Page)
_definition = msgspec.json.Decoder(_Definition)
_row = msgspec.json.Decoder(_Row)
_object = msgspec.json.Decoder(Object)

_Rows = dict[Key, tuple[msgspec.Raw, tuple[Value, ...]]]


@dataclass(frozen=True, slots=True)
class TablePage:
    """One page of a table. `columns` is None if the response is not a table."""

    rows: _Rows
    columns: tuple[PrinterColumn, ...] | None
    version: str
    token: str


class TableReader(UserReader):
    """Read tables on behalf of a user."""

    def __init__(self, transport: Transport, identity: Identity) -> None:
        super().__init__(transport, identity)
        self._headers = (*self._headers, ("Accept", TABLE))

    async def page(self, gvr: GVR, namespace: str, params: Sequence[tuple[str, str]]) -> bytes:
        answer = await self._transport.request(
            "GET", gvr.path(namespace), params=params, headers=self._headers, timeout=TIMEOUT
        )
        return answer.body


@dataclass(slots=True)
class TableParser:
    """Parse tables and decode the objects of their rows.

    `columns` and `at` are the columns to show and their positions in a row's cells.
    """

    namespaced: bool
    columns: tuple[PrinterColumn, ...] = ()
    at: tuple[int, ...] = ()
    values: dict[Key, tuple[Value, ...]] = field(default_factory=dict)

    def page(self, body: bytes | msgspec.Raw, *, first: bool = True) -> TablePage:
        """Parse a response or the object of a watch event. Only the `first` page defines the
        columns. Raise `InvalidResponse`.
        """
        try:
            page = _page.decode(body)
        except UNREADABLE as error:
            raise InvalidResponse(
                Message("The response from the Kubernetes API is not a table")
            ) from error
        table = page.kind == "Table"
        if first:
            found = [*_columns(page.columnDefinitions)] if table else []
            self.at = tuple(at for at, _column in found)
            self.columns = tuple(column for _at, column in found)
        rows: _Rows = {}
        raws = page.rows if table else page.items
        if raws is None and not table:
            # An API server without tables returns a single object unchanged. A list without items
            # has no name, and is left out below.
            raws = [msgspec.Raw(body)]
        for raw in raws or ():
            with suppress(*UNREADABLE):
                row = _row.decode(raw) if table else _Row(raw)
                meta = _object.decode(row.object).metadata
                key = Key(meta.namespace, meta.name)
                if self._is_addressable(key):
                    rows[key] = row.object, tuple(self._cells(row.cells or ()))
        self.values |= {key: values for key, (_raw, values) in rows.items()}
        version = page.metadata.resourceVersion or _NO_VERSION
        return TablePage(rows, self.columns if table else None, version, page.metadata.token)

    def decode(self, raw: bytes | msgspec.Raw) -> tuple[Custom, str, msgspec.Raw]:
        """Decode the object of a row that was parsed before."""
        meta = _object.decode(raw).metadata
        values = self.values.get(Key(meta.namespace, meta.name), ())
        missing = (None,) * (len(self.columns) - len(values))
        projection = Custom(
            **basics(meta), columns=self.columns, values=(*values, *missing), status=None
        )
        return projection, meta.resourceVersion, meta.managedFields

    def _is_addressable(self, key: Key) -> bool:
        """Return True if the object has a page. kube-apiserver's own objects always have one."""
        if not key.name or len(key.name) > LONGEST_NAME or key.name in DOT_SEGMENTS:
            return False
        if "/" in key.name or "%" in key.name:
            return False
        return is_dns_label(key.namespace) if self.namespaced else not key.namespace

    def _cells(self, cells: Sequence[msgspec.Raw]) -> Iterator[Value]:
        for at in self.at:
            value = None
            if at < len(cells):
                with suppress(*UNREADABLE):
                    value = cell_value(msgspec.json.decode(cells[at]))
            yield value


def _columns(raws: Sequence[msgspec.Raw] | None) -> Iterator[tuple[int, PrinterColumn]]:
    """Yield the columns to show, with their positions."""
    shown = 0
    for at, raw in enumerate(raws or ()):
        try:
            found = _definition.decode(raw)
        except UNREADABLE:
            continue
        standard = found.format == "name" or found.name.casefold() in _STANDARD
        if not standard and shown < MOST_COLUMNS:
            shown += 1
            name, priority = found.name[:_LONGEST_LABEL], min(max(found.priority, 0), 1)
            yield at, PrinterColumn(name=name, type=found.type, priority=priority)


def table_columns(body: bytes) -> tuple[PrinterColumn, ...]:
    """Return the columns of a table, or none for a list. Raise `InvalidResponse`."""
    return TableParser(namespaced=False).page(body).columns or ()


class _Listed:
    """The complete list of a type."""

    def __init__(self, raws: list[msgspec.Raw], version: str) -> None:
        self._raws = raws
        self.metadata = ListMeta(version)

    async def __aiter__(self) -> AsyncIterator[list[msgspec.Raw]]:
        yield self._raws


class TableSource(UserSource):
    """List and watch a type as tables."""

    def __init__(
        self,
        reader: TableReader,
        gvr: GVR,
        namespace: str,
        parser: TableParser,
        reading: TableReading,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(reader, gvr, namespace)
        self._reader = reader
        self._parser = parser
        self._reading = reading
        self._clock = clock or SystemClock()
        self._rows: _Rows = {}

    @asynccontextmanager
    async def list(self, resource_version: str) -> AsyncGenerator[Listing, None]:
        with self._noting_refusals("list"):
            self._rows, version = await self._read()
            self.refused = None
        yield _Listed([raw for raw, _values in self._rows.values()], version)

    async def latest(self) -> str:
        """Return "": a restored server is noticed when the watch fails or by the next list."""
        return ""

    @asynccontextmanager
    async def watch(self, resource_version: str) -> AsyncGenerator[AsyncIterator[WatchEvent], None]:
        if not self._reading.watched or resource_version == _NO_VERSION:
            yield self._repeat()
            return
        params = [
            ("watch", "true"),
            ("resourceVersion", resource_version),
            ("timeoutSeconds", str(random.randint(300, 600))),  # noqa: S311
            ("includeObject", "Object"),
        ]
        with self._noting_refusals("watch"):
            async with self._client.stream(
                self._gvr, self._namespace, params, read_timeout=READ_TIMEOUT, throttled=True
            ) as content:
                self.refused = None
                yield self._for_a_while(self._rows_of(watch_events(content)))

    async def _read(self) -> tuple[_Rows, str]:
        """List all objects, at most `LIMIT`."""
        params = [("limit", str(PAGE)), ("includeObject", "Object")]
        page = self._parser.page(await self._reader.page(self._gvr, self._namespace, params))
        if page.columns is not None:
            self._reading.on_columns(page.columns)
        rows, version = dict(page.rows), page.version
        for _number in range(MOST_PAGES):
            if not page.token or len(rows) >= LIMIT:
                break
            more = [*params, ("continue", page.token)]
            body = await self._reader.page(self._gvr, self._namespace, more)
            page = self._parser.page(body, first=False)
            rows |= page.rows
        rows = dict([*rows.items()][:LIMIT])
        # Other sources of the same list use the same parser.
        for key in [key for key in self._rows if key not in rows]:
            self._parser.values.pop(key, None)
        return rows, version

    async def _rows_of(
        self, events: AsyncGenerator[WatchEvent, None]
    ) -> AsyncGenerator[WatchEvent, None]:
        async for event in events:
            for raw, _values in self._parser.page(event.object, first=False).rows.values():
                yield WatchEvent(event.type, raw)

    async def _repeat(self) -> AsyncGenerator[WatchEvent, None]:
        """List again and again, and yield the differences."""
        while True:
            await self._clock.sleep(INTERVAL)
            before = self._rows
            with self._noting_refusals("list"):
                self._rows, _version = await self._read()
            for key, row in self._rows.items():
                old = before.get(key)
                if old is None or (bytes(old[0]), old[1]) != (bytes(row[0]), row[1]):
                    yield WatchEvent("MODIFIED", row[0])
            for key, (raw, _values) in before.items():
                if key not in self._rows:
                    yield WatchEvent("DELETED", raw)


class TableObject(LiveObject[Any]):
    """One object, read as a table."""

    def __init__(
        self,
        gvr: GVR,
        key: Key,
        client: UserClient,
        spawn: Spawn,
        reading: TableReading,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._parser = TableParser(reading.namespaced)
        self._reading = reading
        super().__init__(gvr, self._parser.decode, key, client, spawn, clock=clock)

    async def _fetch(self) -> tuple[msgspec.Raw, str]:
        page = self._parser.page(await self._client.get_table(self.gvr, self._key))
        if page.columns is not None:
            self._reading.on_columns(page.columns)
        row = page.rows.get(self._key)
        if row is None:
            raise NotFound(404, Message("the server could not find the requested resource"))
        return row[0], page.version


def table_sources(
    reader: TableReader, gvr: GVR, namespaces: Sequence[str], reading: TableReading, clock: Clock
) -> tuple[TableParser, Mapping[str, TableSource]]:
    """Return the sources of a list by namespace, and the parser whose `decode` decodes the objects."""
    parser = TableParser(reading.namespaced)
    return parser, {
        name: TableSource(reader, gvr, name, parser, reading, clock) for name in namespaces
    }
