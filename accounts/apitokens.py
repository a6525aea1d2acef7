"""Personal API tokens. Each token has a name, an expiry date and a scope, and is displayed once.

Tokens are random and stored as hashes. A token is bound to a User's uid and password credential
(see `accounts.oauth.holders`), so it becomes invalid when the user is deleted or changes the
password. It is also deleted when an administrator revokes the user's sessions and tokens. A
token cannot create other tokens and cannot open the account pages.

A read-only token is rejected for every method that can change something. The console never
confirms a read-only token to kube-apiserver (TokenReview), because kube-apiserver cannot enforce
the restriction.

Synchronous: call these functions from a worker thread, not from the event loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import NamedToken
from accounts.oauth.grants import digest, random_token
from accounts.oauth.holders import Holder, find_holder
from console.ui.forms.forms import ChoiceField, ConsoleForm, TextField

#: Prefix of every token, which lets secret scanners recognize it.
PREFIX = "qdt_"
MOST = 50
#: `used` is updated at most this often.
_USED_EVERY = timedelta(minutes=1)
MAX_NAME = 64
#: Selectable lifetimes in days. Every token expires.
DAYS = (7, 30, 90, 365)
READ, FULL = "read", "full"


class NameTaken(Exception):
    """The user already has a token with this name."""


class TooMany(Exception):
    """The user has reached the maximum number of tokens."""


@dataclass(frozen=True, slots=True)
class ValidToken:
    holder: Holder
    read_only: bool


def create_token(
    holder: Holder, name: str, lasts: timedelta, now: datetime, *, read_only: bool
) -> str:
    """Create a token and return its value, which cannot be retrieved again.

    Raise `NameTaken` or `TooMany`.
    """
    user, token = holder.user, PREFIX + random_token()
    NamedToken.objects.filter(user=user.name).exclude(uid=user.uid).delete()
    NamedToken.objects.filter(user=user.name, expires__lte=now).delete()
    if NamedToken.objects.filter(user=user.name).count() >= MOST:
        raise TooMany
    try:
        with transaction.atomic():
            NamedToken.objects.create(
                digest=digest(token),
                user=user.name,
                uid=user.uid,
                credential=holder.credential,
                name=name,
                read_only=read_only,
                created=now,
                expires=now + lasts,
            )
    except IntegrityError as error:
        raise NameTaken from error
    return token


def find_token(token: str, now: datetime) -> ValidToken | None:
    """Return the holder and scope of a valid token, or None. Raise `UsersNotCached`."""
    row = NamedToken.objects.filter(digest=digest(token), expires__gt=now).first()
    holder = find_holder(row.user, row.uid, row.credential) if row is not None else None
    if row is None or holder is None:
        return None
    rows = NamedToken.objects.filter(pk=row.pk)
    if row.used is None or now - row.used >= _USED_EVERY:
        rows.filter(Q(used=None) | Q(used__lt=now)).update(used=now)
    return ValidToken(holder, row.read_only)


def list_tokens(user: str, uid: str) -> Sequence[NamedToken]:
    """Return the user's tokens, newest first, including expired ones."""
    return list(NamedToken.objects.filter(user=user, uid=uid).order_by("-created"))


def revoke_token(user: str, id: str) -> bool:
    """Delete a token. Return False if the user has no token with this ID (a UUID)."""
    return NamedToken.objects.filter(user=user, id=id).delete()[0] > 0


def revoke_all_tokens(user: str) -> int:
    return NamedToken.objects.filter(user=user).delete()[0]


def discard_expired(now: datetime, kept: timedelta = timedelta(days=7)) -> None:
    """Delete tokens that expired longer than `kept` ago.

    Recently expired tokens stay in the list so that users can see why a script stopped working.
    """
    NamedToken.objects.filter(expires__lte=now - kept).delete()


# Forms for creating API tokens.


class TokenForm(ConsoleForm):
    ids = "token-%s"

    name = TextField(
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("The purpose of the token."),
        max_length=MAX_NAME,
        error_messages={"required": gettext_lazy("Enter a name.")},
    )
    days = ChoiceField(
        label=gettext_lazy("Expires in"),
        choices=lambda: [(str(n), ngettext("%(n)s day", "%(n)s days", n) % {"n": n}) for n in DAYS],
        initial="30",
    )
    scope = ChoiceField(
        label=gettext_lazy("Scope"),
        choices=((READ, gettext_lazy("Read only")), (FULL, gettext_lazy("Full access"))),
    )

    @property
    def lasts(self) -> timedelta:
        return timedelta(days=int(self.cleaned_data["days"]))


class KubeconfigForm(TokenForm):
    """Form for creating an API token in a kubeconfig. The console chooses the name."""

    ids = "kubeconfig-%s"
    name = None  # type: ignore[assignment]
