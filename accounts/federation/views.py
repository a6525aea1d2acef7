"""Redirect to an identity provider, and the callback."""

import logging
import secrets
from collections.abc import Mapping
from functools import wraps

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from accounts.federation import onetime
from accounts.federation.backchannel import callback_logout
from accounts.federation.signin import View, handle_errors, reject_sign_in, sign_in_person
from accounts.providers.base import (
    ProviderAttempt,
    ProviderError,
    RedirectProvider,
    Unreachable,
)
from accounts.providers.options import Entry, read_current_providers
from accounts.signin.next_url import safe_next_url
from accounts.time import now

log = logging.getLogger(__name__)

#: Parameters that only a provider's answer contains. KubeSphere uses the same URL to start a
#: sign-in and as the callback.
_ANSWERS = frozenset({"code", "error", "ticket", "state"})
_STATE = "state"


def also_logout(view: View) -> View:
    """Decorate a callback view to also accept logout notifications by POST.

    Such requests have no cookie and no CSRF token; the form's content authenticates them.
    """

    @csrf_exempt
    @wraps(view)
    async def either(request: HttpRequest, name: str) -> HttpResponse:
        return await (callback_logout if request.method == "POST" else view)(request, name)

    return either


@also_logout
@require_GET
@handle_errors
async def landing(request: HttpRequest, name: str) -> HttpResponse:
    entry, provider = await _found(name)
    way = _back if _ANSWERS & request.GET.keys() else _out
    return await way(request, entry, provider)


@also_logout
@require_GET
@handle_errors
async def callback(request: HttpRequest, name: str) -> HttpResponse:
    return await _back(request, *await _found(name))


async def _found(name: str) -> tuple[Entry, RedirectProvider]:
    found = (await read_current_providers()).entries.get(name)
    if found is None or not isinstance(found.provider, RedirectProvider):
        raise Http404
    return found, found.provider


async def _out(request: HttpRequest, entry: Entry, provider: RedirectProvider) -> HttpResponse:
    next_url = safe_next_url(request.GET.get("next", ""))
    state, nonce, verifier = (secrets.token_urlsafe(32) for _each in range(3))
    attempt = ProviderAttempt(state, nonce, verifier, provider.callback)
    try:
        where = await provider.begin(attempt)
    except Unreachable as error:
        log.error("Identity provider %s: %s", entry.name, error)
        return await reject_sign_in(request, entry, 503, error.reason, next_url=next_url)
    response = HttpResponseRedirect(where)
    content = {
        "provider": entry.name,
        "state": attempt.state,
        "nonce": attempt.nonce,
        "verifier": attempt.verifier,
        "next": next_url,
    }
    onetime.set_cookie(response, onetime.START, content)
    return response


async def _back(request: HttpRequest, entry: Entry, provider: RedirectProvider) -> HttpResponse:
    """Process the callback. The cookie is always dropped, so a sign-in can be completed only once."""
    response = await _finish(request, entry, provider)
    onetime.delete_cookie(response, onetime.START)
    return response


async def _finish(request: HttpRequest, entry: Entry, provider: RedirectProvider) -> HttpResponse:
    answer = _answer(request)
    begun = onetime.read_cookie(request, onetime.START)
    if answer is None or begun is None or begun["provider"] != entry.name:
        return await reject_sign_in(request, entry, 400, "NotBegunHere")
    next_url = safe_next_url(begun["next"])
    if not constant_time_compare(answer.get("state", ""), begun["state"]):
        return await reject_sign_in(request, entry, 400, "WrongState")
    moment = now()
    # Mark the state as used before contacting the provider, so that only one of two requests with
    # the same state continues.
    if not await sync_to_async(onetime.use)(
        _STATE, begun["state"], moment, moment + onetime.LIFETIME
    ):
        return await reject_sign_in(request, entry, 400, "StateReused")
    attempt = ProviderAttempt(begun["state"], begun["nonce"], begun["verifier"], provider.callback)
    try:
        person = await provider.finish(attempt, answer)
    except Unreachable as error:
        log.error("Identity provider %s: %s", entry.name, error)
        return await reject_sign_in(request, entry, 503, error.reason, next_url=next_url)
    except ProviderError as error:
        log.warning("%s: sign-in rejected: %s", entry.name, error)
        return await reject_sign_in(request, entry, 400, error.reason)
    return await sign_in_person(request, entry, person, next_url)


def _answer(request: HttpRequest) -> Mapping[str, str] | None:
    """Return the callback's parameters, or None if a parameter is repeated."""
    found = dict(request.GET.lists())
    if any(len(values) != 1 for values in found.values()):
        return None
    return {name: str(values[0]) for name, values in found.items()}
