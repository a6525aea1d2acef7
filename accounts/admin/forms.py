"""Forms for creating and editing users."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.myaccount.profile import is_address
from accounts.signin.new_passwords import NewPasswordField, new_password_problem
from accounts.users.directory import has_email, trusted_users
from console.kube.gvr import Key
from console.kube.names import is_dns_subdomain
from console.kube.projections import User
from console.ui.forms.forms import CheckField, ConsoleForm, TextField

#: Maximum name length. Names are used as label values, which are shorter than object names.
MAX_NAME = 63
_PROFILE = ("email", "displayName", "description")


def _name_rule() -> str:
    text = _("Use lowercase letters, digits, - and . only, at most %(max)s characters.")
    return text % {"max": MAX_NAME}


class UserForm(ConsoleForm):
    """Form for the existing user `user`, or for a new user."""

    ids = "user-%s"

    def __init__(
        self, data: QueryDict | None = None, *, user: User | None = None, **options: Any
    ) -> None:
        super().__init__(data, **options)
        self._user = user

    @property
    def user_name(self) -> str:
        return self._user.name if self._user else self.cleaned_data.get("name", "")

    @property
    def stored_email(self) -> str:
        return self._user.email if self._user else ""


class ProfileForm(UserForm):
    error_fields = {f"spec.{name}": name for name in _PROFILE}

    email = TextField(label=gettext_lazy("Email"), required=False, widget=forms.EmailInput)
    displayName = TextField(label=gettext_lazy("Display name"), is_optional=True)
    description = TextField(label=gettext_lazy("Description"), is_optional=True)

    def clean_email(self) -> str:
        """Validate the email address. The stored address is accepted unchanged."""
        email: str = self.cleaned_data["email"]
        if email and email != self.stored_email:
            if not is_address(email):
                raise ValidationError(_("Enter a valid email address."))
            if has_email(trusted_users(), email, but=self.user_name):
                raise ValidationError(_("Another user already has this email address."))
        return email


def profile_spec(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return a merge patch of `spec`. Empty fields are removed, except `email`, which is required."""
    texts = {name: found[name] or None for name in ("displayName", "description")}
    return {"email": found["email"], **texts}


class PasswordForm(UserForm):
    password = NewPasswordField(label=gettext_lazy("Password"))
    change = CheckField(
        label=gettext_lazy("Require a new password at the next sign-in"), initial=True
    )

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        email = self.stored_email or self.cleaned_data.get("email", "")
        problem = new_password_problem(password, name=self.user_name, email=email)
        if problem:
            raise ValidationError(problem)
        return password


class NewUserForm(PasswordForm, ProfileForm):
    error_fields = {**ProfileForm.error_fields, "metadata.name": "name"}
    field_order = ("name", *_PROFILE, "password", "change")

    name = TextField(
        label=gettext_lazy("Name"),
        help_text=gettext_lazy(
            "Use lowercase letters, digits, - and . only. The name cannot be changed later."
        ),
        error_messages={"required": lazy(_name_rule, str)()},
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not is_dns_subdomain(name, MAX_NAME):
            raise ValidationError(_name_rule())
        if trusted_users().store.get(Key("", name)) is not None:
            raise ValidationError(_("A user with this name already exists."))
        return name
