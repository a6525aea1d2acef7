"""`/account`: one page for the user's own profile, password, sign-in history and sessions.

Each form posts to its own URL, which renders the complete page on errors.
"""

import json
import uuid

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override
from django.views.decorators.debug import sensitive_post_parameters

from accounts import apitokens
from accounts.apitokens import FULL, KubeconfigForm, TokenForm
from accounts.mfa.factors import has_factor
from accounts.myaccount.own_records import own_drafts, own_ports
from accounts.myaccount.own_user import own_name, own_user
from accounts.myaccount.password import OwnPasswordForm, change_password
from accounts.myaccount.profile import change_profile, profile_form
from accounts.myaccount.secret_file import TOKEN_FILE, offer_download
from accounts.oauth.holders import holder_of
from accounts.protection import browser_sessions
from accounts.protection.records import history_of
from accounts.protection.revocation import notify_replicas
from accounts.time import now
from console.audit.trail import record_session
from console.drafts.store import delete_draft_of
from console.kube.compatibility import CERTIFICATE_DURATION, WHOAMI, before
from console.kube.host_runtime import get_runtime
from console.kube.projections import User
from console.kube.store import Entry
from console.proxying.closing import BY_USER, close
from console.proxying.store import open_ports_of
from console.ui.core.clusters import HOST
from console.ui.core.links import list_url
from console.ui.core.requests import ConsoleRequest
from console.ui.forms.forms import ConsoleForm
from console.ui.navigation.page_frame import THEME_COOKIE
from console.views.page import page
from console.views.preferences import set_preference

OTHERS = "others"


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
        messages.success(request, _("Profile saved."))
    response = HttpResponseRedirect(reverse("accounts:own:account"))
    set_preference(response, settings.LANGUAGE_COOKIE_NAME, language)
    set_preference(response, THEME_COOKIE, theme)
    return response


@sensitive_post_parameters("current", "password", "again")
@page("POST", bearer=False)
async def password(request: ConsoleRequest) -> HttpResponse:
    entry = own_user(request)
    form = OwnPasswordForm(entry.projection, request.POST)
    if not await change_password(request, form):
        return await account_page(request, entry, password=form)
    messages.success(request, _("Password changed. All other sessions have ended."))
    return HttpResponseRedirect(reverse("accounts:own:account"))


@page("POST", bearer=False)
async def end_sessions(request: ConsoleRequest) -> HttpResponse:
    """End the session with the ID in the field `session`, or all other sessions if it is `others`."""
    name, given = own_name(request), request.POST.get("session", "")
    current = request.session.session_key
    async with record_session(request, "delete") as recording:
        if given == OTHERS:
            ended = await sync_to_async(browser_sessions.end_all_sessions)(name, but=current)
        else:
            ended = int(
                is_id(given) and await sync_to_async(browser_sessions.end_session)(name, given)
            )
        if not ended:
            recording.set_outcome(404, "NotFound")
    if ended:
        await notify_replicas(get_runtime().console, name, now())
    text = ngettext("Ended %(number)s session.", "Ended %(number)s sessions.", ended)
    done = text % {"number": ended} if ended else ""
    return _redirect_with_message(request, done, _("The session no longer exists."), "sessions")


def _redirect_with_message(
    request: ConsoleRequest, done: str, gone: str, part: str
) -> HttpResponse:
    """Redirect to a section of the page with the message `done`, or `gone` if nothing changed."""
    if done:
        messages.success(request, done)
    else:
        messages.warning(request, gone)
    return HttpResponseRedirect(f"{reverse('accounts:own:account')}#{part}")


