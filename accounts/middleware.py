"""Authentication middleware. It ends invalid sessions and limits anonymous requests to public
views.
"""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.public import is_public
from accounts.signin.presence import session_presence
from accounts.signin.sessions import STEPS, State, Step, examine, step_url, touch
from accounts.time import now
from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response, wants_status
from console.views.errors import error_page
from console.views.guard import refuse_anonymous
from console.web.async_middleware import AsyncMiddleware

Response = HttpResponseBase


class AccountMiddleware(AsyncMiddleware):
    """Authenticate each request and require a session for views that are not public.

    Sets `request.account`, `identity`, `own_identity`, `viewing`, `presence` and
    `session_state`. `account` and `identity` are None unless the request has a valid session of
    an existing, enabled user. `identity` differs from `own_identity` while the user views the
    console as another user (`accounts.impersonation`). A session with an incomplete sign-in is
    treated as anonymous and has `request.pending` and `request.step` instead.
    """

    async def __call__(self, request: HttpRequest) -> Response:
        await identify(request)
        return await self.get_response(request)

    async def process_view(
        self, request: ConsoleRequest, view: object, args: object, kwargs: object
    ) -> Response | None:
        if request.account is not None or is_public(request.resolver_match):
            return None
        step: Step | None = request.step  # type: ignore[attr-defined]
        if step is not None:
            return self._one_page(request, step)
        state: State = request.session_state  # type: ignore[attr-defined]
        if state is State.UNKNOWN:
            text = _("Could not verify your session. Try again in a few seconds.")
            return error_page(request, 503, text)
        response = refuse_anonymous(request, resumes=getattr(view, "resumes", False))
        if response is not None and state is State.ENDED:
            for header in ("Location", "HX-Redirect"):
                if header in response:
                    response[header] += "&ended=1"
        return response

    def _one_page(self, request: ConsoleRequest, step: Step) -> Response | None:
        """Allow only the page of the pending sign-in step."""
        name, text = STEPS[step]
        if request.resolver_match is not None and request.resolver_match.view_name == name:
            return None
        is_page = request.method in ("GET", "HEAD") and not wants_status(request)
        if is_page and not request.htmx:
            return HttpResponseRedirect(step_url(step, request.get_full_path()))
        response = status_response(403, str(text))
        if request.htmx:
            response["HX-Redirect"] = reverse(name)
        return response


async def identify(request: HttpRequest) -> None:
    had_cookie = settings.SESSION_COOKIE_NAME in request.COOKIES
    session: Any = request.session
    found = await examine(session, now(), had_cookie=had_cookie)
    if found.state is State.ENDED:
        await session.end()
    elif found.state is State.ALIVE:
        await touch(session, now())
    request.session_state = found.state  # type: ignore[attr-defined]
    request.identity = found.acting  # type: ignore[attr-defined]
    request.own_identity = found.identity  # type: ignore[attr-defined]
    request.viewing = found.viewing  # type: ignore[attr-defined]
    request.presence = session_presence(request.session.session_key, found)  # type: ignore[attr-defined]
    request.account = found.identity.name if found.identity else None  # type: ignore[attr-defined]
    request.pending = found.pending  # type: ignore[attr-defined]
    request.step = found.step  # type: ignore[attr-defined]
