"""Creates objects one after another with the viewer's permissions, or validates them with a dry
run.

Each object has its own result. Objects that depend on a failed object are skipped; independent
objects are still created. If the cluster stops responding, all remaining objects are skipped, so
that the user doesn't wait for many timeouts.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable, record, request_action
from console.kube.api_discovery import CreatableType, creatable_types
from console.kube.apply import Manifest
from console.kube.clients import UserClient
from console.kube.errors import ApiError, NotFound, Unavailable
from console.kube.gvr import GVR, Key
from console.ui.core.access import Access
from console.ui.core.actions import Permission
from console.ui.core.kind import ResourceKind
from console.ui.core.links import object_url
from console.ui.core.permissions import Denied
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.editing.imports import (
    ImportItem,
    ObjectRef,
    defined_types,
    dependencies_of,
    in_order,
)
from console.ui.editing.manifest import ManifestProblem, unresolved_masks
from console.ui.fragments.empty_states import denied_text
from console.views import problems
from console.views.authorization import PermissionsUnconfirmed, check_permission
from console.views.line_problems import is_caused_by_text, line_problems

#: Seconds to wait until a newly defined custom resource is served, and seconds between two checks.
SERVED_TIMEOUT, SERVED_POLL_SECONDS = 10.0, 0.2
#: Seconds after which no further object is started.
MAX_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CreatedObject:
    """Created object."""

    gvr: GVR
    key: Key
    uid: str


@dataclass(frozen=True, slots=True)
class CreationResult:
    """Result of one object.

    - `outcome`: "done" (for a dry run: valid), "untried" or "refused".
    - `namespace`: namespace of the object, also if it wasn't created.
    - `text`: reason.
    - `problems`: reasons with line numbers.
    - `exists`: an object with this name already exists.
    - `url`: page of the created or existing object.
    """

    item: ImportItem
    outcome: Literal["done", "untried", "refused"]
    namespace: str = ""
    text: str = ""
    problems: Sequence[ManifestProblem] = ()
    warnings: Sequence[str] = ()
    url: str = ""
    code: int = 200
    exists: bool = False
    made: CreatedObject | None = None

    @property
    def name(self) -> str:
        name = (
            escape_invisible(self.made.key.name) if self.made is not None else self.item.shown_name
        )
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
) -> list[CreationResult]:
    """Create or validate the objects. `namespace` is the default for objects without a namespace."""
    client = access.cluster.runtime.as_user(access.identity)
    defined = defined_types(items)
    whole = _CreationRun(request, access, client, namespace, dry_run, defined, ServedTypes(client))
    return [await whole.result(item) for item in in_order(items)]


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
    stopped: str = ""
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    async def result(self, item: ImportItem) -> CreationResult:
        if self._now() - self.began > MAX_SECONDS:
            self.stopped = _("Not attempted: the time limit was reached.")
        if self.stopped:
            return CreationResult(item, "untried", text=self.stopped, code=503)
        try:
            result = await self._result(item)
        except AuditUnavailable as error:
            result = CreationResult(
                item, "refused", text=problems.error_text(error), code=error.page_code
            )
        except ApiError as error:
            unsure = _("The cluster did not respond.") if self.dry_run else ""
            text = problems.error_text(error, unsure=unsure)
            result = CreationResult(item, "refused", text=text, code=error.page_code)
            if isinstance(error, Unavailable):
                self.stopped = _("Not attempted: the cluster is not responding.")
        self._note(result)
        return result

    def _note(self, result: CreationResult) -> None:
        ref = result.item.ref(result.namespace)
        if result.code < 400:
            self.coming.add(ref)
        elif not result.exists:
            self.failed.add(ref)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def _result(self, item: ImportItem) -> CreationResult:
        found, definition = await self._type(item)
        if found is None:
            words = {
                "kind": escape_invisible(item.kind),
                "version": escape_invisible(item.found.manifest["apiVersion"]),
            }
            text = _("The cluster has no kind %(kind)s in API version %(version)s.") % words
            return CreationResult(
                item, "refused", text=text, problems=[item.problem(text, "kind")], code=404
            )
        namespace = (item.namespace or self.namespace) if found.namespaced else ""
        wrong = _misplaced(item, found, namespace)
        if wrong is not None:
            return CreationResult(item, "refused", text=wrong.text, problems=[wrong], code=422)
        needed = [
            *([definition] if definition is not None else []),
            *dependencies_of(item, namespace),
        ]
        missing = next((ref for ref in needed if ref in self.failed), None)
        if missing is not None:
            text = _("Not attempted: %(object)s is required but was not created.")
            return CreationResult(item, "untried", namespace, text % {"object": missing}, code=424)
        denied = self._denied(found.gvr, namespace)
        if denied:
            return CreationResult(item, "refused", namespace, denied, code=403)
        kind = self._kind(found.gvr)
        masks = list(unresolved_masks(item.found, kind)) if kind is not None else []
        if masks:
            return CreationResult(item, "refused", namespace, problems=masks, code=422)
        coming = next((ref for ref in needed if ref in self.coming), None)
        if self.dry_run and coming is not None:
            text = _("Not checked yet: this object requires %(object)s, which is created first.")
            return CreationResult(item, "untried", namespace, text % {"object": coming})
        return await self._make(item, found.gvr, namespace)

    def _denied(self, gvr: GVR, namespace: str) -> str:
        try:
            check_permission(Permission("create"), self.access, gvr, Key(namespace, ""))
        except PermissionsUnconfirmed as error:
            return str(error)
        except Denied as error:
            kind = self._kind(gvr)
            return denied_text(error, kind.nouns if kind is not None else gvr.qualified)
        return ""

    async def _type(self, item: ImportItem) -> tuple[CreatableType | None, ObjectRef | None]:
        """Return the type, and the object of this run that defines it."""
        until = self._now() + SERVED_TIMEOUT
        defined, definition = self.defined.get((item.group, item.version, item.kind), (None, None))
        while True:
            found = (await self.types.of(item.group, item.version)).get(item.kind)
            if found is not None or definition not in self.coming or self.dry_run:
                break
            if self._now() > until:
                break
            # The definition was created moments ago and may not be served yet.
            self.types.forget(item.group, item.version)
            await asyncio.sleep(SERVED_POLL_SECONDS)
        if found is not None:
            return found, None
        return (defined, definition) if definition in self.coming | self.failed else (None, None)

    def _kind(self, gvr: GVR) -> ResourceKind | None:
        return self.access.cluster.kinds.of(gvr)

    def _url(self, gvr: GVR, key: Key) -> str:
        kind = self._kind(gvr)
        if kind is None or not key.name:
            return ""
        return object_url(self.access.cluster.name, kind.segment, key)

    async def _make(self, item: ImportItem, gvr: GVR, namespace: str) -> CreationResult:
        warnings = [one.text for one in item.found.ignored]
        told: list[str] = []
        try:
            after = await self._send(item, gvr, namespace, told)
        except ApiError as error:
            if isinstance(error, Unavailable):
                raise
            return self._refused(item, gvr, namespace, error)
        key = Key(namespace, after["metadata"].get("name", ""))
        made = None if self.dry_run else CreatedObject(gvr, key, after["metadata"].get("uid", ""))
        url = "" if self.dry_run else self._url(gvr, key)
        warnings += map(escape_invisible, dict.fromkeys(told))
        return CreationResult(item, "done", namespace, warnings=warnings, url=url, made=made)

    async def _send(
        self, item: ImportItem, gvr: GVR, namespace: str, warnings: list[str]
    ) -> dict[str, Any]:
        body = _body(item, namespace)
        if self.dry_run:
            return await self.client.create(
                gvr, body, namespace=namespace, dry_run=True, warnings=warnings
            )
        recorded = request_action(self.request, "create", gvr, namespace=namespace, name=item.name)
        async with record(recorded) as entry:
            after = await self.client.create(
                gvr,
                body,
                namespace=namespace,
                audit_id=entry.audit_id,
                warnings=warnings,
                stored=False,
            )
            if not item.name:
                # The name was generated by kube-apiserver.
                entry.set_outcome(201, "", str(after["metadata"].get("name", "")))
        return after

    def _refused(
        self, item: ImportItem, gvr: GVR, namespace: str, error: ApiError
    ) -> CreationResult:
        if error.reason == "AlreadyExists":
            url = self._url(gvr, Key(namespace, item.name))
            text = _("This object already exists. Edit it instead.")
            return CreationResult(item, "refused", namespace, text, url=url, code=409, exists=True)
        found = line_problems(error, item.found, str) if is_caused_by_text(error) else []
        text = "" if found else problems.error_text(error, gone=_gone())
        return CreationResult(item, "refused", namespace, text, found, code=error.page_code)


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


def _body(item: ImportItem, namespace: str) -> Manifest:
    manifest = item.found.manifest
    if not namespace:
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


def _gone() -> str:
    return _("A required object does not exist.")