def is_id(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True


async def account_page(
    request: ConsoleRequest,
    entry: Entry[User],
    *,
    fresh: str = "",
    fresh_is_full: bool = False,
    **forms: ConsoleForm,
) -> HttpResponse:
    """Render the account page.

    `forms` contains an invalid `profile`, `password` or `token` form to display. `fresh` is a
    new token, which is displayed once, and `fresh_is_full` is True if it has full access.
    """
    user = entry.projection
    current = request.session.session_key
    context = {
        "name": user.name,
        "profile": profile_form(request, entry),
        "password": OwnPasswordForm(user),
        "token": TokenForm(),
        **forms,
        "fresh": fresh,
        "examples": _examples(full=fresh_is_full),
        "tokens": await sync_to_async(apitokens.list_tokens)(user.name, user.uid),
        "factor_is_on": await has_factor(user),
        "history": await history_of(user.name),
        "sessions": await sync_to_async(browser_sessions.list_sessions)(
            user.name, now(), current=current
        ),
        "others": OTHERS,
        "ports": await sync_to_async(own_ports)(user.name),
        "drafts": await sync_to_async(lambda: [*own_drafts(user.name)])(),
        # Display the lifetime in days only if it is a whole number of days.
        "kubeconfig_days": 0 if settings.KUBECONFIG_HOURS % 24 else settings.KUBECONFIG_HOURS // 24,
        # kubectl sends no token without TLS.
        "console_kubeconfig": KubeconfigForm()
        if settings.GATEWAY_URL.startswith("https://")
        else None,
        "kubeconfig_hours": settings.KUBECONFIG_HOURS,
        "kubeconfig_signer": before(get_runtime().served.version, CERTIFICATE_DURATION),
    }
    return render(request, "accounts/myaccount/account.html", context, status=400 if forms else 200)


def _examples(*, full: bool) -> dict[str, str]:
    """Return commands that use a token in the variable TOKEN, and the configuration of an assistant.
    kube-apiserver accepts only tokens with full access.
    """
    pods = settings.BASE_URL + list_url(HOST, "pods")
    command = "can-i --list" if before(get_runtime().served.version, WHOAMI) else "whoami"
    headers = {"Authorization": "Bearer $TOKEN"}
    server = {"type": "http", "url": f"{settings.BASE_URL}/mcp", "headers": headers}
    return {
        "assistant": json.dumps({"mcpServers": {"quarterdeck": server}}, indent=2),
        "curl": f'curl -H "Authorization: Bearer $TOKEN" "{pods}?format=json"',
        "kubectl": f'kubectl --token="$TOKEN" auth {command}' if full else "",
    }


# API tokens: create one, which is displayed once in the response, or revoke one.


@page("POST", bearer=False)
async def make_token(request: ConsoleRequest) -> HttpResponse:
    entry = own_user(request)
    form, fresh = TokenForm(request.POST), ""
    if form.is_valid():
        async with record_session(request, "create", "api-token") as recording:
            try:
                fresh = await sync_to_async(apitokens.create_token)(
                    holder_of(entry),
                    form.cleaned_data["name"],
                    form.lasts,
                    now(),
                    read_only=form.cleaned_data["scope"] != FULL,
                )
            except apitokens.NameTaken:
                form.add_error("name", _("You already have a token with this name."))
                recording.set_outcome(409, "NameTaken")
            except apitokens.TooMany:
                form.add_error(
                    None, _("You have reached the maximum number of tokens. Revoke a token first.")
                )
                recording.set_outcome(403, "TooManyTokens")
    if not fresh:
        return await account_page(request, entry, token=form)
    await offer_download(request, TOKEN_FILE, [fresh])
    full = form.cleaned_data["scope"] == FULL
    return await account_page(request, entry, fresh=fresh, fresh_is_full=full)


@page("POST", bearer=False)
async def end_token(request: ConsoleRequest) -> HttpResponse:
    """Revoke the token with the ID in the field `token`."""
    name, given = own_name(request), request.POST.get("token", "")
    async with record_session(request, "delete", "api-token") as recording:
        ended = is_id(given) and await sync_to_async(apitokens.revoke_token)(name, given)
        if not ended:
            recording.set_outcome(404, "NotFound")
    done = _("Token revoked.") if ended else ""
    return _redirect_with_message(request, done, _("The token no longer exists."), "tokens")


# Forwarded ports that are open in the browser.


@page("POST", bearer=False)
async def discard_draft(request: ConsoleRequest) -> HttpResponse:
    """Delete the draft with the number in the field `draft`."""
    given = request.POST.get("draft", "")
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 16 else 0
    found = await sync_to_async(delete_draft_of)(own_name(request), number)
    done = _("Draft discarded.") if found else ""
    return _redirect_with_message(request, done, _("The draft no longer exists."), "drafts")


@page("POST", bearer=False)
async def close_port(request: ConsoleRequest) -> HttpResponse:
    """Close the port with the label in the field `port`."""
    given = request.POST.get("port", "")
    own = await sync_to_async(open_ports_of)(own_name(request))
    found = [one for one in own if one.label == given]
    for one in found:
        await close(one, BY_USER)
    done = _("Port closed.") if found else ""
    return _redirect_with_message(request, done, _("The port is no longer open."), "ports")
