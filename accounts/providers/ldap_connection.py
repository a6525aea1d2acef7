"""LDAP connections in worker threads, with a timeout, a size limit, and TLS verification before the
first password is sent.
"""

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
from ldap3.core.exceptions import LDAPException, LDAPSocketOpenError

from accounts.providers.base import Unreachable

#: Maximum number of bytes received per connection.
MAX_BYTES = 512 * 1024
#: Number of concurrent connections and of waiting requests.
THREADS, MAX_WAITING = 4, 16

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="quarterdeck-ldap")
_places = BoundedSemaphore(THREADS + MAX_WAITING)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LdapServer:
    """Address and TLS settings of an LDAP server.

    `tls` is None for a server on the local host. If `starts_tls` is True, StartTLS is used, else
    LDAPS.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None
    starts_tls: bool
    seconds: float


class _Tls(Tls):
    """TLS with Python's certificate and host name verification instead of ldap3's."""

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__()
        self._context = context

    def wrap_socket(self, connection: Any, do_handshake: bool = False) -> None:
        connection.socket = self._context.wrap_socket(
            connection.socket,
            server_hostname=connection.server.host,
            do_handshake_on_connect=do_handshake,
        )


class _LimitedSocket:
    """Socket wrapper that raises OSError if too many bytes are received."""

    def __init__(self, inner: socket.socket) -> None:
        self._inner = inner
        self._left = MAX_BYTES

    def recv(self, size: int) -> bytes:
        found = self._inner.recv(size)
        self._left -= len(found)
        if self._left < 0:
            raise OSError("the response is too large")
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class LdapConnection:
    """LDAP connection passed to `work`. Call `bind` first."""

    def __init__(self, place: LdapServer) -> None:
        self._place = place
        self._connection: Connection | None = None
        self._ended = False

    def bind(self, dn: str, password: str) -> bool:
        """Bind, or rebind if already bound. An empty `dn` binds anonymously. Return True on
        success.
        """
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
        """Return at most `limit` + 1 entries. Referrals are not followed."""
        assert self._connection is not None  # noqa: S101  bound first
        self._connection.search(base, query, attributes=attributes, size_limit=limit + 1)
        code = self._connection.result["result"]
        if code not in (_SUCCESS, _SIZE_LIMIT, _NO_SUCH_OBJECT):
            raise Unreachable("SearchFailed", f"the search failed with result code {code}")
        return [e for e in self._connection.response or () if e["type"] == "searchResEntry"]

    def end(self) -> None:
        """Close the connection, from any thread. A thread that waits for the server then returns."""
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
            # Accepts whole seconds only; `end` enforces the exact timeout.
            receive_timeout=math.ceil(place.seconds),
        )
        connection.open(read_server_info=False)
        if self._ended:
            # `end` was called before the socket existed and could not close it.
            raise OSError("the connection timed out")
        if place.tls is not None and place.starts_tls:
            connection.start_tls(read_server_info=False)
        connection.socket = _LimitedSocket(connection.socket)
        return connection


_SUCCESS, _SIZE_LIMIT, _NO_SUCH_OBJECT = 0, 4, 32


async def run_with_connection(place: LdapServer, work: Callable[[LdapConnection], T]) -> T:
    """Run `work` in a worker thread within the server's timeout.

    Raise `Unreachable` and the exceptions of `work`.
    """
    if not _places.acquire(blocking=False):
        raise Unreachable("TooBusy", "too many concurrent sign-ins through this server")
    conversation = LdapConnection(place)
    future = _pool.submit(_run, work, conversation)
    future.add_done_callback(lambda _done: _places.release())
    try:
        # Twice the timeout: once for waiting in the queue and once for the connection.
        async with asyncio.timeout(2 * place.seconds):
            return await asyncio.wrap_future(future)
    except TimeoutError as error:
        raise Unreachable("TimedOut", "timeout while waiting for the response") from error
    finally:
        conversation.end()


def _run(work: Callable[[LdapConnection], T], conversation: LdapConnection) -> T:
    try:
        return work(conversation)
    except (LDAPSocketOpenError, OSError) as error:
        raise Unreachable("NoAnswer", "the connection failed") from error
    except (LDAPException, ValueError) as error:
        raise Unreachable("NoAnswer", "the response is invalid") from error
    finally:
        conversation.end()
