"""What is asked of whoever makes an API token."""

from datetime import timedelta

from django.utils.translation import gettext_lazy, ngettext

from console.ui.forms import ChoiceField, ConsoleForm, TextField

MAX_NAME = 64
#: Days until it ends; there is none for ever.
DAYS = (7, 30, 90, 365)
READ, FULL = "read", "full"


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
