"""Websocket of a terminal: `/ws/clusters/{cluster}/projects/{namespace}/pods/{name}/terminal`.

It accepts the query of the terminal page. The terminal survives a disconnect for a while
(`console.terminals.terminal`). The close codes are those of the live socket; 1000 means that the
command has exited.
"""

import asyncio
from typing import Any, ClassVar

from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.audit.trail import socket_action
from console.kube.errors import ApiError, Unavailable
from console.kube.gvr import PODS, Key
from console.live.consumer import POLICY
from console.live.limits import SocketCap
from console.logs.containers import NoContainer
from console.logs.query import BadQuery
from console.streams.socket import BadMessage, StreamSocket, await_or_fail
from console.streams.stream import StreamEnded, StreamRequest
from console.terminals.command import CommandResult
from console.terminals.messages import (
    StartMessage,
    ended_text,
    opened_text,
    read_client_message,
    read_first,
    taken_text,
)
from console.terminals.query import TerminalQuery, read_query
from console.terminals.target import find_target
from console.terminals.terminal import InputBufferFull, Terminal, TerminalOwner, get_terminals
from console.ui.core.access import require_access
from console.ui.core.permissions import Protected, Refused
from console.ui.core.text import escape_invisible
from console.views.problems import pod_error_text

#: Maximum bytes in one message to the browser.
_PIECE = 32 * 1024
#: Seconds between two messages. Output in between is sent as one chunk: a browser doesn't render
#: faster, and its acknowledgments stay far below `per_second`.
_PACE = 0.005


class TerminalTakenOver(Refused):
    """Raised if another socket took over the terminal."""


class TerminalConsumer(StreamSocket):
    cap = SocketCap(20)
    #: Key repeat, mouse wheel events, and an acknowledgment for each rendered chunk.
    per_second: ClassVar[float] = 300.0
    full: ClassVar[str | Promise] = gettext_lazy("Too many terminals are open. Close some of them.")
    bad_requests: ClassVar[tuple[type[Exception], ...]] = (BadQuery, NoContainer)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._terminal: Terminal | None = None
        self._replaced = False

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._terminal is not None:
                self._terminal.leave(self)

    def hear(self, text: str, data: bytes) -> None:
        if self._task is None:
            first = read_first(text)
            self.begin(first.begin, self._show(first))
        elif self._terminal is not None and not self._replaced:
            try:
                self._take(self._terminal, text, data)
            except InputBufferFull as error:
                raise BadMessage from error

    @staticmethod
    def _take(terminal: Terminal, text: str, data: bytes) -> None:
        if data:
            terminal.type(data)
            return
        said = read_client_message(text)
        if said.ack is not None and not terminal.confirm(said.ack):
            raise BadMessage
        if said.size is not None:
            terminal.resize(*said.size)
        if said.end:
            terminal.end()

    def replaced(self) -> None:
        self._replaced = True
        if self._terminal is not None:
            self._terminal.wake()

    def why(self, error: ApiError) -> str:
        return terminal_error_text(error)

    # Sending

    async def _show(self, first: StartMessage) -> None:
        query = read_query(QueryDict(self.scope.get("query_string", b"")))
        terminal, new = await self._terminal_of(first, query)
        self._terminal = terminal
        terminal.enter(self)
        terminal.resize(*first.size)
        at = terminal.output.first if new else max(first.at, terminal.output.first)
        if at > terminal.output.end:
            await self.close(POLICY)
            return
        await self.send(opened_text(terminal, at, new=new))
        await self._pass_on(terminal, at)

    async def _terminal_of(
        self, first: StartMessage, query: TerminalQuery
    ) -> tuple[Terminal, bool]:
        """Return the browser's existing terminal or a new one, and whether it is new."""
        cluster, kind, presence = self.named_cluster()
        if not self.scope.get("writes", True):
            raise Protected(
                _("You cannot make changes while you view the console as another user.")
            )
        given = self.scope["url_route"]["kwargs"]
        key = Key(given["namespace"], given["name"])
        access = require_access(presence.access_for(cluster))
        self.require_user_of_page(first.page, access)
        account, as_user = self.scope["account"], access.identity.name
        owner = TerminalOwner(account, self.scope["session"], as_user, cluster.name, key, query)
        terminals = get_terminals()
        held = terminals.find(first.id, owner)
        if held is not None:
            return held, False
        target = await find_target(kind, access, key, query)
        if target.problem:
            raise Refused(target.problem)
        recorded = socket_action(
            self.scope,
            "create",
            PODS,
            as_user=as_user,
            cluster=cluster.name,
            namespace=key.namespace,
            name=key.name,
            subresource=query.subresource,
        )
        order = StreamRequest(
            cluster=cluster,
            account=account,
            presence=presence,
            rights=query.rights,
            gvr=PODS,
            key=key,
            recorded=recorded,
            path=PODS.path(key.namespace, key.name, query.subresource),
        )
        made = Terminal(owner, order, target, terminals.forget)
        terminals.add(made)
        try:
            await made.open()
        except BaseException:
            terminals.forget(made)
            raise
        return made, True

    async def _pass_on(self, terminal: Terminal, at: int) -> None:
        taken = terminal.typed.first
        while not self._replaced:
            if terminal.access_lost.done():
                terminal.access_lost.result()
            if terminal.typed.first > taken:
                taken = terminal.typed.first
                await self.send(taken_text(taken))
            if piece := terminal.output.read_from(at, _PIECE):
                at += len(piece)
                await self.send(bytes_data=piece)
                await await_or_fail(terminal.access_lost, self._flow.wait_clear())
                await asyncio.sleep(_PACE)
            elif terminal.over:
                await self._finish(terminal)
                return
            else:
                await terminal.changed()
        raise TerminalTakenOver(_("This terminal was opened in another window."))

    async def _finish(self, terminal: Terminal) -> None:
        ending, failure = terminal.ending, terminal.failure
        if isinstance(failure, StreamEnded):
            raise failure
        if ending is None:
            text = terminal_error_text(failure if isinstance(failure, ApiError) else None)
        else:
            text = end_message(terminal, ending)
        await self.send(ended_text(ending, text))
        await self.close(1000)


def terminal_error_text(error: ApiError | None) -> str:
    """Return the translated reason why a terminal can't be opened. None means that the reason is
    unknown.
    """
    if error is None or isinstance(error, Unavailable):
        return _(
            "The connection to the container was lost. Programs that you started in the "
            "container may still be running."
        )
    silent = _("The node of the pod is not responding, or the container is no longer running.")
    return pod_error_text(error, silent=silent)


def end_message(terminal: Terminal, ending: CommandResult) -> str:
    shell = terminal.owner.query.shell
    if ending.missing:
        if shell:
            return _("No %(shell)s found in this container.") % {"shell": shell}
        return _("No shell found in this container.")
    if ending.code is None:
        words = {"message": escape_invisible(ending.message)}
        return _("The container could not start the shell: %(message)s") % words
    if terminal.owner.query.attach:
        return _("The container has terminated or detached from this terminal.")
    return _("The shell exited with code %(code)s.") % {"code": ending.code}
