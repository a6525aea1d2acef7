"""Undo of Create from YAML: deletes the created objects in reverse order with the viewer's
permissions, if they still have the same UID.

Each object has its own result. A refused deletion doesn't stop the others, but an unresponsive
cluster does.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable, record, request_action
from console.kube.clients import UserClient
from console.kube.errors import ApiError, NotFound, Unavailable
from console.kube.gvr import GVR, Key
from console.kube.names import API_VERSION
from console.ui.core.access import Access
from console.ui.core.actions import Delete, Permission
from console.ui.core.permissions import Denied, Protected
from console.ui.core.registry import kinds
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.editing.imports import MOST_OBJECTS
from console.ui.editing.manifest import ManifestProblem
from console.ui.fragments.empty_states import denied_text
from console.views import problems
from console.views.authorization import PermissionsUnconfirmed, check_action, check_permission
from console.views.importing import MAX_SECONDS, CreationResult, ServedTypes

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]


class CreatedObjectData(msgspec.Struct, frozen=True, rename="camel"):
    """Created object. The UID is required to not delete another object with the same name."""

    api_version: Annotated[str, msgspec.Meta(max_length=317, pattern=rf"^{API_VERSION.pattern}\Z")]
    kind: _Name
    name: _Name
    uid: Annotated[str, msgspec.Meta(min_length=1, max_length=128)]
    namespace: Annotated[str, msgspec.Meta(max_length=253)] = ""

    @property
    def group_and_version(self) -> tuple[str, str]:
        """Group and version."""
        group, _slash, version = self.api_version.rpartition("/")
        return group, version


_List = Annotated[list[CreatedObjectData], msgspec.Meta(min_length=1, max_length=MOST_OBJECTS)]


@dataclass(frozen=True, slots=True)
class UndoResult:
    """Result of one deletion, with the displayed fields of `console.views.importing.CreationResult`."""

    made: CreatedObjectData
    outcome: Literal["done", "untried", "refused"]
    text: str = ""
    code: int = 200
    line: int = 0
    problems: Sequence[ManifestProblem] = ()
    warnings: Sequence[str] = ()
    url: str = ""

    @property
    def name(self) -> str:
        return escape_invisible(f"{self.made.namespace}/{self.made.name}".removeprefix("/"))

    @property
    def kind(self) -> str:
        return escape_invisible(self.made.kind)


@dataclass(frozen=True, slots=True)
class UndoOffer:
    """Undo offer.

    - `made`: objects to delete, encoded for the form.
    - `count`: number of objects to delete.
    - `staying`: number of objects that the viewer may not delete.
    - `notes`: further objects that would be deleted.
    """

    made: str
    count: int
    staying: int
    notes: Sequence[str]


def undo_offer(access: Access, results: Sequence[CreationResult]) -> UndoOffer | None:
    """Return the undo offer, or None unless some objects were created and others were not."""
    made = [(one, one.made) for one in results if one.made is not None]
    mine = [(result, found) for result, found in made if not _refused(access, found.gvr, found.key)]
    if not mine or len(made) == len(results):
        return None
    objects = [
        CreatedObjectData(
            api_version=found.gvr.group_version,
            kind=result.item.kind,
            name=found.key.name,
            uid=found.uid,
            namespace=found.key.namespace,
        )
        for result, found in mine
    ]
    notes = [
        note
        for _result, found in mine
        if (kind := kinds.by_type(found.gvr)) is not None
        and (note := kind.deleted_with(found.key.name))
    ]
    text = msgspec.json.encode(objects).decode()
    return UndoOffer(text, len(mine), len(made) - len(mine), notes)


def parse_created_objects(text: str) -> list[CreatedObjectData]:
    """Decode the objects, in creation order. Raise `msgspec.DecodeError`."""
    return msgspec.json.decode(text, type=_List)


async def undo(
    request: ConsoleRequest, access: Access, made: Sequence[CreatedObjectData]
) -> list[UndoResult]:
    client = access.cluster.runtime.as_user(access.identity)
    whole = _Undoing(request, access, client, ServedTypes(client))
    now = asyncio.get_running_loop().time
    found: list[UndoResult] = []
    stopped, began = "", now()
    for one in reversed(made):
        if now() - began > MAX_SECONDS:
            stopped = _("Not attempted: the time limit was reached.")
        if stopped:
            found.append(UndoResult(one, "untried", stopped, 503))
            continue
        try:
            found.append(await whole.delete(one))
        except NotFound:
            found.append(UndoResult(one, "done", _("The object no longer exists.")))
        except (ApiError, AuditUnavailable) as error:
            another = _(
                "The object that was created was replaced by another object with the same name."
            )
            text = problems.error_text(error, changed=another)
            found.append(UndoResult(one, "refused", text, error.page_code))
            if isinstance(error, Unavailable):
                stopped = _("Not attempted: the cluster is not responding.")
    return found


@dataclass(frozen=True, slots=True)
class _Undoing:
    request: ConsoleRequest
    access: Access
    client: UserClient
    types: ServedTypes

    async def delete(self, one: CreatedObjectData) -> UndoResult:
        """Delete one object. Raise `ApiError` or `AuditUnavailable`."""
        served = (await self.types.of(*one.group_and_version)).get(one.kind)
        if served is None:
            # The custom resource definition was deleted, and its objects with it.
            return UndoResult(one, "done", _("The object no longer exists."))
        gvr, namespace, name = served.gvr, one.namespace, one.name
        if served.namespaced is not bool(namespace):
            return UndoResult(one, "refused", _("The kind and the project do not match."), 422)
        refused = _refused(self.access, gvr, Key(namespace, name))
        if refused:
            return UndoResult(one, "refused", refused, 403)
        recorded = request_action(self.request, "delete", gvr, namespace=namespace, name=name)
        async with record(recorded) as entry:
            await self.client.delete(
                gvr, namespace=namespace, name=name, uid=one.uid, audit_id=entry.audit_id
            )
        return UndoResult(one, "done")


def _refused(access: Access, gvr: GVR, key: Key) -> str:
    """Return why the user may not delete the object, with the text of the object's own delete page,
    or "".
    """
    kind = access.cluster.kinds.of(gvr)
    action = kind.actions_by_name.get(Delete.name) if kind is not None else None
    try:
        if kind is not None and action is not None:
            check_action(kind, action, access, key)
        else:
            check_permission(Permission("delete"), access, gvr, key)
    except (PermissionsUnconfirmed, Protected) as error:
        return str(error)
    except Denied as error:
        return denied_text(error, kind.nouns if kind is not None else gvr.qualified)
    return ""
