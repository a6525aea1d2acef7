"""Checks, creates and updates the objects of an import with the viewer's permissions.

Every object is checked with a dry run before anything is written. Objects that require an object
of the same text, such as a namespace or a definition, are checked against their schema first, and
with a dry run as soon as the required object is served. Each object has its own result. Objects
that depend on a failed object are skipped. If the cluster stops responding, all remaining objects
are skipped, so that the user doesn't wait for many timeouts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from itertools import groupby, islice
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlencode

import msgspec
from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable, record, request_action
from console.kube.api_discovery import (
    CreatableType,
    creatable_types,
)
from console.kube.apply import Manifest, PatchRequest, send_patch, writable_content
from console.kube.clients import APPLY_PATCH, UserClient
from console.kube.errors import ApiError, NotFound, Unavailable
from console.kube.gvr import GVR, Key
from console.kube.merging import json_equal
from console.kube.names import API_VERSION
from console.ui.core.access import Access
from console.ui.core.actions import Delete, Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.links import edit_url, object_url
from console.ui.core.permissions import Denied, Protected
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import wants_status
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.imports import (
    DefinedType,
    ImportItem,
    ObjectRef,
    comes_last,
    defined_types,
    dependencies_of,
    in_order,
    rank,
)
from console.ui.editing.manifest import (
    MOST_PROBLEMS,
    InvalidManifest,
    ManifestProblem,
    unmasked,
    unresolved_masks,
)
from console.ui.editing.schema_check import KindSchema
from console.ui.fragments.empty_states import denied_text
from console.ui.wizard.paths import path_text
from console.views import problems
from console.views.authorization import PermissionsUnconfirmed, check_action, check_permission
from console.views.change_preview import ChangePreview, preview_change
from console.views.history import describe_change, record_change
from console.views.line_problems import is_caused_by_text, line_problems
from console.views.openapi import read_schema
from console.wizards.copies import with_texts

#: Seconds to wait until a created namespace or definition is served, and seconds between two checks.
SERVED_TIMEOUT, SERVED_POLL_SECONDS = 30.0, 0.2
#: Seconds after which no further object is started. Responses to API clients are not streamed, and
#: must start within `console.web.server.RESPONSE_SECONDS`.
MAX_SECONDS, MAX_API_SECONDS = 900.0, 90.0
#: Number of requests at the same time.
MAX_CONCURRENT = 4


_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]


class CreatedObject(msgspec.Struct, frozen=True, rename="camel"):
    """Created object. The UID is required to not delete another object with the same name."""

    api_version: Annotated[str, msgspec.Meta(max_length=317, pattern=rf"^{API_VERSION.pattern}\Z")]
    kind: _Name
    name: _Name
    uid: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    namespace: Annotated[str, msgspec.Meta(max_length=253)] = ""
    line: ClassVar[int] = 0

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def shown_name(self) -> str:
        return escape_invisible(self.name)


@dataclass(frozen=True, slots=True)
class ObjectResult:
    """Result of checking or writing one object, or of deleting a created object.

    - `outcome`: "done" (for a check: valid), "untried" or "refused".
    - `change`: "create", "update", "keep" for an object without changes, or "delete".
    - `namespace`: namespace of the object, also if it wasn't created.
    - `text`: reason.
    - `problems`: reasons with line numbers.
    - `url`, `undo_url`: pages of the object and of the review that undoes its update.
    - `gvr`: type. `made`: created object.
    - `needed`: objects of the same import that must be created first.
    - `live`, `body`: existing object, and manifest to write. `stored`: result of the dry run.
    - `preview`: preview of an update.
    """

    item: Any
    outcome: Literal["done", "untried", "refused"]
    change: Literal["create", "update", "keep", "delete"] = "create"
    namespace: str = ""
    text: str = ""
    problems: Sequence[ManifestProblem] = ()
    warnings: Sequence[str] = ()
    url: str = ""
    undo_url: str = ""
    code: int = 200
    made: CreatedObject | None = None
    gvr: GVR | None = None
    needed: Sequence[ObjectRef] = ()
    live: Manifest | None = None
    body: Manifest | None = None
    stored: Manifest | None = None
    preview: ChangePreview | None = None

    @property
    def name(self) -> str:
        name = (self.made or self.item).shown_name
        return f"{escape_invisible(self.namespace)}/{name}" if self.namespace else name

    @property
    def kind(self) -> str:
        return escape_invisible(self.item.kind)

    @property
    def line(self) -> int:
        return int(self.item.line)

    @property
    def ref(self) -> ObjectRef:
        found: ObjectRef = self.item.ref(self.namespace)
        return found


class ServedTypes:
    """Kinds served by the cluster. Each group version is requested once, with the viewer's
    permissions.
    """

    def __init__(self, client: UserClient) -> None:
        self._client = client
        self._known: dict[tuple[str, str], asyncio.Task[Mapping[str, CreatableType]]] = {}

    async def of(self, group: str, version: str) -> Mapping[str, CreatableType]:
        place = group, version
        if place not in self._known:
            self._known[place] = asyncio.create_task(self._read(group, version))
        return await asyncio.shield(self._known[place])

    def forget(self, group: str, version: str) -> None:
        self._known.pop((group, version), None)

    async def _read(self, group: str, version: str) -> Mapping[str, CreatableType]:
        try:
            return creatable_types(await self._client.get_resources(group, version), group, version)
        except NotFound:
            return {}


class Run:
    """Base of operations on many objects. `finished` of `total` objects are finished."""

    def __init__(self, request: ConsoleRequest, access: Access) -> None:
        self.request, self.access = request, access
        self.finished = self.total = 0
        self._stopped = ""
        seconds = min(MAX_SECONDS, MAX_API_SECONDS) if wants_status(request) else MAX_SECONDS
        self._until = asyncio.get_running_loop().time() + seconds
        self._places = asyncio.Semaphore(MAX_CONCURRENT)

    @cached_property
    def client(self) -> UserClient:
        return self.access.cluster.runtime.as_user(self.access.identity)

    @cached_property
    def types(self) -> ServedTypes:
        return ServedTypes(self.client)

    async def all_of(
        self, attempts: Iterable[tuple[Any, Callable[[], Awaitable[ObjectResult]]]], **texts: str
    ) -> list[ObjectResult]:
        """Run attempts concurrently, and return their results in order. `texts` are the arguments
        of `problems.error_text`.
        """
        jobs = [self._one(start, attempt, texts) for start, attempt in attempts]
        tasks = [asyncio.create_task(job) for job in jobs]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()

    async def _one(
        self,
        start: ObjectResult,
        attempt: Callable[[], Awaitable[ObjectResult]],
        texts: Mapping[str, str],
    ) -> ObjectResult:
        async with self._places:
            if asyncio.get_running_loop().time() > self._until and not self._stopped:
                self._stopped = _("Not attempted: the time limit was reached.")
            if self._stopped:
                return replace(start, outcome="untried", text=self._stopped, code=503)
            try:
                return await attempt()
            except (ApiError, AuditUnavailable) as error:
                if isinstance(error, Unavailable):
                    self._stopped = _("Not attempted: the cluster is not responding.")
                text = problems.error_text(error, **texts)
                return replace(start, outcome="refused", text=text, code=error.page_code)
            finally:
                self.finished += 1

    def refusal(self, verb: str, gvr: GVR, key: Key) -> str:
        return refusal(self.access, verb, gvr, key)


@dataclass(slots=True)
class _References:
    """Objects of an import by their state: `coming` will be created, `failed` can't be."""

    coming: set[ObjectRef] = field(default_factory=set)
    made: set[ObjectRef] = field(default_factory=set)
    failed: set[ObjectRef] = field(default_factory=set)

    def note(self, result: ObjectResult) -> None:
        if result.code >= 400:
            self.failed.add(result.ref)
        elif result.change == "create" or result.item.kind == "CustomResourceDefinition":
            # An updated definition may define another version.
            self.coming.add(result.ref)

    def wrote(self, result: ObjectResult) -> None:
        self.coming.discard(result.ref)
        (self.made if result.code < 400 else self.failed).add(result.ref)


