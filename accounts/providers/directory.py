"""A connection to an LDAP server that cannot hold anything up: with a deadline, a limit of bytes, and
verified TLS before the first password."""

import asyncio
import math
import socket
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any, TypeVar

from ldap3 import ANONYMOUS, NONE, SIMPLE, SYNC, Connection, Server, Tls
from ldap3.core.exceptions import LDAPException

from accounts.providers.base import Unreachable

#: Bytes that one conversation may bring.
MAX_BYTES = 512 * 1024
#: Conversations at once, and how many may wait for a place.
THREADS, MAX_WAITING = 4, 16

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="quarterdeck-ldap")
_places = BoundedSemaphore(THREADS + MAX_WAITING)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """`tls` is None for a server on this machine itself. `starts_tls`: StartTLS; else LDAPS."""

    host: str
    port: int
    tls: ssl.SSLContext | None
    starts_tls: bool
    seconds: float


class _Tls(Tls):
    """Python's own verification, of names and addresses, in the place of the library's."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__()
        self._context = context

    def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:
        connection.socket = self._context.wrap_socket(
            connection.socket,
            server_hostname=connection.server.host,
            do_handshake_on_connect=do_handshake,
        )


class _Limited:
    """A socket that ends when too much has come."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._left = MAX_BYTES

    def recv(self, size: int) -> bytes:
        found = self._inner.recv(size)
        self._left -= len(found)
        if self._left < 0:
            raise OSError("the answer is too large")
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Conversation:
    """What `work` is given: `bind` first."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._connection: Connection | None = None
        self._ended = False

    def bind(self, dn: str, password: str) -> bool:
        """As somebody else if somebody is bound already; as nobody in particular with an empty `dn`."""
        kind: dict[str, Any] = {"user": dn, "password": password, "authentication": SIMPLE}
        if not dn:
            kind = {"authentication": ANONYMOUS}
        if self._connection is not None:
            return bool(self._connection.rebind(**kind))
        self._connection = self._open(kind)
        return bool(self._connection.bind())

    def search(
        self, base: str, query: str, attributes: list[str], limit: int
    ) -> list[dict[str, Any]]:
        """Entries, one more than `limit` at most. Referrals are not followed."""
        assert self._connection is not None  # noqa: S101  bound first
        self._connection.search(base, query, attributes=attributes, size_limit=limit + 1)
        code = self._connection.result["result"]
        if code not in (_SUCCESS, _SIZE_LIMIT, _NO_SUCH_OBJECT):
            raise Unreachable("SearchFailed", f"the search ended with the code {code}")
        return [e for e in self._connection.response or () if e["type"] == "searchResEntry"]

    def end(self) -> None:
        """From any thread: also one that waits for the server returns."""
        self._ended = True
        found = self._connection.socket if self._connection is not None else None
        if found is not None:
            with suppress(OSError):
                found.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                found.close()

    def _open(self, kind: dict[str, Any]) -> Connection:
        place = self._place
        server = Server(
            place.host,
            place.port,
            use_ssl=place.tls is not None and not place.starts_tls,
            get_info=NONE,
            tls=_Tls(place.tls) if place.tls is not None else None,
            connect_timeout=place.seconds,
        )
        connection = self._connection = Connection(
            server,
            **kind,
            client_strategy=SYNC,
            auto_referrals=False,
            check_names=False,
            read_only=True,
            # Whole seconds alone; `end` is what is exact.
            receive_timeout=math.ceil(place.seconds),
        )
        connection.open(read_server_info=False)
        if self._ended:
            # While there was no socket yet that `end` could have closed.
            raise OSError("it took too long")
        if place.tls is not None and place.starts_tls:
            connection.start_tls(read_server_info=False)
        connection.socket = _Limited(connection.socket)
        return connection


_SUCCESS, _SIZE_LIMIT, _NO_SUCH_OBJECT = 0, 4, 32


async def converse(place: Place, work: Callable[[Conversation], T]) -> T:
    """Runs `work` in a thread, for so long as the place allows. Raises what `work` raises, and
    `Unreachable`."""
    if not _places.acquire(blocking=False):
        raise Unreachable("TooBusy", "too many people log in through this server")
    conversation = Conversation(place)
    future = _pool.submit(_run, work, conversation)
    future.add_done_callback(lambda _done: _places.release())
    try:
        # Twice: to wait for a place, and to talk.
        async with asyncio.timeout(2 * place.seconds):
            return await asyncio.wrap_future(future)
    except TimeoutError as error:
        raise Unreachable("TimedOut", "no answer in time") from error
    finally:
        conversation.end()


def _run(work: Callable[[Conversation], T], conversation: Conversation) -> T:
    try:
        return work(conversation)
    except (LDAPException, OSError, ValueError) as error:
        raise Unreachable("NoAnswer", f"no answer: {type(error).__name__}") from error
    finally:
        conversation.end()
