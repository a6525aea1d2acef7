"""`/account/second-factor`: set up or disable the second factor, and create new recovery codes.

Every change requires the current password. Changes of an enabled factor also require a code, so
that an unattended browser can't be used to disable it (ASVS 5, 7.5.1).
"""

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts.mfa import factors
from accounts.mfa.enrolment import CodeForm, EnrolmentForm, enable_factor, record_factor, secret_for
from accounts.mfa.factors import check_code, has_factor
from accounts.models import RecoveryCode
from accounts.myaccount.own_user import own_user
from accounts.myaccount.password import CurrentPasswordForm
from accounts.myaccount.secret_file import CODES_FILE, offer_download
from accounts.oauth.options import options
from accounts.signin.login_page import too_many
from console.kube.projections import User
from console.ui.core.requests import ConsoleRequest
from console.ui.forms.forms import posted
from console.views.page import page

#: Values of `act` sent by the buttons for an enabled factor.
OFF, CODES = "off", "codes"


class SetUpForm(EnrolmentForm, CurrentPasswordForm):
    """Form for setup: the first code and the password."""


class ChangeForm(CodeForm, CurrentPasswordForm):
    """Form for changes: a code of the enabled factor and the password."""


@sensitive_post_parameters("current", "code")
@page("GET", "POST", bearer=False)
async def second_factor(request: ConsoleRequest) -> HttpResponse:
    user = own_user(request).projection
    if await has_factor(user):
        return await _change(request, user)
    return await _set_up(request, user)


async def _set_up(request: ConsoleRequest, user: User) -> HttpResponse:
    form, codes = SetUpForm(user, posted(request)), []
    if await form.check_current_password(request):
        codes = await enable_factor(request, user, form)
    if codes:
        rotate_token(request)
        return await _codes_page(request, codes)
    context = {"form": form, "secret": await secret_for(request, user)}
    return render(
        request, "accounts/myaccount/set_up_factor.html", context, status=form.page_status
    )


async def _change(request: ConsoleRequest, user: User) -> HttpResponse:
    form, act = ChangeForm(user, posted(request)), request.POST.get("act")
    required = options().requires_factor
    if form.is_bound and act not in (OFF, CODES):
        form.add_error(None, _("Choose an action."))
    elif act == OFF and required:
        form.add_error(
            None,
            _(
                "You cannot turn off the second factor because this console requires a second factor."
            ),
        )
    elif await _shows_both(request, form):
        if act == CODES:
            return await _renew(request, user)
        return await _turn_off(request, user)
    context = {
        "form": form,
        "left": await RecoveryCode.objects.filter(factor__user=user.name).acount(),
        "off": "" if required else OFF,
        "codes": CODES,
    }
    return render(
        request, "accounts/myaccount/change_factor.html", context, status=form.page_status
    )


async def _renew(request: ConsoleRequest, user: User) -> HttpResponse:
    async with record_factor(request, "update", user):
        codes = await sync_to_async(factors.renew_codes)(user.name, user.uid)
    return await _codes_page(request, codes)


async def _turn_off(request: ConsoleRequest, user: User) -> HttpResponse:
    async with record_factor(request, "delete", user):
        await sync_to_async(factors.disable)(user.name)
    messages.success(request, _("The second factor is turned off."))
    return HttpResponseRedirect(reverse("accounts:own:account") + "#factor")


async def _shows_both(request: ConsoleRequest, form: ChangeForm) -> bool:
    """Check password and code. The password is checked first, because a correct code is used up."""
    if not await form.check_current_password(request):
        return False
    checked = await check_code(request, form.user, form.cleaned_data["code"])
    if checked.wait is not None:
        form.add_error(None, too_many(checked.wait))
    elif not checked.is_right:
        form.add_error("code", _("The code is incorrect or has already been used."))
    return form.is_valid()


async def _codes_page(request: ConsoleRequest, codes: list[str]) -> HttpResponse:
    await offer_download(request, CODES_FILE, codes)
    return render(request, "accounts/myaccount/recovery_codes.html", {"codes": codes})