class ImportRun(Run):
    """An import. `namespace` is the default for objects without a namespace. `copied` is the object
    for whose values the placeholders in new objects stand.
    """

    copied: tuple[ResourceKind, Key] | None = None

    def __init__(self, request: ConsoleRequest, access: Access, namespace: str) -> None:
        super().__init__(request, access)
        self.namespace = namespace
        #: Called with each object right after it was created.
        self.on_created: Callable[[CreatedObject], Awaitable[None]] | None = None
        self._references = _References()
        self._defined: Mapping[tuple[str, str, str], DefinedType] = {}
        self._schemas: dict[tuple[str, str, str], asyncio.Task[KindSchema | None]] = {}

    async def check(self, items: Sequence[ImportItem]) -> list[ObjectResult]:
        """Check all objects with dry runs, in the order in which they are written."""
        self._defined, self.total = defined_types(items), len(items)
        results: list[ObjectResult] = []
        for _rank, group in groupby(in_order(items), rank):
            unsure = _("The cluster did not respond.")
            attempts = [(ObjectResult(item, "done"), partial(self._check, item)) for item in group]
            found = await self.all_of(attempts, unsure=unsure)
            for result in found:
                self._references.note(result)
            results += found
        return results

    async def write(self, checked: Sequence[ObjectResult]) -> list[ObjectResult]:
        """Write the objects that passed the check. Objects that require others are checked again
        when those exist, and all of them before the first of them is written.
        """
        self.finished = 0
        results: dict[int, ObjectResult] = {}
        left = [one for one in checked if one.code < 400]
        while left:
            coming = {one.ref for one in left}
            wave = [one for one in left if not coming.intersection(one.needed)]
            # Webhooks may reject the objects that are written after them.
            wave = [one for one in wave if not comes_last(one.item)] or wave or left
            chosen = {id(one) for one in wave}
            left = [one for one in left if id(one) not in chosen]
            ready = await self.all_of((one, partial(self._recheck, one)) for one in wave)
            # Checked again, but not written yet.
            self.finished -= len(wave)
            for _rank, group in groupby(ready, lambda one: rank(one.item)):
                attempts = [(one, partial(self._write, one)) for one in group]
                for written in await self.all_of(attempts):
                    self._references.wrote(written)
                    results[id(written.item)] = written
        return [results.get(id(one.item), one) for one in checked]

    async def _check(self, item: ImportItem) -> ObjectResult:
        found, defined = await self._type(item)
        if found is None:
            words = {
                "kind": escape_invisible(item.kind),
                "version": escape_invisible(item.api_version),
            }
            text = _("The cluster has no kind %(kind)s in API version %(version)s.") % words
            wrong = [await in_thread(item.problem, text, "kind")]
            return ObjectResult(item, "refused", text=text, problems=wrong, code=404)
        namespace = (item.namespace or self.namespace) if found.namespaced else ""
        result = ObjectResult(item, "done", namespace=namespace, gvr=found.gvr)
        misplaced = await in_thread(_misplaced, item, found, namespace)
        if misplaced is not None:
            return _refused(result, 422, misplaced.text, [misplaced])
        required = [*([defined.definition] if defined else []), *dependencies_of(item, namespace)]
        missing = next((ref for ref in required if ref in self._references.failed), None)
        if missing is not None:
            text = _("Not attempted: %(object)s is required but was not created.")
            return replace(result, outcome="untried", text=text % {"object": missing}, code=424)
        needed = [ref for ref in required if ref in self._references.coming]
        if needed:
            return await self._check_fields(replace(result, needed=needed), defined)
        return await self._dry_run(result)

    async def _check_fields(
        self, result: ObjectResult, defined: DefinedType | None
    ) -> ObjectResult:
        """Check an object that the cluster can't check yet against its schema."""
        item, gvr = result.item, _type_of(result)
        denied = self.refusal("create", gvr, Key(result.namespace, ""))
        if denied:
            return _refused(result, 403, denied)
        schema = defined.schema if defined else await self._schema(item)
        wrong = await in_thread(_schema_problems, schema, item) if schema is not None else []
        if wrong:
            return _refused(result, 422, "", wrong)
        text = _(
            "This object requires %(object)s, which is created first. Until then, only the fields "
            "of this object are checked. The rest is checked before the object is written."
        )
        return replace(result, outcome="untried", text=text % {"object": result.needed[0]})

    async def _schema(self, item: ImportItem) -> KindSchema | None:
        named = item.group, item.version, item.kind
        if named not in self._schemas:
            self._schemas[named] = asyncio.create_task(
                read_schema(self.access.cluster, self.client, named)
            )
        return await asyncio.shield(self._schemas[named])

    async def _type(self, item: ImportItem) -> tuple[CreatableType | None, DefinedType | None]:
        """Return the type, and its definition if that is created by this import."""
        found = (await self.types.of(item.group, item.version)).get(item.kind)
        if found is not None:
            return found, None
        defined = self._defined.get((item.group, item.version, item.kind))
        known = self._references.coming | self._references.failed
        if defined is None or defined.definition not in known:
            return None, None
        return defined.type, defined

    async def _recheck(self, result: ObjectResult) -> ObjectResult:
        """Check an object again after the objects that it requires were created. Wait until the cluster
        serves them.
        """
        if not result.needed:
            return result
        missing = next((ref for ref in result.needed if ref in self._references.failed), None)
        if missing is not None:
            text = _("Not attempted: %(object)s is required but was not created.")
            return replace(result, outcome="untried", text=text % {"object": missing}, code=424)
        now, item = asyncio.get_running_loop().time, result.item
        until = now() + SERVED_TIMEOUT
        while True:
            served = item.kind in await self.types.of(item.group, item.version)
            found = (
                await self._dry_run(replace(result, outcome="done", text="")) if served else None
            )
            # kube-apiserver may need a moment to serve a new type or namespace.
            if now() > until or (found is not None and found.code != 404):
                break
            if not served:
                self.types.forget(item.group, item.version)
            await asyncio.sleep(SERVED_POLL_SECONDS)
        if found is None:
            return _refused(result, 404, _("A required object does not exist."))
        return found

    async def _dry_run(self, result: ObjectResult) -> ObjectResult:
        item, gvr = result.item, _type_of(result)
        key = Key(result.namespace, item.name)
        live = None
        if item.name and not self.refusal("get", gvr, key):
            with suppress(NotFound):
                live = await self.client.get(gvr, namespace=key.namespace, name=key.name)
        verb = "create" if live is None else "patch"
        denied = self.refusal(verb, gvr, key if live else Key(result.namespace, ""))
        url = self._url(gvr, key) if live else ""
        result = replace(result, url=url, change="create" if live is None else "update")
        if denied:
            return _refused(result, 403, denied)
        told: list[str] = []
        try:
            shown = live if live is not None else await self._source(gvr)
            result = await in_thread(self._with_body, result, live, shown)
            after = await self._send(result, told)
        except InvalidManifest as error:
            return _refused(result, 422, "", error.problems)
        except Unavailable:
            raise
        except ApiError as error:
            return await in_thread(_failed, result, error)
        warnings = [one.text for one in item.found.ignored]
        warnings += map(escape_invisible, dict.fromkeys(told))
        result = replace(result, warnings=warnings, stored=after)
        if live is None:
            return result
        if await in_thread(json_equal, writable_content(live), writable_content(after)):
            return replace(result, change="keep")
        kind = self.access.cluster.kinds.of(gvr)
        wanted = writable_content(after)
        preview = await in_thread(preview_change, kind, live, after, wanted)
        return replace(result, preview=preview)

    async def _source(self, gvr: GVR) -> Manifest | None:
        """Return the object that is copied, if it has this type and the viewer may read it."""
        if self.copied is None or self.copied[0].gvr != gvr:
            return None
        kind, key = self.copied
        if self.refusal("get", gvr, key):
            return None
        with suppress(NotFound):
            live = await self.client.get(gvr, namespace=key.namespace, name=key.name)
            return with_texts(kind, live)
        return None

    def _with_body(
        self, result: ObjectResult, live: Manifest | None, shown: Manifest | None
    ) -> ObjectResult:
        """Add the manifest to send. Placeholders stand for the values of `shown`. Raise
        `InvalidManifest` for others.
        """
        found, kind = result.item.found, self.access.cluster.kinds.of(_type_of(result))
        body = found.manifest
        if shown is not None and kind is not None:
            body = unmasked(found, shown, kind)
        elif kind is not None:
            masks = list(unresolved_masks(found, kind))
            if masks:
                raise InvalidManifest(masks)
        body = body if live is None else writable_content(body)
        own = {"namespace": result.namespace} if result.namespace else {}
        seen = {"uid": live["metadata"]["uid"]} if live is not None else {}
        body = {**body, "metadata": {**body["metadata"], **own, **seen}}
        return replace(result, live=live, body=body)

    async def _send(self, result: ObjectResult, warnings: list[str]) -> Manifest:
        """Send the dry run."""
        gvr, namespace = _type_of(result), result.namespace
        if result.live is None:
            return await self.client.create(
                gvr, result.body or {}, namespace=namespace, dry_run=True, warnings=warnings
            )
        return await self.client.patch(
            gvr,
            result.body,
            namespace=namespace,
            name=result.item.name,
            content_type=APPLY_PATCH,
            dry_run=True,
            warnings=warnings,
        )

    async def _write(self, result: ObjectResult) -> ObjectResult:
        if result.code >= 400 or result.change == "keep":
            return result
        item, gvr, live = result.item, _type_of(result), result.live
        kind, key = self.access.cluster.kinds.of(gvr), Key(result.namespace, item.name)
        edit = kind.actions_by_name.get("edit") if kind is not None else None
        verb, subresource = ("create", "") if live is None else ("patch", "")
        if live is not None and edit is not None:
            verb, subresource = edit.audit_action
        recorded = request_action(
            self.request,
            verb,
            gvr,
            namespace=key.namespace,
            name=key.name,
            subresource=subresource,
        )
        try:
            async with record(recorded) as entry:
                if live is None:
                    after = await self.client.create(
                        gvr,
                        result.body or {},
                        namespace=key.namespace,
                        audit_id=entry.audit_id,
                        stored=False,
                    )
                    if not item.name:
                        # The name was generated by kube-apiserver.
                        entry.set_outcome(201, "", str(after["metadata"].get("name", "")))
                else:
                    write = PatchRequest(result.body or {}, APPLY_PATCH)
                    after = await send_patch(
                        self.client, gvr, key, live, write, audit_id=entry.audit_id
                    )
                if kind is not None:
                    uid = after["metadata"].get("uid", "")
                    await describe_change(entry, kind, uid, live, after)
        except Unavailable:
            raise
        except ApiError as error:
            return await in_thread(_failed, result, error)
        name, uid = (after["metadata"].get(field, "") for field in ("name", "uid"))
        result = replace(result, url=self._url(gvr, Key(key.namespace, name)), text="")
        result = replace(result, outcome="done", live=None, body=None, stored=None, preview=None)
        if live is None:
            made = CreatedObject(gvr.group_version, item.kind, name, uid, key.namespace)
            if self.on_created is not None:
                await self.on_created(made)
            return replace(result, made=made)
        number = None
        if kind is not None:
            number = await record_change(kind, recorded, entry.audit_id, uid, live, after)
        if kind is None or number is None or edit is None:
            return result
        url = edit_url(self.access.cluster.name, kind.segment, key)
        return replace(result, undo_url=f"{url}?{urlencode({'undo': number})}")

    def _url(self, gvr: GVR, key: Key) -> str:
        kind = self.access.cluster.kinds.of(gvr)
        if kind is None or not key.name:
            return ""
        return object_url(self.access.cluster.name, kind.segment, key)


