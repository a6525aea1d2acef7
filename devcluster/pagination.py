"""Consistent, paginated lists.

The first page has the current state. The following pages show the same resourceVersion, which is
reconstructed by undoing later changes. A page request fails with 410 if the history no longer
contains those changes.
"""

from bisect import bisect_left
from dataclasses import dataclass

from devcluster.errors import expired, too_large_resource_version
from devcluster.options import ListOptions, continue_token, expired_page, read_token
from devcluster.store import Collection, Record, Store

# Seconds that kube-apiserver waits for a resourceVersion that it has not seen yet.
FRESHNESS_TIMEOUT = 3.0


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list. `remaining` is None (unknown) if a selector is used."""

    records: list[Record]
    resource_version: int
    token: str = ""
    remaining: int | None = None


async def wait_until_fresh(store: Store, resource_version: int) -> None:
    """Raise a 504 error if the store does not reach the resourceVersion in time."""
    if resource_version > store.rv and not await store.wait_for(
        resource_version, FRESHNESS_TIMEOUT
    ):
        raise too_large_resource_version(resource_version, store.rv)


async def list_page(
    store: Store, collection: Collection, namespace: str, options: ListOptions
) -> Page:
    """Return one page. The caller has already checked the namespace and options."""
    start, moment = "", None
    if options.token:
        rv, start = read_token(options.token)
        moment = rv if rv > 0 else None
        if moment is not None and moment < collection.oldest:
            raise expired_page(start)
    elif options.resource_version:
        await wait_until_fresh(store, options.resource_version)
        legacy_exact = options.limit and not options.match
        if options.match == "Exact" or legacy_exact:
            moment = options.resource_version
            if moment < collection.oldest:
                about = f"{moment} ({collection.oldest})"
                raise expired(f"The provided resource version is too old: {about}")
    records, keys = _at(collection, namespace, moment)
    return _cut(records, keys, start, moment or store.rv, options)


def _at(
    collection: Collection, namespace: str, moment: int | None
) -> tuple[dict[str, Record], list[str]]:
    """Return the objects at `moment` and the sorted keys of the objects in the namespace."""
    if moment is None or not collection.history or collection.history[-1].rv <= moment:
        return collection.records, collection.keys_in(namespace)
    records = collection.at(moment)
    prefix = f"{namespace}/" if namespace else ""
    return records, sorted(key for key in records if key.startswith(prefix))


def _cut(
    records: dict[str, Record],
    keys: list[str],
    start: str,
    resource_version: int,
    options: ListOptions,
) -> Page:
    if start:
        keys = keys[bisect_left(keys, start) :]
    if not options.selection and options.limit:
        chosen = [records[key] for key in keys[: options.limit]]
        if len(keys) <= options.limit:
            return Page(chosen, resource_version)
        token = continue_token(resource_version, keys[options.limit])
        return Page(chosen, resource_version, token, len(keys) - options.limit)
    matches = options.selection.matches
    chosen = []
    for key in keys:
        record = records[key]
        if options.selection and not matches(record):
            continue
        if options.limit and len(chosen) == options.limit:
            return Page(chosen, resource_version, continue_token(resource_version, key))
        chosen.append(record)
    return Page(chosen, resource_version)
