"""`/account/second-factor`: setting one up, new recovery codes, turning it off.

Each asks for the present password; what changes one that is there also for a code of it, so that a
browser left open does not give it away (ASVS 5, 7.5.1).
"""

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts.factors import register
from accounts.factors.checking import check_code, has_factor
from accounts.factors.enrolling import (
    code_field,
    enrolment_form,
    factor_action,
    secret_for,
    turn_on,
)
from accounts.forms import Form
from accounts.login_page import too_many
from accounts.oauth.options import options
from accounts.own.password import check_present, present_password
from accounts.own.person import own_user
from accounts.passwords import TooBusy
from console.audit.trail import record
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.http import ConsoleRequest
from console.views.page import page

#: What the buttons of a factor that is on send as `act`.
OFF, CODES = "off", "codes"


@sensitive_post_parameters("current", "code")
@page("GET", "POST", bearer=False)
async def second_factor(request: ConsoleRequest) -> HttpResponse:
    entry = own_user(request)
    if await has_factor(entry.projection):
        return await _change(request, entry)
    return await _set_up(request, entry)


async def _set_up(request: ConsoleRequest, entry: Entry[User]) -> HttpResponse:
    form, codes = Form([*present_password(entry), *enrolment_form().fields]), []
    if request.method == "POST":
        form.read(request)
        if await _knows_password(request, entry, form):
            codes = await turn_on(request, entry.projection, form)
    if codes:
        rotate_token(request)
        return _codes_page(request, codes)
    context = {"form": form, "secret": await secret_for(request, entry.projection)}
    status = 200 if form.is_right else 400
    return render(request, "accounts/own/set_up_factor.html", context, status=status)


async def _change(request: ConsoleRequest, entry: Entry[User]) -> HttpResponse:
    user = entry.projection
    hint = _("Of your authenticator app, or one of your recovery codes.")
    form = Form([*present_password(entry), code_field(hint=hint)])
    required = options().requires_factor
    if request.method == "POST":
        form.read(request)
        act = request.POST.get("act")
        if act not in (OFF, CODES):
            form.error = _("Choose what to do.")
        elif act == OFF and required:
            form.error = _("A second factor is required here.")
        elif await _shows_both(request, entry, form):
            if act == CODES:
                return await _renew(request, user)
            return await _turn_off(request, user)
    context = {
        "form": form,
        "left": await sync_to_async(register.codes_left)(user.name, user.uid),
        "off": "" if required else OFF,
        "codes": CODES,
    }
    status = 200 if form.is_right else 400
    return render(request, "accounts/own/change_factor.html", context, status=status)


async def _renew(request: ConsoleRequest, user: User) -> HttpResponse:
    async with record(factor_action(request, "update", user)):
        codes = await sync_to_async(register.renew_codes)(user.name, user.uid)
    return _codes_page(request, codes)


async def _turn_off(request: ConsoleRequest, user: User) -> HttpResponse:
    async with record(factor_action(request, "delete", user)):
        await sync_to_async(register.turn_off)(user.name)
    messages.success(request, _("The second factor is off."))
    return HttpResponseRedirect(reverse("accounts:own:account") + "#factor")


async def _shows_both(request: ConsoleRequest, entry: Entry[User], form: Form) -> bool:
    """A code that was right is used up, so the password comes first."""
    if not await _knows_password(request, entry, form):
        return False
    checked = await check_code(request, entry.projection, form["code"])
    if checked.wait is not None:
        form.error = too_many(checked.wait)
    elif not checked.is_right:
        form.refuse("code", _("This code is wrong, or was used already."))
    return form.is_right


async def _knows_password(request: ConsoleRequest, entry: Entry[User], form: Form) -> bool:
    if "current" in form.by_name:
        try:
            await check_present(request, entry.projection, form)
        except TooBusy:
            text = _("Too many passwords are being checked at this moment. Try again soon.")
            form.error = text
    return form.is_right


def _codes_page(request: ConsoleRequest, codes: list[str]) -> HttpResponse:
    return render(request, "accounts/own/recovery_codes.html", {"codes": codes})