def digest_of(results: Iterable[ObjectResult]) -> str:
    """Return a digest of what an import would do."""
    whole = sha256()
    for one in results:
        seen = one.preview.seen if one.preview is not None else ""
        whole.update(repr((one.ref, one.item.prefix, one.change, one.code < 400, seen)).encode())
    return whole.hexdigest()


def _refused(
    result: ObjectResult, code: int, text: str, found: Sequence[ManifestProblem] = ()
) -> ObjectResult:
    return replace(result, outcome="refused", code=code, text=text, problems=found)


def _failed(result: ObjectResult, error: ApiError) -> ObjectResult:
    if error.reason == "AlreadyExists":
        text = _("This object already exists, and you don't have permission to read it.")
        return _refused(result, 409, text, [result.item.problem(text, "metadata", "name")])
    found = line_problems(error, result.item.found, str) if is_caused_by_text(error) else []
    gone = _("A required object does not exist.")
    changed = _("Another user changed this object after the check. Review the import again.")
    text = "" if found else problems.error_text(error, gone=gone, changed=changed)
    return _refused(result, error.page_code, text, found)


def _schema_problems(schema: KindSchema, item: ImportItem) -> list[ManifestProblem]:
    found = islice(schema.problems(item.found.manifest), MOST_PROBLEMS)
    return [
        item.found.problem(escape_invisible(f"{path_text(steps) or item.kind}: {text}"), steps)
        for steps, text in found
    ]


