"""Lists and single objects of a kind, limited to those that the user may see.

Cached kinds are read from the shared cache through the same sorted lists as the pages. Other kinds,
such as Secrets, are read from kube-apiserver as the user.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from console.audit.trail import record_request
from console.gateway.errors import Refusal
from console.gateway.kapis.call import Call, ObjectList
from console.gateway.kapis.decorations import decorated
from console.gateway.kapis.filters import Test, selector, tests_of
from console.gateway.kapis.query import NEWEST, ListRequest
from console.kube.apply import Manifest
from console.kube.errors import NotFound
from console.kube.gvr import HORIZONTAL_POD_AUTOSCALERS, SECRETS, Key
from console.kube.names import is_dns_label
from console.kube.store import Entry
from console.ui.core.custom_kinds import GenericKind
from console.ui.core.kind import ResourceKind, Scope, segment_of
from console.ui.core.manifests import mapping, mappings_at, time
from console.ui.core.object_source import (
    MOST_PROJECTS,
    ListNotLoaded,
    TooManyProjects,
    find_entry,
)
from console.ui.core.permissions import (
    check_visible,
    may_know_kind,
    readable,
    whole_namespaces,
)
from console.ui.core.threads import in_thread
from console.ui.lists.selection import QUICK, ListQuery, select_async
from console.ui.lists.viewspec import ViewSpec

#: Seconds that a request waits for the first list of a kind.
LOAD_SECONDS = 5.0
#: KubeSphere's names of resources that have another plural.
_ALIASES = {"hpa": HORIZONTAL_POD_AUTOSCALERS}
#: Orders that the cache keeps, and the columns that have them. Ascending ages start with the newest.
_COLUMNS = {NEWEST: "age", "createTime": "age", "name": "name"}


def find_kind(call: Call, resource: str) -> ResourceKind:
    """Return the kind of a plural, or `plural.group`. Raise `Refusal` 404 for types that the cluster
    doesn't serve or that the user may not know.
    """
    kinds = call.cluster.kinds
    named = [one for one in kinds.declared if one.gvr.resource == resource]
    # Kubernetes' own types come first.
    named.sort(key=lambda one: one.segment != resource)
    segment = named[0].segment if named else resource
    if resource in _ALIASES:
        segment = segment_of(_ALIASES[resource])
    found = kinds.find(segment)
    served = found is not None and kinds.served.serves(found.gvr) is not False
    if found is None or not served or not may_know_kind(call.access, found):
        raise not_found(resource)
    return found


def not_found(name: str) -> Refusal:
    return Refusal(404, _("%(name)s was not found.") % {"name": name[:253]})


def check_namespace(kind: ResourceKind, namespace: str) -> None:
    """Raise `Refusal` if objects of the kind are not in namespaces, or for an invalid name."""
    if kind.scope is not Scope.NAMESPACED or not is_dns_label(namespace):
        raise not_found(f"{kind.gvr.qualified} {namespace}")


async def list_objects(
    call: Call, kind: ResourceKind, asked: ListRequest, namespaces: Sequence[str] = ()
) -> ObjectList:
    """Return the objects of a kind in `namespaces`, by default in all that the user may see. Raise
    `Denied`, `Refusal` and `ApiError`.
    """
    if _is_read_as_user(call, kind):
        items = await _list_as_user(call, kind, namespaces)
        tests = [_labels_test(asked.labels), *tests_of(kind.gvr.resource, asked.filters)]
        found = [one for one in items if all(test(one) for test in tests)]
        found = _sorted(found, asked)
        shown: Iterable[Manifest] = (decorated(call, kind, one) for one in found[asked.part])
        return ObjectList(shown, len(found))
    entries, total = await _select(call, kind, asked, tuple(namespaces))
    return ObjectList(_manifests(call, kind, entries), total)


def _is_read_as_user(call: Call, kind: ResourceKind) -> bool:
    if kind.uncached:
        return True
    informer = call.cluster.runtime.informer(kind.gvr)
    refused = not informer.freshness.synced and informer.refusal is not None
    return refused and isinstance(kind, GenericKind)


async def _select(
    call: Call, kind: ResourceKind, asked: ListRequest, namespaces: tuple[str, ...]
) -> tuple[Sequence[Entry[Any]], int]:
    """Return the entries of the page, and the number of objects in all pages. Filters that need whole
    objects are applied to the objects of the sorted list.
    """
    runtime = call.cluster.runtime
    tests = tests_of(kind.gvr.resource, asked.filters)
    spec = _spec(call, kind, asked, namespaces)
    query = ListQuery.of(spec, call.access)
    await runtime.wait_synced(kind.gvr, timeout=LOAD_SECONDS)
    informer = runtime.informer(kind.gvr)
    if not informer.freshness.synced:
        raise ListNotLoaded(kind, informer)
    if not tests and spec.sort:
        found = await select_async(query, informer, asked.part, seconds=LOAD_SECONDS)
        return found.entries, found.total
    every = (await select_async(query, informer, seconds=LOAD_SECONDS)).entries
    work = partial(_filter, every, tests, None if spec.sort else asked)
    matching = await in_thread(work) if len(every) > QUICK else work()
    return matching[asked.part], len(matching)


def _spec(
    call: Call, kind: ResourceKind, asked: ListRequest, namespaces: tuple[str, ...]
) -> ViewSpec:
    column = _COLUMNS.get(asked.sort_by, "")
    values = [("namespace", namespaces)] if namespaces else []
    if asked.labels:
        values.append(("label", (str(selector(asked.labels)),)))
    sort = column if column in kind.sortable else ""
    descends = asked.ascending if column == "age" else not asked.ascending
    sign = "-" if descends and sort else ""
    return ViewSpec(kind, call.cluster.name, values=tuple(values), sort=f"{sign}{sort}")


def _filter(
    entries: Sequence[Entry[Any]], tests: Sequence[Test], order: ListRequest | None
) -> list[Entry[Any]]:
    """Return the entries that pass the tests, sorted if `order` is set. Only one object is decoded at
    a time, because decoded objects are large.
    """
    kept: list[tuple[Any, Entry[Any]]] = []
    for entry in entries:
        item = original(entry) if tests or order is not None else {}
        if all(test(item) for test in tests):
            kept.append((_rank(item, order) if order is not None else 0, entry))
    if order is not None:
        kept.sort(key=lambda pair: pair[0], reverse=not order.ascending)
    return [entry for _place, entry in kept]


def _sorted(items: list[Manifest], asked: ListRequest) -> list[Manifest]:
    return sorted(items, key=lambda one: _rank(one, asked), reverse=not asked.ascending)


def _rank(item: Manifest, asked: ListRequest) -> tuple[Any, ...]:
    meta = mapping(item, "metadata")
    name = (str(meta.get("name", "")), str(meta.get("namespace", "")))
    created = _moment(meta.get("creationTimestamp"))
    if asked.sort_by == "name":
        return name
    if asked.sort_by in ("updateTime", "lastUpdateTimestamp"):
        return (max([created, *_changes(item)]), *name)
    return (created, *name)


def _changes(item: Manifest) -> Iterator[float]:
    for one in mappings_at(item, "status", "conditions"):
        yield _moment(one.get("lastUpdateTime") or one.get("lastTransitionTime"))


def _moment(value: Any) -> float:
    found: datetime | None = time(value)
    return found.timestamp() if found is not None else 0.0


def original(entry: Entry[Any]) -> Manifest:
    """Return the object, or only its name if it is nested too deeply to decode."""
    try:
        return entry.original()
    except RecursionError:
        key = entry.key
        place = {"namespace": key.namespace} if key.namespace else {}
        return {"metadata": {"name": key.name, **place}}


def _manifests(call: Call, kind: ResourceKind, entries: Sequence[Entry[Any]]) -> Iterator[Manifest]:
    for entry in entries:
        yield decorated(call, kind, original(entry))


def _labels_test(text: str) -> Test:
    wanted = selector(text)
    return lambda item: wanted.matches(mapping(item, "metadata", "labels"))


async def _list_as_user(
    call: Call, kind: ResourceKind, namespaces: Sequence[str]
) -> list[Manifest]:
    whole = whole_namespaces(kind, readable(kind, call.access), tuple(namespaces))
    wanted = tuple(namespaces) or (("",) if whole is None else tuple(sorted(whole)))
    if len(wanted) > MOST_PROJECTS:
        raise TooManyProjects(
            _("You have access to too many projects. List the resources of one project.")
        )
    client = call.cluster.runtime.as_user(call.access.identity)
    found: list[Manifest] = []
    for namespace in wanted:
        async with _recorded_read(call, kind, "list", Key(namespace, "")):
            found += await client.list_by_fields(kind.gvr, "", namespace)
    for one in found:
        mapping_of = one.get("metadata")
        if isinstance(mapping_of, dict):
            mapping_of.pop("managedFields", None)
    return found


async def get_object(call: Call, kind: ResourceKind, key: Key) -> Manifest:
    """Return an object. Raise `Denied`, also if it doesn't exist and the user may not know, `Refusal`
    404 and `ApiError`.
    """
    check_visible(kind, call.access, key)
    if _is_read_as_user(call, kind):
        client = call.cluster.runtime.as_user(call.access.identity)
        async with _recorded_read(call, kind, "get", key):
            found = await client.get(kind.gvr, namespace=key.namespace, name=key.name)
        found["metadata"].pop("managedFields", None)
        return decorated(call, kind, found)
    entry = await find_entry(kind, call.access, key, seconds=LOAD_SECONDS)
    if entry is None:
        raise NotFound(404, f'{kind.gvr.qualified} "{key.name}" not found')
    return decorated(call, kind, original(entry))


@asynccontextmanager
async def _recorded_read(call: Call, kind: ResourceKind, verb: str, key: Key) -> Any:
    """Record reads of Secrets, as everywhere."""
    if kind.gvr != SECRETS:
        yield
        return
    where = {"namespace": key.namespace, "name": key.name}
    async with record_request(call.request, verb, kind.gvr, **where):
        yield


def list_entries(
    call: Call, kind: ResourceKind, entries: Iterable[Entry[Any]], asked: ListRequest
) -> ObjectList:
    """Return a list of cached objects whose visibility the caller has checked."""
    tests = [_labels_test(asked.labels), *tests_of(kind.gvr.resource, asked.filters)]
    found = _filter(tuple(entries), tests, asked)
    return ObjectList(_manifests(call, kind, found[asked.part]), len(found))


def list_manifests(resource: str, items: Iterable[Manifest], asked: ListRequest) -> ObjectList:
    """Return a list of objects that are ready for the response."""
    tests = [_labels_test(asked.labels), *tests_of(resource, asked.filters)]
    found = _sorted([one for one in items if all(test(one) for test in tests)], asked)
    return ObjectList(found[asked.part], len(found))
