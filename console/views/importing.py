"""Creates objects one after another with the viewer's permissions, validates them with a dry run,
or deletes the created objects again.

Each object has its own result. Objects that depend on a failed object are skipped; independent
objects are still created. Created objects are deleted in reverse order, if they still have the
same UID. If the cluster stops responding, all remaining objects are skipped, so that the user
doesn't wait for many timeouts.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, ClassVar, Literal, TypeVar

import msgspec
from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable, record, request_action
from console.kube.api_discovery import CreatableType, creatable_types
from console.kube.clients import UserClient
from console.kube.errors import ApiError, NotFound, Unavailable
from console.kube.gvr import GVR, Key
from console.kube.names import API_VERSION
from console.ui.core.access import Access
from console.ui.core.actions import Delete, Permission
from console.ui.core.links import object_url
from console.ui.core.permissions import Denied, Protected
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.editing.imports import (
    MOST_OBJECTS,
    ImportItem,
    ObjectRef,
    defined_types,
    dependencies_of,
    in_order,
)
from console.ui.editing.manifest import ManifestProblem, unresolved_masks
from console.ui.fragments.empty_states import denied_text
from console.views import problems
from console.views.authorization import PermissionsUnconfirmed, check_action, check_permission
from console.views.line_problems import is_caused_by_text, line_problems
from console.views.perform import perform

#: Seconds to wait until a newly defined custom resource is served, and seconds between two checks.
SERVED_TIMEOUT, SERVED_POLL_SECONDS = 10.0, 0.2
#: Seconds after which no further object is started.
MAX_SECONDS = 60.0
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


_Item = TypeVar("_Item", ImportItem, CreatedObject)
_List = Annotated[list[CreatedObject], msgspec.Meta(min_length=1, max_length=MOST_OBJECTS)]


@dataclass(frozen=True, slots=True)
class ObjectResult:
    """Result of creating or deleting one object.

    - `item`: object to create, or to delete again.
    - `outcome`: "done" (for a dry run: valid), "untried" or "refused".
    - `namespace`: namespace of the object, also if it wasn't created.
    - `text`: reason.
    - `problems`: reasons with line numbers.
    - `exists`: an object with this name already exists.
    - `url`: page of the created or existing object.
    - `made`, `gvr`: created object and its type.
    """

    item: ImportItem | CreatedObject
    outcome: Literal["done", "untried", "refused"]
    namespace: str = ""
    text: str = ""
    problems: Sequence[ManifestProblem] = ()
    warnings: Sequence[str] = ()
    url: str = ""
    code: int = 200
    exists: bool = False
    made: CreatedObject | None = None
    gvr: GVR | None = None

    @property
    def name(self) -> str:
        name = (self.made or self.item).shown_name
        return f"{escape_invisible(self.namespace)}/{name}" if self.namespace else name

    @property
    def kind(self) -> str:
        return escape_invisible(self.item.kind)

    @property
    def line(self) -> int:
        return self.item.line


class ServedTypes:
    """Kinds served by the cluster. Each group version is requested once, with the viewer's
    permissions.
    """

    def __init__(self, client: UserClient) -> None:
        self._client = client
        self._known: dict[tuple[str, str], Mapping[str, CreatableType]] = {}

    async def of(self, group: str, version: str) -> Mapping[str, CreatableType]:
        place = group, version
        if place not in self._known:
            try:
                body = await self._client.get_resources(group, version)
                self._known[place] = creatable_types(body, group, version)
            except NotFound:
                self._known[place] = {}
        return self._known[place]

    def forget(self, group: str, version: str) -> None:
        del self._known[group, version]


async def create_objects(
    request: ConsoleRequest,
    access: Access,
    items: Sequence[ImportItem],
    namespace: str,
    *,
    dry_run: bool,
) -> list[ObjectResult]:
    """Create or validate the objects. `namespace` is the default for objects without a namespace."""
    client = access.cluster.runtime.as_user(access.identity)
    defined = defined_types(items)
    run = _CreationRun(request, access, client, namespace, dry_run, defined, ServedTypes(client))
    unsure = _("The cluster did not respond.") if dry_run else ""
    results = []
    async for item, result in _each(in_order(items), run.result, unsure=unsure):
        run.note(item, result)
        results.append(result)
    return results


def undo_offer(access: Access, results: Sequence[ObjectResult]) -> dict[str, object] | None:
    """Return the undo offer for `console/import_done.html`, or None unless some objects were created
    and others were not.
    """
    made = [(one.made, one.gvr) for one in results if one.made and one.gvr]
    mine = [
        (found, gvr)
        for found, gvr in made
        if not refusal(access, "delete", gvr, Key(found.namespace, found.name))
    ]
    if not mine or len(made) == len(results):
        return None
    kinds = [(access.cluster.kinds.of(gvr), found.name) for found, gvr in mine]
    notes = [note for kind, name in kinds if kind is not None and (note := kind.deleted_with(name))]
    text = msgspec.json.encode([found for found, _gvr in mine]).decode()
    return {"made": text, "count": len(mine), "staying": len(made) - len(mine), "notes": notes}


def parse_created_objects(text: str) -> list[CreatedObject]:
    """Decode the objects, in creation order. Raise `msgspec.DecodeError`."""
    return msgspec.json.decode(text, type=_List)


async def delete_created(
    request: ConsoleRequest, access: Access, made: Sequence[CreatedObject]
) -> list[ObjectResult]:
    """Delete the created objects in reverse order."""
    types = ServedTypes(access.cluster.runtime.as_user(access.identity))

    async def delete(one: CreatedObject) -> ObjectResult:
        result = partial(ObjectResult, one, namespace=one.namespace)
        served = (await types.of(one.group, one.api_version.rpartition("/")[2])).get(one.kind)
        gone = _("The object no longer exists.")
        if served is None:
            # The custom resource definition was deleted, and its objects with it.
            return result("done", text=gone)
        gvr, key = served.gvr, Key(one.namespace, one.name)
        if served.namespaced is not bool(one.namespace):
            text = _("The kind and the project do not match.")
            return result("refused", text=text, code=422)
        refused = refusal(access, "delete", gvr, key)
        if refused:
            return result("refused", text=refused, code=403)
        try:
            await perform(request, "delete", gvr, key, access=access, uid=one.uid)
        except NotFound:
            return result("done", text=gone)
        return result("done")

    another = _("The object that was created was replaced by another object with the same name.")
    return [result async for _item, result in _each(reversed(made), delete, changed=another)]


async def _each(
    items: Iterable[_Item],
    attempt: Callable[[_Item], Awaitable[ObjectResult]],
    **texts: str,
) -> AsyncIterator[tuple[_Item, ObjectResult]]:
    """Yield each item with its result. After `MAX_SECONDS`, or if the cluster stops responding, the
    remaining items are not attempted. `texts` are the arguments of `problems.error_text`.
    """
    now = asyncio.get_running_loop().time
    until, stopped = now() + MAX_SECONDS, ""
    for item in items:
        namespace = item.namespace if isinstance(item, CreatedObject) else ""
        result = partial(ObjectResult, item, namespace=namespace)
        if now() > until:
            stopped = _("Not attempted: the time limit was reached.")
        if stopped:
            yield item, result("untried", text=stopped, code=503)
            continue
        try:
            yield item, await attempt(item)
        except (ApiError, AuditUnavailable) as error:
            if isinstance(error, Unavailable):
                stopped = _("Not attempted: the cluster is not responding.")
            text = problems.error_text(error, **texts)
            yield item, result("refused", text=text, code=error.page_code)


@dataclass
class _CreationRun:
    """State of a run. `coming` contains the created objects, `failed` the others."""

    request: ConsoleRequest
    access: Access
    client: UserClient
    namespace: str
    dry_run: bool
    defined: Mapping[tuple[str, str, str], tuple[CreatableType, ObjectRef]]
    types: ServedTypes
    coming: set[ObjectRef] = field(default_factory=set)
    failed: set[ObjectRef] = field(default_factory=set)

    def note(self, item: ImportItem, result: ObjectResult) -> None:
        ref = item.ref(result.namespace)
        if result.code < 400:
            self.coming.add(ref)
        elif not result.exists:
            self.failed.add(ref)

    async def result(self, item: ImportItem) -> ObjectResult:
        found, definition = await self._type(item)
        if found is None:
            words = {
                "kind": escape_invisible(item.kind),
                "version": escape_invisible(item.api_version),
            }
            text = _("The cluster has no kind %(kind)s in API version %(version)s.") % words
            wrong = [item.problem(text, "kind")]
            return ObjectResult(item, "refused", text=text, problems=wrong, code=404)
        namespace = (item.namespace or self.namespace) if found.namespaced else ""
        misplaced = _misplaced(item, found, namespace)
        if misplaced is not None:
            text = misplaced.text
            return ObjectResult(item, "refused", text=text, problems=[misplaced], code=422)
        result = partial(ObjectResult, item, namespace=namespace)
        needed = [
            *([definition] if definition is not None else []),
            *dependencies_of(item, namespace),
        ]
        missing = next((ref for ref in needed if ref in self.failed), None)
        if missing is not None:
            text = _("Not attempted: %(object)s is required but was not created.")
            return result("untried", text=text % {"object": missing}, code=424)
        denied = refusal(self.access, "create", found.gvr, Key(namespace, ""))
        if denied:
            return result("refused", text=denied, code=403)
        kind = self.access.cluster.kinds.of(found.gvr)
        masks = list(unresolved_masks(item.found, kind)) if kind is not None else []
        if masks:
            return result("refused", problems=masks, code=422)
        coming = next((ref for ref in needed if ref in self.coming), None)
        if self.dry_run and coming is not None:
            text = _("Not checked yet: this object requires %(object)s, which is created first.")
            return result("untried", text=text % {"object": coming})
        return await self._make(item, found.gvr, namespace)

    async def _type(self, item: ImportItem) -> tuple[CreatableType | None, ObjectRef | None]:
        """Return the type, and the object of this run that defines it."""
        now = asyncio.get_running_loop().time
        until = now() + SERVED_TIMEOUT
        defined, definition = self.defined.get((item.group, item.version, item.kind), (None, None))
        while True:
            found = (await self.types.of(item.group, item.version)).get(item.kind)
            if found is not None:
                return found, None
            if definition not in self.coming or self.dry_run or now() > until:
                break
            # The definition was created moments ago and may not be served yet.
            self.types.forget(item.group, item.version)
            await asyncio.sleep(SERVED_POLL_SECONDS)
        return (defined, definition) if definition in self.coming | self.failed else (None, None)

    async def _make(self, item: ImportItem, gvr: GVR, namespace: str) -> ObjectResult:
        result, told = partial(ObjectResult, item, namespace=namespace), list[str]()
        body = item.found.manifest
        if namespace:
            body = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
        create = partial(self.client.create, gvr, body, namespace=namespace, warnings=told)
        try:
            if self.dry_run:
                after = await create(dry_run=True)
            else:
                recorded = request_action(
                    self.request, "create", gvr, namespace=namespace, name=item.name
                )
                async with record(recorded) as entry:
                    after = await create(audit_id=entry.audit_id, stored=False)
                    if not item.name:
                        # The name was generated by kube-apiserver.
                        entry.set_outcome(201, "", str(after["metadata"].get("name", "")))
        except Unavailable:
            raise
        except ApiError as error:
            if error.reason == "AlreadyExists":
                text, url = (
                    _("This object already exists. Edit it instead."),
                    self._url(gvr, Key(namespace, item.name)),
                )
                return result("refused", text=text, url=url, code=409, exists=True)
            found = line_problems(error, item.found, str) if is_caused_by_text(error) else []
            gone = _("A required object does not exist.")
            text = "" if found else problems.error_text(error, gone=gone)
            return result("refused", text=text, problems=found, code=error.page_code)
        warnings = [one.text for one in item.found.ignored]
        warnings += map(escape_invisible, dict.fromkeys(told))
        if self.dry_run:
            return result("done", warnings=warnings)
        name, uid = (after["metadata"].get(field, "") for field in ("name", "uid"))
        made = CreatedObject(gvr.group_version, item.kind, name, uid, namespace)
        url = self._url(gvr, Key(namespace, name))
        return result("done", warnings=warnings, url=url, made=made, gvr=gvr)

    def _url(self, gvr: GVR, key: Key) -> str:
        kind = self.access.cluster.kinds.of(gvr)
        if kind is None or not key.name:
            return ""
        return object_url(self.access.cluster.name, kind.segment, key)


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
    """Return why the user may not create or delete the object, or "". For a deletion, this is the
    text of the object's own delete page.
    """
    kind = access.cluster.kinds.of(gvr)
    action = kind.actions_by_name.get(Delete.name) if kind is not None else None
    try:
        if kind is not None and action is not None and verb == "delete":
            check_action(kind, action, access, key)
        else:
            check_permission(Permission(verb), access, gvr, key)
    except (PermissionsUnconfirmed, Protected) as error:
        return str(error)
    except Denied as error:
        return denied_text(error, kind.nouns if kind is not None else gvr.qualified)
    return ""
