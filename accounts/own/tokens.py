"""The own API tokens: making one, which is shown on the page that answers, and revoking one."""

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.named import register as named
from accounts.named.forms import FULL, TokenForm
from accounts.oauth.holders import holder_of
from accounts.own.page import account_page
from accounts.own.person import own_name, own_user
from accounts.own.views import is_id
from accounts.time import now
from console.audit.trail import SESSIONS, record, request_action
from console.ui.http import ConsoleRequest
from console.views.page import page


@page("POST", bearer=False)
async def make_token(request: ConsoleRequest) -> HttpResponse:
    entry = own_user(request)
    form, fresh = TokenForm(request.POST), ""
    if form.is_valid():
        action = request_action(request, "create", SESSIONS, subresource="api-token")
        async with record(action) as recording:
            try:
                fresh = await sync_to_async(named.make)(
                    holder_of(entry),
                    form.cleaned_data["name"],
                    form.lasts,
                    now(),
                    read_only=form.cleaned_data["scope"] != FULL,
                )
            except named.NameTaken:
                form.add_error("name", _("You have a token of this name."))
                recording.answered(409, "NameTaken")
            except named.TooMany:
                form.add_error(None, _("These are too many tokens. Revoke one first."))
                recording.answered(403, "TooManyTokens")
    if not fresh:
        return await account_page(request, entry, token=form)
    return await account_page(request, entry, fresh=fresh)


@page("POST", bearer=False)
async def end_token(request: ConsoleRequest) -> HttpResponse:
    """`token`: the id of one."""
    name, given = own_name(request), request.POST.get("token", "")
    action = request_action(request, "delete", SESSIONS, subresource="api-token")
    async with record(action) as recording:
        ended = is_id(given) and await sync_to_async(named.end_one)(name, given)
        if not ended:
            recording.answered(404, "NotFound")
    if ended:
        messages.success(request, _("The token is revoked."))
    else:
        messages.warning(request, _("There is no such token any more."))
    return HttpResponseRedirect(reverse("accounts:own:account") + "#tokens")
