"""Who asks, for websockets.

A socket is opened by any page that knows its address, with the visitor's cookies, so the page's origin
is compared with ours: exactly, with scheme and port. No origin, or another one, is a 403 of the
handshake. Who the visitor is comes from the same session as on pages.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.http import HttpRequest, parse_cookie
from django.utils.translation import get_language_from_request

from accounts.signin.presence import find_session, live_access
from accounts.signin.sessions import FoundSession

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[Any]]


class SessionAuthMiddleware:
    """Sets `scope["account"]`, `scope["access_in"]`, `scope["session_alive"]`, `scope["session"]`,
    `scope["writes"]` and `scope["language"]`.

    The first two are None for nobody. `access_in(cluster)` is what the viewer may do there.
    `session_alive()` reads the session anew: False as soon as it has ended, was replaced or expired, or
    its user may no longer be signed in. `session` is the same for sockets of one session alone, and opens
    nothing. `writes` is False while somebody else's view is looked at without changing anything.
    `language` is that of the visitor's pages.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        if not has_our_origin(scope):
            return await _refuse(receive, send)
        request = _as_request(scope)
        key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        found = await find_session(key)
        name, acting = _names(found)

        async def session_alive() -> bool:
            return name is not None and _names(await find_session(key)) == (name, acting)

        # A copy would stay for as long as the socket, beside the one without our names.
        scope |= {
            "account": name,
            "access_in": partial(live_access, acting) if acting else None,
            "session_alive": session_alive,
            "session": sha256((key or "").encode()).hexdigest(),
            "writes": found.viewing is None or found.viewing.writes,
            "language": get_language_from_request(request),
        }
        return await self.application(scope, receive, send)


def _names(found: FoundSession) -> tuple[str | None, str | None]:
    """Whose session it is, and whose rights count."""
    mine, theirs = found.identity, found.acting
    return mine.name if mine else None, theirs.name if theirs else None


def has_our_origin(scope: Scope) -> bool:
    given = [value for name, value in scope.get("headers", ()) if name == b"origin"]
    return len(given) == 1 and given[0].decode("latin-1") in settings.ORIGINS


def _as_request(scope: Scope) -> HttpRequest:
    """With what says whose it is, and in which language."""
    request = HttpRequest()
    request.COOKIES = parse_cookie(_header(scope, b"cookie", "; "))
    request.META["HTTP_ACCEPT_LANGUAGE"] = _header(scope, b"accept-language", ",")
    return request


def _header(scope: Scope, wanted: bytes, separator: str) -> str:
    given = [value for name, value in scope.get("headers", ()) if name == wanted]
    return separator.join(value.decode("latin-1") for value in given)


async def _refuse(receive: Any, send: Any) -> None:
    """Closing before accepting is what servers turn into a 403."""
    await receive()
    await send({"type": "websocket.close", "code": 1008})
