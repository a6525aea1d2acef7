"""In-memory console client that follows the rules of kube-apiserver that the controllers depend on."""

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

from console.kube.errors import ApiError, Conflict, NotFound, error_from_status
from console.kube.gvr import EVENTS, GVR, SECRETS, Key
from console.kube.informer import Informer
from tests.support.informers import bring, preloaded, take_away
from tests.support.mergepatches import check_lists
from tests.support.staticruntime import StaticRuntime

Manifest = dict[str, Any]

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class MovableClock:
    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    async def sleep(self, seconds: float) -> None:
        self.move(seconds=seconds)

    def move(self, **delta: float) -> None:
        self.time += timedelta(**delta)


class FakeConsole:
    """Objects by type and `namespace/name` (or `name`).

    Writes reach the informer of the type immediately, unless `delayed` is set. `calls` contains
    tuples (verb, resource, name, subresource).
    """

    def __init__(self, informers: dict[GVR, Informer[Any]]) -> None:
        self.informers = informers
        self.calls: list[tuple[str, str, str, str]] = []
        self.events: list[Manifest] = []
        self.fail_events: ApiError | None = None
        self.status_subresource = False
        self.delayed = False
        self.version = 1000
        self.objects: dict[tuple[GVR, str], Manifest] = {}
        for gvr, informer in informers.items():
            for key, entry in informer.store.snapshot().entries.items():
                self.objects[gvr, str(key)] = entry.original()

    async def list_metadata(self, gvr: GVR, namespace: str, limit: int) -> bytes:
        """Return no objects: searches use the informers."""
        return b'{"metadata":{},"items":[]}'

    async def get(
        self, gvr: GVR, *, namespace: str = "", name: str, audit_id: str = ""
    ) -> Manifest:
        return copy.deepcopy(self._found(gvr, str(Key(namespace, name))))

    async def get_openapi(self, document: str = "") -> bytes:
        """Return an OpenAPI document without paths."""
        return b'{"paths": {}}'

    async def create(
        self, gvr: GVR, body: Manifest, *, namespace: str = "", audit_id: str = ""
    ) -> Manifest:
        stored = copy.deepcopy(body)
        prefix = stored["metadata"].get("generateName", "")
        name = stored["metadata"].setdefault("name", f"{prefix}{len(self.objects):05}")
        self.calls.append(("create", gvr.resource, name, ""))
        if (gvr, place_of(stored)) in self.objects:
            raise Conflict(409, f"{name} exists")
        if gvr == EVENTS:
            if self.fail_events:
                raise self.fail_events
            assert namespace == body["metadata"]["namespace"] == "default"
            self.events.append(body)
        stored["metadata"]["uid"] = f"uid-of-{name}"
        return self._store(gvr, stored)

    async def apply(self, gvr: GVR, body: Manifest, *, audit_id: str = "") -> Manifest:
        name = body["metadata"]["name"]
        self.calls.append(("apply", gvr.resource, name, ""))
        known = self.objects.get((gvr, place_of(body)), {"metadata": {"uid": f"uid-of-{name}"}})
        return self._store(gvr, merged(known, body))

    async def replace(
        self, gvr: GVR, body: Manifest, *, namespace: str = "", name: str, audit_id: str = ""
    ) -> Manifest:
        self.calls.append(("replace", gvr.resource, name, ""))
        found = self._found(gvr, str(Key(namespace, name)))
        self._check_version(found, body)
        if found.get("roleRef") != body.get("roleRef"):
            raise ApiError(422, "cannot change roleRef")
        stored = copy.deepcopy(body)
        stored["metadata"]["uid"] = found["metadata"]["uid"]
        return self._store(gvr, stored)

    async def patch(
        self,
        gvr: GVR,
        body: Manifest,
        *,
        namespace: str = "",
        name: str,
        content_type: str = "",
        subresource: str = "",
        dry_run: bool = False,
        audit_id: str = "",
        warnings: list[str] | None = None,
    ) -> Manifest:
        check_lists(body)
        self.calls.append(("patch", gvr.resource, name, subresource))
        if subresource == "status" and not self.status_subresource:
            raise NotFound(404, "the server could not find the requested resource")
        found = self._found(gvr, str(Key(namespace, name)))
        meta = body.get("metadata", {})
        if "resourceVersion" in meta:
            self._check_version(found, body)
        if meta.get("uid") not in (None, found["metadata"].get("uid")):
            cause = {"field": "metadata.uid", "message": "field is immutable"}
            raise error_from_status(422, {"details": {"causes": [cause]}})
        body = copy.deepcopy(body)
        if self.status_subresource or subresource:
            kept = {"metadata", "status"} if subresource else body.keys() - {"status"}
            body = {field: value for field, value in body.items() if field in kept}
        changed = merged(found, body)
        return changed if dry_run else self._store(gvr, changed)

    async def delete(
        self,
        gvr: GVR,
        *,
        namespace: str = "",
        name: str,
        uid: str | None = None,
        resource_version: str | None = None,
        dry_run: bool = False,
        audit_id: str = "",
    ) -> Manifest:
        # Only Secrets may be deleted without a UID: the key of a deleted user is deleted in any
        # version.
        assert uid or gvr == SECRETS, "another one may have taken its name"
        self.calls.append(("delete", gvr.resource, name, ""))
        place = str(Key(namespace, name))
        found = self._found(gvr, place)
        meta = found["metadata"]
        given = {"uid": uid, "resourceVersion": resource_version}
        if any(value not in (None, meta[field]) for field, value in given.items()):
            raise Conflict(409, "precondition failed")
        del self.objects[gvr, place]
        if gvr in self.informers:
            take_away(self.informers[gvr], found)
        return found

    def put(self, gvr: GVR, item: Manifest) -> None:
        """Store an object as if another client had written it."""
        self._store(gvr, copy.deepcopy(item))

    def of(self, gvr: GVR) -> dict[str, Manifest]:
        """Return copies of all objects of a type, by name. Tests may change the copies."""
        found = {name: item for (kind, name), item in self.objects.items() if kind == gvr}
        return copy.deepcopy(found)

    def _found(self, gvr: GVR, place: str) -> Manifest:
        try:
            return self.objects[gvr, place]
        except KeyError:
            raise NotFound(404, f"{place} not found") from None

    @staticmethod
    def _check_version(found: Manifest, body: Manifest) -> None:
        if body["metadata"].get("resourceVersion") != found["metadata"]["resourceVersion"]:
            raise Conflict(409, "the object has been modified")

    def _store(self, gvr: GVR, item: Manifest) -> Manifest:
        place = place_of(item)
        before = self.objects.get((gvr, place), {})
        if without_version(before) != without_version(item):
            self.version += 1
            item["metadata"]["resourceVersion"] = str(self.version)
            self.objects[gvr, place] = item
            if gvr in self.informers and not self.delayed:
                bring(self.informers[gvr], item)
        return copy.deepcopy(self.objects[gvr, place])


class FakeRuntime(StaticRuntime):
    """Runtime for controllers whose `console` writes to its informers."""

    def __init__(self, objects: dict[GVR, list[Manifest]]) -> None:
        informers: dict[GVR, Informer[Any]] = {
            gvr: preloaded(gvr, items) for gvr, items in objects.items()
        }
        super().__init__(informers)
        self.clock = MovableClock()
        self.console: FakeConsole = FakeConsole(informers)


def place_of(item: Manifest) -> str:
    meta = item["metadata"]
    return str(Key(meta.get("namespace", ""), meta["name"]))


def merged(target: Manifest, patch: Manifest) -> Manifest:
    """Apply a JSON merge patch (RFC 7396)."""
    result = copy.deepcopy(target)
    for field, value in patch.items():
        if value is None:
            result.pop(field, None)
        elif isinstance(value, dict):
            inner = result.get(field)
            result[field] = merged(inner if isinstance(inner, dict) else {}, value)
        else:
            result[field] = copy.deepcopy(value)
    return result


def without_version(item: Manifest) -> Manifest:
    meta = {k: v for k, v in item.get("metadata", {}).items() if k != "resourceVersion"}
    return {**item, "metadata": meta}
