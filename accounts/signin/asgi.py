"""Authentication of websockets.

Any page that knows the URL can open a websocket with the visitor's cookies. The `Origin` header
must therefore match the console's origin exactly, including scheme and port. A missing or
different origin is rejected with 403 during the handshake. The user is determined from the same
session as for pages.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.http import HttpRequest, parse_cookie
from django.utils.translation import get_language_from_request

from accounts.csrf import rendered_for
from accounts.signin.presence import find_session, live_access
from accounts.signin.sessions import FoundSession

Scope = dict[str, Any]
Application = Callable[[Scope, Any, Any], Awaitable[Any]]


class SessionAuthMiddleware:
    """Authenticate websockets and add session data to the scope.

    Sets `scope["account"]`, `scope["access_in"]`, `scope["session_alive"]`, `scope["session"]`,
    `scope["writes"]`, `scope["rendered_for"]` and `scope["language"]`.

     - `account` and `access_in` are None for anonymous users. `access_in(cluster)` returns the
       user's access to a cluster.
     - `session_alive()` reads the session again and returns False if it ended, expired or was
       replaced, or if its user may no longer sign in.
     - `session` is an identifier shared by the sockets of one session. It can't be used to
       authenticate.
     - `writes` is False while the user views the console as another user in read-only mode.
     - `rendered_for(token)` returns the name of the user for whom the page with this CSRF token was
       rendered, or None.
     - `language` is the visitor's language.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        if not has_our_origin(scope):
            # Closed before it is accepted, which ASGI servers turn into a 403.
            await receive()
            return await send({"type": "websocket.close", "code": 1008})
        request = _as_request(scope)
        key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        found = await find_session(key)
        name, acting = _names(found)

        async def session_alive() -> bool:
            return name is not None and _names(await find_session(key)) == (name, acting)

        # Update the scope in place. A copy would stay in memory as long as the socket, next to the
        # original.
        scope |= {
            "account": name,
            "access_in": partial(live_access, acting) if acting else None,
            "session_alive": session_alive,
            "session": sha256((key or "").encode()).hexdigest(),
            "writes": found.viewing is None or found.viewing.writes,
            "rendered_for": rendered_for,
            "language": get_language_from_request(request),
        }
        return await self.application(scope, receive, send)


def _names(found: FoundSession) -> tuple[str | None, str | None]:
    """Return the session's username and the name of the user whose permissions apply."""
    mine, theirs = found.identity, found.acting
    return mine.name if mine else None, theirs.name if theirs else None


def has_our_origin(scope: Scope) -> bool:
    given = [value for name, value in scope.get("headers", ()) if name == b"origin"]
    return len(given) == 1 and given[0].decode("latin-1") in settings.ORIGINS


def _as_request(scope: Scope) -> HttpRequest:
    """Return a request with only the headers that determine session and language."""
    request = HttpRequest()
    request.COOKIES = parse_cookie(_header(scope, b"cookie", "; "))
    request.META["HTTP_ACCEPT_LANGUAGE"] = _header(scope, b"accept-language", ",")
    return request


def _header(scope: Scope, wanted: bytes, separator: str) -> str:
    given = [value for name, value in scope.get("headers", ()) if name == wanted]
    return separator.join(value.decode("latin-1") for value in given)
