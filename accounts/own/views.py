"""`/account`: the own profile, password, logins and sessions, in this order on one page.

Each form has an address of its own, which answers with the whole page if something is wrong.
"""

import uuid

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override
from django.views.decorators.debug import sensitive_post_parameters

from accounts.language import set_language
from accounts.own.page import OTHERS, account_page
from accounts.own.password import OwnPasswordForm, change_password
from accounts.own.person import own_name, own_user
from accounts.own.profile import change_profile, profile_form
from accounts.protection import signins
from accounts.protection.endings import tell_replicas
from accounts.time import now
from console.audit.trail import SESSIONS, record, request_action
from console.kube.current import get_runtime
from console.ui.http import ConsoleRequest
from console.ui.shell import THEME_COOKIE
from console.views.page import page
from console.views.preferences import YEAR


@page("GET", bearer=False)
async def account(request: ConsoleRequest) -> HttpResponse:
    return await account_page(request, own_user(request))


@page("POST", bearer=False)
async def profile(request: ConsoleRequest) -> HttpResponse:
    entry = own_user(request)
    form = profile_form(request, entry, request.POST)
    if not await change_profile(request, entry, form):
        return await account_page(request, entry, profile=form)
    language, theme = form.cleaned_data["language"], form.cleaned_data["theme"]
    with override(language):
        messages.success(request, _("The profile is saved."))
    response = HttpResponseRedirect(reverse("accounts:own:account"))
    set_language(response, language)
    secure = bool(settings.SESSION_COOKIE_SECURE)
    response.set_cookie(
        THEME_COOKIE, theme, max_age=YEAR, secure=secure, httponly=True, samesite="Lax"
    )
    return response


@sensitive_post_parameters("current", "password", "again")
@page("POST", bearer=False)
async def password(request: ConsoleRequest) -> HttpResponse:
    entry = own_user(request)
    form = OwnPasswordForm(entry.projection, request.POST)
    if not await change_password(request, form):
        return await account_page(request, entry, password=form)
    messages.success(request, _("The password is changed. All other sessions have ended."))
    return HttpResponseRedirect(reverse("accounts:own:account"))


@page("POST", bearer=False)
async def end_sessions(request: ConsoleRequest) -> HttpResponse:
    """`session`: the id of one, or `others`."""
    name, given = own_name(request), request.POST.get("session", "")
    current = request.session.session_key
    async with record(request_action(request, "delete", SESSIONS)) as recording:
        if given == OTHERS:
            ended = await sync_to_async(signins.end_all)(name, but=current)
        else:
            ended = int(is_id(given) and await sync_to_async(signins.end_one)(name, given))
        if not ended:
            recording.answered(404, "NotFound")
    if ended:
        await tell_replicas(get_runtime().console, name, now())
        text = ngettext("Ended %(number)s session.", "Ended %(number)s sessions.", ended)
        messages.success(request, text % {"number": ended})
    else:
        messages.warning(request, _("There is no such session any more."))
    return HttpResponseRedirect(reverse("accounts:own:account") + "#sessions")


def is_id(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
