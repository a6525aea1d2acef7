"""Profile of the signed-in user: email address, display name, language and theme."""

import re
from functools import partial
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from accounts.myaccount.own_user import spec_of, update_own_user
from accounts.signin.language import LANGUAGES
from accounts.users.directory import has_email, users
from accounts.users.states import patch_user
from console.audit.trail import AuditUnavailable
from console.kube.errors import ApiError
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.core.requests import ConsoleRequest
from console.ui.forms.forms import ChoiceField, ConsoleForm, TextField
from console.ui.navigation.page_frame import theme_of
from console.views import problems

MAX_EMAIL = 254
_EMAIL = re.compile(r"[!-?A-~]+@[A-Za-z0-9.-]+")


def is_address(text: str) -> bool:
    """Return True if the text has the format of an email address."""
    return len(text) <= MAX_EMAIL and _EMAIL.fullmatch(text) is not None


class OwnProfileForm(ConsoleForm):
    ids = "profile-%s"
    error_fields = {
        "spec.email": "email",
        "spec.displayName": "displayName",
        "spec.lang": "language",
    }

    email = TextField(
        label=gettext_lazy("Email"),
        required=False,
        widget=forms.EmailInput,
        autocomplete="email",
    )
    displayName = TextField(label=gettext_lazy("Display name"), required=False, autocomplete="name")
    language = ChoiceField(
        label=gettext_lazy("Language"), choices=(("en", "English"), ("zh-hans", "中文"))
    )
    theme = ChoiceField(
        label=gettext_lazy("Theme"),
        choices=(
            ("light", gettext_lazy("Light")),
            ("dark", gettext_lazy("Dark")),
            ("auto", gettext_lazy("Match system")),
        ),
    )

    def __init__(self, entry: Entry[User], data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        self._user = entry.projection

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        # Same message for both errors, so that the form doesn't reveal other users' addresses.
        if email not in ("", self._user.email) and (
            not is_address(email) or has_email(users(), email, but=self._user.name)
        ):
            raise ValidationError(
                _("This email address cannot be used. Enter another email address.")
            )
        return email


def profile_form(
    request: ConsoleRequest, entry: Entry[User], data: QueryDict | None = None
) -> OwnProfileForm:
    found = {"language": get_language() or settings.LANGUAGE_CODE, "theme": theme_of(request)}
    return OwnProfileForm(entry, data, initial={**spec_of(entry), **found})


async def change_profile(request: ConsoleRequest, entry: Entry[User], form: OwnProfileForm) -> bool:
    """Save the profile. On failure, add an error to the form and return False. Raise
    `UsersNotCached`.
    """
    if not form.is_valid():
        return False
    given = form.cleaned_data
    spec = {
        "email": given["email"],
        "displayName": given["displayName"] or None,
        "lang": LANGUAGES.get(given["language"]),
    }
    known = spec_of(entry)
    changes = {name: value for name, value in spec.items() if known.get(name) != value}
    try:
        if changes:
            await update_own_user(request, "profile", partial(patch_user, patch={"spec": changes}))
    except (ApiError, AuditUnavailable) as error:
        problems.add_form_errors(error, form)
    return form.is_valid()
