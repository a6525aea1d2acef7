"""Deletes the objects that an import created, after a review.

Objects are deleted in reverse order, if they still have the same UID. An object that an import
updated is reverted on its own page (`console.views.edit`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import msgspec
from django.utils.translation import gettext as _

from console.kube.errors import NotFound
from console.kube.gvr import Key
from console.ui.editing.imports import MOST_OBJECTS
from console.views.importing import CreatedObject, ObjectResult, Run
from console.views.perform import perform

_List = Annotated[list[CreatedObject], msgspec.Meta(min_length=1, max_length=MOST_OBJECTS)]


def parse_created_objects(text: str) -> list[CreatedObject]:
    """Decode the objects, in creation order. Raise `msgspec.DecodeError`."""
    return msgspec.json.decode(text, type=_List)


def encode_created_objects(results: Sequence[ObjectResult]) -> str:
    """Return the created objects for the form field `made`, or ""."""
    made = [one.made for one in results if one.made is not None]
    return msgspec.json.encode(made).decode() if made else ""


class UndoRun(Run):
    """Deletion of the objects that an import created."""

    async def delete(self, made: Sequence[CreatedObject], *, dry_run: bool) -> list[ObjectResult]:
        """Delete the objects in reverse order, or check whether that is possible."""
        self.total = len(made)
        results = []
        another = _(
            "The object that was created was replaced by another object with the same name."
        )
        for one in reversed(made):
            start = ObjectResult(one, "done", "delete", namespace=one.namespace)
            attempt = partial(self._delete, start, dry_run=dry_run)
            results += await self.all_of([(start, attempt)], changed=another)
        return results

    async def _delete(self, result: ObjectResult, *, dry_run: bool) -> ObjectResult:
        one, gone = result.item, _("The object no longer exists.")
        served = (await self.types.of(one.group, one.api_version.rpartition("/")[2])).get(one.kind)
        if served is None:
            # The custom resource definition was deleted, and its objects with it.
            return replace(result, text=gone)
        gvr, key = served.gvr, Key(one.namespace, one.name)
        if served.namespaced is not bool(one.namespace):
            text = _("The kind and the project do not match.")
            return replace(result, outcome="refused", text=text, code=422)
        refused = self.refusal("delete", gvr, key)
        if refused:
            return replace(result, outcome="refused", text=refused, code=403)
        try:
            if not dry_run:
                await perform(self.request, "delete", gvr, key, access=self.access, uid=one.uid)
                return result
            where = {"namespace": key.namespace, "name": key.name, "uid": one.uid}
            await self.client.delete(gvr, **where, dry_run=True)
        except NotFound:
            return replace(result, text=gone)
        kind = self.access.cluster.kinds.of(gvr)
        note = kind.deleted_with(one.name) if kind is not None else ""
        return replace(result, warnings=[note] if note else [])
