"""Websocket that uploads a file: `/ws/clusters/{cluster}/projects/{namespace}/pods/{name}/files`.

It accepts the query of the files page. The browser sends `{"upload": LANG, "page": …, "name": …,
"size": …, "replace": …}` with the CSRF token of the page, then the content in binary messages. The
server sends `{"taken": N}` for the bytes that the container accepted, and finally `{"done": TEXT}`.
The browser may send at most `MAX_UNTAKEN` bytes ahead. The close codes are those of the live socket;
1000 means success.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import msgspec
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.audit.trail import socket_action
from console.files.commands import ContainerPlace, FileError
from console.files.query import read_file_name, read_query
from console.files.transfers import IDLE_SECONDS, MAX_UPLOAD, FileTooLarge, upload
from console.kube.errors import ApiError
from console.kube.gvr import PODS, Key
from console.live.frames import json_text
from console.live.limits import SocketCap
from console.logs.containers import NoContainer
from console.logs.query import BadQuery
from console.streams.socket import BadMessage, StreamSocket, read_message
from console.streams.stream import SingleWaiterEvent
from console.terminals.consumer import terminal_error_text
from console.terminals.query import TerminalQuery
from console.terminals.target import find_target
from console.ui.core.access import require_access
from console.ui.core.permissions import Protected
from console.ui.core.text import escape_invisible

#: Maximum bytes that the browser may send before the container accepted them.
MAX_UNTAKEN = 512 * 1024


class _StartMessage(msgspec.Struct, forbid_unknown_fields=True):
    upload: str
    name: str
    size: int
    page: str = ""
    replace: bool = False


_start = msgspec.json.Decoder(_StartMessage)


class UploadConsumer(StreamSocket):
    cap = SocketCap(4)
    #: Messages of 60 KiB.
    per_second: ClassVar[float] = 1000.0
    full: ClassVar[str | Promise] = gettext_lazy(
        "Too many uploads are running. Wait for one to end."
    )
    bad_requests: ClassVar[tuple[type[Exception], ...]] = (BadQuery, NoContainer)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._waiting: list[bytes] = []
        self._came = SingleWaiterEvent()
        self._received = self._taken = 0

    def hear(self, text: str, data: bytes) -> None:
        if self._task is None:
            first = read_message(_start, text)
            self.begin(first.upload, self._receive(first))
            return
        self._received += len(data)
        if not data or self._received - self._taken > MAX_UNTAKEN:
            raise BadMessage
        self._waiting.append(data)
        self._came.set()

    def why(self, error: ApiError) -> str:
        return terminal_error_text(error)

    async def _receive(self, first: _StartMessage) -> None:
        cluster, kind, presence = self.named_cluster()
        if not self.scope.get("writes", True):
            raise Protected(
                _("You cannot make changes while you view the console as another user.")
            )
        query = read_query(QueryDict(self.scope.get("query_string", b"")))
        name = read_file_name(first.name)
        if not 0 <= first.size <= MAX_UPLOAD:
            raise FileTooLarge(_("The file is larger than the console accepts."))
        given = self.scope["url_route"]["kwargs"]
        key = Key(given["namespace"], given["name"])
        access = require_access(presence.access_for(cluster))
        self.require_user_of_page(first.page, access)
        wanted = TerminalQuery(container=query.container)
        target = await find_target(kind, access, key, wanted)
        if target.problem:
            raise FileError(target.problem)
        recorded = socket_action(
            self.scope,
            "create",
            PODS,
            as_user=access.identity.name,
            cluster=cluster.name,
            subresource="exec",
        )
        place = ContainerPlace(
            cluster, self.scope["account"], presence, recorded, key, target.container
        )
        pieces = self._pieces(first.size)
        await upload(
            place, query.path, name, pieces, replace=first.replace, on_written=self._confirm
        )
        words = {"name": name, "folder": escape_invisible(query.path)}
        await self.send(json_text({"done": _("Uploaded %(name)s to %(folder)s.") % words}))
        await self.close(1000)

    async def _pieces(self, size: int) -> AsyncIterator[bytes]:
        left = size
        while left > 0:
            while not self._waiting:
                try:
                    async with asyncio.timeout(IDLE_SECONDS):
                        await self._came.wait()
                except TimeoutError as error:
                    raise FileError(_("The browser sent no data.")) from error
            piece = self._waiting.pop(0)
            left -= len(piece)
            if left < 0:
                raise FileError(_("The file changed during the upload."))
            yield piece

    async def _confirm(self, size: int) -> None:
        self._taken = size
        await self.send(json_text({"taken": size}))
