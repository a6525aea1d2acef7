"""API tokens that people make for themselves: each with a name, an end and a scope, shown once.

A token is random and kept as a hash. It belongs to one User, by uid, and to the password of then, like
every token (`accounts.oauth.holders`), so it ends with either; and it ends when an administrator ends all
that the user has. It is no sign-in: it makes no other tokens, and does not open the own account.

A token that only reads is refused with every method that could change something, and is never vouched
for to kube-apiserver, which could not hold it to that.

Synchronous: call it off the loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import NamedToken
from accounts.oauth.holders import Holder, find_holder
from accounts.oauth.register import digest, random_token
from console.ui.forms import ChoiceField, ConsoleForm, TextField

#: What every token begins with, so that it is known as ours wherever it turns up.
PREFIX = "qdt_"
MOST = 50
#: Use is written down at most this often.
_USED_EVERY = timedelta(minutes=1)
MAX_NAME = 64
#: Days until it ends; there is none for ever.
DAYS = (7, 30, 90, 365)
READ, FULL = "read", "full"


class NameTaken(Exception):
    """The user has a token of this name."""


class TooMany(Exception):
    """The user has as many tokens as one may have."""


@dataclass(frozen=True, slots=True)
class FoundToken:
    holder: Holder
    read_only: bool


def is_one(token: str) -> bool:
    """True for what can only be an API token, whether or not there is such a one."""
    return token.startswith(PREFIX)


def make(holder: Holder, name: str, lasts: timedelta, now: datetime, *, read_only: bool) -> str:
    """The token, which nobody can get a second time. Raises `NameTaken` and `TooMany`."""
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


def find(token: str, now: datetime) -> FoundToken | None:
    """Whose it is, if it counts. Raises `UsersUnknown`."""
    row = NamedToken.objects.filter(digest=digest(token), expires__gt=now).first()
    holder = find_holder(row.user, row.uid, row.credential) if row is not None else None
    if row is None or holder is None:
        return None
    rows = NamedToken.objects.filter(pk=row.pk)
    if row.used is None or now - row.used >= _USED_EVERY:
        rows.filter(Q(used=None) | Q(used__lt=now)).update(used=now)
    return FoundToken(holder, row.read_only)


def listed(user: str, uid: str) -> Sequence[NamedToken]:
    """Also those that have expired: the newest first."""
    return list(NamedToken.objects.filter(user=user, uid=uid).order_by("-created"))


def end_one(user: str, id: str) -> bool:
    """False if the user has none of this id, which is a UUID."""
    return NamedToken.objects.filter(user=user, id=id).delete()[0] > 0


def end_all(user: str) -> int:
    return NamedToken.objects.filter(user=user).delete()[0]


def discard_expired(now: datetime, kept: timedelta = timedelta(days=7)) -> None:
    """Expired ones are listed for a while, so that people see why something stopped."""
    NamedToken.objects.filter(expires__lte=now - kept).delete()


# What is asked of whoever makes an API token.


def _days() -> list[tuple[str, str]]:
    return [(str(n), ngettext("%(n)s day", "%(n)s days", n) % {"n": n}) for n in DAYS]


class TokenForm(ConsoleForm):
    ids = "token-%s"

    name = TextField(
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("What it is for."),
        max_length=MAX_NAME,
        error_messages={"required": gettext_lazy("Give it a name.")},
    )
    days = ChoiceField(
        label=gettext_lazy("Expires in"),
        choices=_days,
        initial="30",
    )
    scope = ChoiceField(
        label=gettext_lazy("Scope"),
        choices=((READ, gettext_lazy("Read only")), (FULL, gettext_lazy("Full access"))),
    )

    @property
    def lasts(self) -> timedelta:
        return timedelta(days=int(self.cleaned_data["days"]))
