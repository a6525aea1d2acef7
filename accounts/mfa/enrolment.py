"""Setup of a second factor.

The encrypted secret is stored in the session until a correct code proves that the authenticator
app has it. Only then is the factor enabled.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.mfa import factors, totp
from accounts.oauth import grants as tokens
from accounts.protection import attempts, browser_sessions
from accounts.protection.revocation import notify_replicas
from accounts.signin import sessions
from accounts.signin.login_page import too_many
from accounts.time import now
from console.audit.trail import AuditEntry, record_request
from console.encryption import DecryptionError, decrypt, encrypt
from console.kube.gvr import USERS
from console.kube.host_runtime import get_runtime
from console.kube.projections import User
from console.ui.forms.forms import CodeField, ConsoleForm

#: Session key.
_WAITING = "factor_secret"


@dataclass(frozen=True, slots=True)
class DisplayedSecret:
    """Secret as displayed: `qr` is an image URL, `text` is for users who can't scan it."""

    value: bytes
    qr: str
    text: str


class CodeForm(ConsoleForm):
    """Form for a code of an enabled second factor."""

    ids = "factor-%s"

    code = CodeField(
        label=gettext_lazy("Code"),
        help_text=gettext_lazy(
            "Enter a code from your authenticator app, or one of your recovery codes."
        ),
    )


class EnrolmentForm(ConsoleForm):
    """Form for the first code during setup."""

    ids = "factor-%s"

    code = CodeField(label=gettext_lazy("Code from the app"), keyboard="numeric")


async def secret_for(request: HttpRequest, user: User) -> DisplayedSecret:
    """Return the secret stored in this session, or create one."""
    secret = _read(await request.session.aget(_WAITING, ""))
    if secret is None:
        secret = totp.new_secret()
        await request.session.aset(_WAITING, encrypt(secret, factors.PURPOSE))
    # Apps list the secret under this issuer, because users can have accounts at several consoles.
    qr = totp.qr_code(secret, user.name, urlsplit(settings.BASE_URL).netloc)
    return DisplayedSecret(secret, qr, totp.manual_entry_text(secret))


async def enable_factor(request: HttpRequest, user: User, form: ConsoleForm) -> list[str]:
    """Enable the second factor and return the recovery codes, which are displayed once.

    If the code is wrong, add an error to the form, which must be valid, and return an empty
    list. All other sessions and all OAuth tokens are revoked. Raise `AuditUnavailable` or
    DatabaseError.
    """
    secret, moment = await secret_for(request, user), now()
    ticket = await attempts.begin_attempt(request, user.name, kind=attempts.CODE)
    if ticket.wait is not None:
        form.add_error(None, too_many(ticket.wait))
        return []
    async with record_factor(request, "create", user) as recording:
        codes = await sync_to_async(factors.enable)(
            user.name, user.uid, secret.value, form.cleaned_data["code"], moment
        )
        if codes is None:
            recording.set_outcome(400, "WrongSecondFactor")
            form.add_error("code", _("Incorrect code. Enter the next code that the app shows."))
            return []
        await sync_to_async(attempts.record_success)(ticket)
        await request.session.apop(_WAITING, "")
        await sync_to_async(browser_sessions.end_all_sessions)(
            user.name, but=request.session.session_key
        )
        await sync_to_async(tokens.end_user)(user.name, "SecondFactorChanged", moment)
        await sessions.complete_sign_in(request.session, moment)
    await notify_replicas(get_runtime().console, user.name, moment)
    return codes


def record_factor(
    request: HttpRequest, verb: str, user: User
) -> AbstractAsyncContextManager[AuditEntry]:
    where = {"name": user.name, "subresource": "second-factor", "actor": user.name}
    return record_request(request, verb, USERS, **where)


def _read(sealed: Any) -> bytes | None:
    try:
        return decrypt(str(sealed), factors.PURPOSE) if sealed else None
    except DecryptionError:
        return None
