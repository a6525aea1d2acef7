"""Attempt to create the objects of a wizard's draft. The draft records each created object, so that
they are known even if the server process ends between two objects.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import msgspec
from asgiref.sync import sync_to_async
from django.db import DatabaseError

from console.drafts import store as drafts
from console.views.importing import CreatedObject, ObjectResult

log = logging.getLogger(__name__)
#: Steps of a draft while its objects are created, and afterwards.
CREATING, DONE_STEP = "creating", "created"


def created_in(made: str) -> list[CreatedObject] | None:
    """Decode the objects that an attempt created. Return None without an attempt. Raise
    `msgspec.DecodeError`.
    """
    return msgspec.json.decode(made, type=list[CreatedObject]) if made else None


@dataclass(slots=True)
class Attempt:
    """Stores created objects in the draft `place`. `earlier` are those of the attempt before.

    A draft of another window is overwritten, because the created objects exist.
    """

    place: drafts.DraftKey
    content: drafts.DraftContent
    version: int
    earlier: Sequence[CreatedObject] | None
    _made: list[CreatedObject] = field(init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        self._made = [*(self.earlier or ())]

    @property
    def encoded(self) -> str:
        return msgspec.json.encode(self._made).decode()

    async def begin(self) -> None:
        """Record the attempt, before the first object is created."""
        async with self._lock:
            await self._store(msgspec.structs.replace(self.content, step=CREATING))

    async def add(self, made: CreatedObject) -> None:
        """Record a created object."""
        async with self._lock:
            self._made.append(made)
            try:
                await self._store(msgspec.structs.replace(self.content, step=CREATING))
            except DatabaseError:
                # The other objects are still created and reported by the response.
                log.exception("A created object was not recorded")

    async def finish(self) -> None:
        """Record that all objects exist. The manifests, which may contain secrets, are removed."""
        async with self._lock:
            await self._store(drafts.DraftContent("", step=DONE_STEP))

    async def _store(self, content: drafts.DraftContent) -> None:
        content = msgspec.structs.replace(content, made=self.encoded)
        store = sync_to_async(drafts.store_draft)
        while True:
            try:
                self.version = await store(self.place, content, self.version)
                return
            except drafts.DraftConflict:
                found = await sync_to_async(drafts.find)(self.place)
                self.version = found.version if found is not None else 0


def attempted(result: ObjectResult, made: Sequence[CreatedObject]) -> ObjectResult:
    """Return the result of a check as the state of an object after an attempt."""
    uid = result.live["metadata"]["uid"] if result.live is not None else ""
    found = next((one for one in made if one.uid == uid), None)
    if found is not None or (uid and result.change == "keep"):
        return replace(
            result, outcome="done", change="create", made=found, code=201, preview=None, warnings=()
        )
    result = replace(result, warnings=(), preview=None)
    return result if result.code >= 400 else replace(result, outcome="untried")