def _type_of(result: ObjectResult) -> GVR:
    if result.gvr is None:
        raise ValueError("the type was not found")
    return result.gvr


def _misplaced(item: ImportItem, found: CreatableType, namespace: str) -> ManifestProblem | None:
    if found.namespaced and not namespace:
        text = _(
            "This object must belong to a project. Select a project or add metadata.namespace."
        )
        return item.problem(text, "metadata")
    if item.namespace and not found.namespaced:
        text = _("This object cannot belong to a project. Remove metadata.namespace.")
        return item.problem(text, "metadata", "namespace")
    return None


def refusal(access: Access, verb: str, gvr: GVR, key: Key) -> str:
    """Return why the user may not create, update or delete the object, or "". For updates and
    deletions, this is the text of the object's own page.
    """
    kind = access.cluster.kinds.of(gvr)
    name = {"delete": Delete.name, "patch": "edit"}.get(verb, "")
    action = kind.actions_by_name.get(name) if kind is not None else None
    try:
        if kind is not None and action is not None:
            check_action(kind, action, access, key)
        else:
            check_permission(Permission(verb), access, gvr, key)
    except (PermissionsUnconfirmed, Protected) as error:
        return str(error)
    except Denied as error:
        return denied_text(error, kind.nouns if kind is not None else gvr.qualified)
    return ""
