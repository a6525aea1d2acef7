"""`/login/second-factor`: page between a correct password and the console.

Users with a second factor enter a code. Users who need one and have none set it up.
"""

from django.http import HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts.mfa import factors
from accounts.mfa.enrolment import CodeForm, EnrolmentForm, enable_factor, secret_for
from accounts.myaccount.own_user import own_user
from accounts.myaccount.secret_file import CODES_FILE, offer_download
from accounts.signin import sessions
from accounts.signin.authenticate import second_step
from accounts.signin.login_page import too_many
from accounts.signin.next_url import safe_next_url
from accounts.signin.sessions import Step, next_page_url
from accounts.time import now
from console.audit.trail import record_session
from console.kube.projections import User
from console.ui.core.requests import ConsoleRequest
from console.ui.forms.forms import posted
from console.views.page import page


@sensitive_post_parameters("code")
@page("GET", "POST", signed_in=False)
async def second_factor(request: ConsoleRequest) -> HttpResponse:
    if getattr(request, "step", None) is not Step.FACTOR:
        return HttpResponseRedirect(reverse("accounts:own:account"))
    given = request.POST if request.method == "POST" else request.GET
    next_url = safe_next_url(given.get("next", ""))
    user = own_user(request).projection
    if await factors.has_factor(user):
        return await _ask(request, user, next_url)
    if await request.session.aget(sessions.FACTOR) == sessions.OWED:
        # The factor was disabled in the meantime: restart the sign-in.
        await request.session.aflush()
        return HttpResponseRedirect(reverse("accounts:login"))
    return await _set_up(request, user, next_url)


async def _ask(request: ConsoleRequest, user: User, next_url: str) -> HttpResponse:
    form = CodeForm(posted(request))
    status = form.page_status
    if form.is_valid():
        status = await _show(request, user, form)
        if status == 302:
            return HttpResponseRedirect(await next_page_url(request.session, next_url))
    context = {"form": form, "next": next_url, "who": user.name}
    return render(request, "accounts/mfa/ask.html", context, status=status)


async def _show(request: ConsoleRequest, user: User, form: CodeForm) -> int:
    """Check the code and return the response status: 302 if sign-in is complete."""
    async with record_session(request, "login", "second-factor", actor=user.name) as recording:
        attempt = await second_step(request, user, form.cleaned_data["code"])
        if attempt.wait is not None:
            form.add_error(None, too_many(attempt.wait))
            recording.set_outcome(429, attempt.reason)
        elif attempt.user is None:
            form.add_error("code", _("The code is incorrect or has already been used."))
            recording.set_outcome(401, attempt.reason)
        else:
            await sessions.complete_sign_in(request.session, now())
            rotate_token(request)
            return 302
    return recording.code


async def _set_up(request: ConsoleRequest, user: User, next_url: str) -> HttpResponse:
    form = EnrolmentForm(posted(request))
    codes = await enable_factor(request, user, form) if form.is_valid() else []
    context = {"form": form, "next": next_url, "who": user.name, "codes": codes}
    if codes:
        await offer_download(request, CODES_FILE, codes)
        rotate_token(request)
    else:
        context["secret"] = await secret_for(request, user)
    status = form.page_status
    return render(request, "accounts/mfa/set_up.html", context, status=status)
