"""`/login/confirm`: a user authenticated by an identity provider chooses the name of the new User.

Only the browser that returned from the provider can open this page, for ten minutes and until
the User is created. The form contains only name and email address; provider and subject are
stored on the server.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.federation import onetime
from accounts.federation.linking import (
    MAX_EMAIL,
    MAX_NAME,
    AmbiguousUser,
    NameOrEmailTaken,
    UserNotCached,
    linked_user,
    suggested_name,
)
from accounts.federation.signin import (
    PENDING,
    create_user,
    handle_errors,
    reject_sign_in,
    start_user_session,
    user_not_cached_page,
)
from accounts.providers.base import Person
from accounts.providers.options import LOOKUP, Entry, read_current_providers
from accounts.signin.login_page import LoginForm, login_page
from accounts.signin.next_url import safe_next_url
from accounts.time import now


@dataclass(frozen=True, slots=True)
class ConfirmForm:
    """Values of the page. `errors` maps field names to messages."""

    provider: str
    name: str
    email: str
    errors: Mapping[str, str]


@require_http_methods(["GET", "HEAD", "POST"])
@handle_errors
async def confirm(request: HttpRequest) -> HttpResponse:
    if not request.COOKIES.get(onetime.cookie_name(onetime.PENDING)):
        return HttpResponseRedirect(reverse("accounts:login"))
    key = (onetime.read_cookie(request, onetime.PENDING) or {}).get("key", "")
    waiting = await sync_to_async(onetime.load)(PENDING, key, now())
    entry = (await read_current_providers()).entries.get(waiting["provider"]) if waiting else None
    if waiting is None or entry is None or entry.mapping == LOOKUP:
        return _expired(request)
    person = Person(**waiting["person"])
    if request.method != "POST":
        name = suggested_name(person.username)
        return _page(request, ConfirmForm(entry.name, name, person.email, {}))
    response = await _choose(request, entry, person, safe_next_url(waiting["next"]))
    if response.status_code == 302:
        await sync_to_async(onetime.release)(PENDING, key)
        onetime.delete_cookie(response, onetime.PENDING)
    return response


async def _choose(
    request: HttpRequest, entry: Entry, person: Person, next_url: str
) -> HttpResponse:
    name = request.POST.get("name", "").strip()[: MAX_NAME + 1]
    email = request.POST.get("email", "").strip()[: MAX_EMAIL + 1]
    try:
        user = linked_user(entry.name, person.subject)
        if user is None:
            user = await create_user(request, entry, person, name, email)
    except AmbiguousUser:
        return await reject_sign_in(request, entry, 403, "AmbiguousUser", next_url=next_url)
    except UserNotCached:
        return user_not_cached_page(request, next_url)
    except NameOrEmailTaken as taken:
        errors = {taken.field: taken.text}
        return _page(request, ConfirmForm(entry.name, name, email, errors), 400)
    return await start_user_session(request, entry, person, user, next_url)


def _expired(request: HttpRequest) -> HttpResponse:
    text = _("This sign-in request has expired or is not valid. Sign in again.")
    response = login_page(request, LoginForm(error=text), 403)
    onetime.delete_cookie(response, onetime.PENDING)
    return response


def _page(request: HttpRequest, form: ConfirmForm, status: int = 200) -> HttpResponse:
    return render(request, "accounts/confirm.html", {"form": form}, status=status)
