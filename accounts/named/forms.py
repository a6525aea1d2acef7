"""What is asked of whoever makes an API token."""

from datetime import timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.forms import Field, Form

MAX_NAME = 64
#: Days until it ends; there is none for ever.
DAYS = (7, 30, 90, 365)
READ, FULL = "read", "full"


def token_form() -> Form:
    days = [(str(n), ngettext("%(n)s day", "%(n)s days", n) % {"n": n}) for n in DAYS]
    scopes = ((READ, _("Read only")), (FULL, _("Full access")))
    hint = _("What it is for.")
    return Form(
        [
            Field("name", _("Name"), hint=hint, required=True),
            Field("days", _("Expires in"), "select", "30", choices=days),
            Field("scope", _("Scope"), "select", READ, choices=scopes),
        ]
    )


def check(form: Form) -> None:
    if not form["name"]:
        form.refuse("name", _("Give it a name."))
    elif len(form["name"]) > MAX_NAME:
        form.refuse("name", _("Use at most %(max)s characters.") % {"max": MAX_NAME})


def lasts(form: Form) -> timedelta:
    return timedelta(days=int(form["days"]))
