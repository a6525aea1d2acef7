"""What somebody sees who does not get in: the login page, with a sentence. The reason is for the audit
trail alone."""

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.login_page import LoginForm, login_page
from accounts.next_url import START
from accounts.providers.options import Entry
from console.audit.trail import SESSIONS, Action, record, request_action

_TEXTS: dict[int, str | Promise] = {
    400: gettext_lazy("The login through %(provider)s did not succeed. Start again."),
    401: gettext_lazy("Wrong name or password."),
    403: gettext_lazy("%(provider)s knows you, but you may not log in here."),
    503: gettext_lazy(
        "%(provider)s does not answer. Try again in a few seconds, or log in another way."
    ),
}


def login_action(request: HttpRequest, entry: Entry, actor: str) -> Action:
    """`actor`: the User who was found, "" if none was."""
    return request_action(request, "login", SESSIONS, subresource=entry.name, actor=actor)


async def refuse(
    request: HttpRequest,
    entry: Entry,
    status: int,
    reason: str,
    *,
    next_url: str = START,
    actor: str = "",
    username: str = "",
) -> HttpResponse:
    """Raises `AuditUnavailable`."""
    async with record(login_action(request, entry, actor)) as recording:
        recording.answered(status, reason)
    text = str(_TEXTS[status]) % {"provider": entry.name}
    provider = entry.name if username else ""
    return login_page(request, LoginForm(username, text, next_url, provider), status)


def not_arrived(request: HttpRequest, next_url: str) -> HttpResponse:
    """The User was made a moment ago, and the cache does not know it yet."""
    text = _("Your account is being made. Log in again in a moment.")
    return login_page(request, LoginForm(error=text, next=next_url), 503)
