"""Change of the user's own password, and the choice of the first password.

Requires the current password, if the user has one. All other sessions and all tokens are
revoked.
"""

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from accounts.myaccount.own_user import own_user, restart_session, update_own_user
from accounts.oauth.holders import UNINITIALIZED
from accounts.oauth.options import options
from accounts.signin.authenticate import check_password
from accounts.signin.login_page import too_many
from accounts.signin.new_passwords import (
    NewPasswordField,
    busy_text,
    new_password_problem,
    set_password,
)
from accounts.signin.next_url import safe_next_url
from accounts.signin.passwords import TooBusy
from accounts.signin.sessions import Step, next_page_url
from accounts.time import now
from accounts.users.states import patch_user
from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError
from console.kube.projections import User
from console.ui.core.requests import ConsoleRequest
from console.ui.forms.forms import ConsoleForm, SecretField, posted
from console.views import problems
from console.views.page import page


class CurrentPasswordForm(ConsoleForm):
    """Base form for security-related changes, which asks for the current password if the user has
    one.
    """

    current = SecretField(label=gettext_lazy("Current password"), autocomplete="current-password")

    def __init__(self, user: User, data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.user = user
        if not user.has_password:
            del self.fields["current"]

    async def check_current_password(self, request: ConsoleRequest) -> bool:
        """Return True if the form is valid, including the current password.

        The check counts as a sign-in attempt, so an unattended browser can't be used to guess
        the password.
        """
        if not self.is_valid() or "current" not in self.fields:
            return self.is_valid()
        try:
            attempt = await check_password(request, self.user.name, self.cleaned_data["current"])
        except TooBusy:
            self.add_error(None, busy_text())
            return False
        if attempt.wait is not None:
            self.add_error(None, too_many(attempt.wait))
        elif attempt.user is None:
            self.add_error("current", _("The current password is incorrect."))
        return self.is_valid()


class OwnPasswordForm(CurrentPasswordForm):
    ids = "password-%s"

    password = NewPasswordField(label=gettext_lazy("New password"))
    again = SecretField(label=gettext_lazy("Confirm new password"), autocomplete="new-password")

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        problem = new_password_problem(password, name=self.user.name, email=self.user.email)
        if not problem and password == self.cleaned_data.get("current"):
            problem = _("The new password must be different from the current password.")
        if problem:
            raise ValidationError(problem)
        return password

    def clean_again(self) -> str:
        again: str = self.cleaned_data["again"]
        if again != self.cleaned_data.get("password", again):
            raise ValidationError(_("The passwords don't match."))
        return again


async def change_password(request: ConsoleRequest, form: OwnPasswordForm) -> bool:
    """Change the password. On failure, add an error to the form and return False.

    Raise `UsersNotCached` or DatabaseError.
    """
    try:
        if await form.check_current_password(request):
            chosen = form.cleaned_data["password"]
            write = partial(set_password, password=chosen, now=now(), must_change=False)
            await update_own_user(request, "password", write)
            await restart_session(request, form.user)
    except TooBusy:
        form.add_error(None, busy_text())
    except (ApiError, AuditUnavailable) as error:
        problems.add_form_errors(error, form)
    return form.is_valid()


@sensitive_post_parameters("current", "password", "again")
@page("GET", "POST", signed_in=False)
async def choose_password(request: ConsoleRequest) -> HttpResponse:
    """`/password/confirm`: page for users whose password was set by an administrator.

    No other page is available until the user sets a new password, or keeps the current one if
    the platform allows it.
    """
    if getattr(request, "step", None) is not Step.PASSWORD:
        return HttpResponseRedirect(reverse("accounts:own:account"))
    given = request.POST if request.method == "POST" else request.GET
    next_url = safe_next_url(given.get("next", ""))
    user = own_user(request).projection
    if request.POST.get("keep") == "true" and options().may_postpone:
        kept = {"metadata": {"annotations": {UNINITIALIZED: None}}}
        await update_own_user(request, "annotations", partial(patch_user, patch=kept))
        return HttpResponseRedirect(await next_page_url(request.session, next_url))
    form = OwnPasswordForm(user, posted(request), auto_id="choose-%s")
    if await change_password(request, form):
        messages.success(request, _("Password changed."))
        return HttpResponseRedirect(await next_page_url(request.session, next_url))
    context = {
        "form": form,
        "next": next_url,
        "who": request.pending,
        "may_keep": options().may_postpone,
    }
    status = form.page_status
    return render(request, "accounts/myaccount/choose_password.html", context, status=status)
