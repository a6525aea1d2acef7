"""The forms in which an administrator says who somebody is."""

import re
from typing import Any

from django.utils.translation import gettext as _

from accounts.directory import has_address, trusted_users
from accounts.forms import Field, Form
from accounts.new_passwords import new_password_problem
from accounts.own.profile import is_address
from console.kube.gvr import Key

#: Of names: they become labels, which are shorter than names may be.
MAX_NAME = 63
#: The fields of the profile, by their paths in a User.
CAUSES = {
    "spec.email": "email",
    "spec.displayName": "displayName",
    "spec.description": "description",
}
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def name_field() -> Field:
    hint = _("Lower-case letters, digits, - and .; it cannot be changed later.")
    return Field("name", _("Name"), hint=hint, required=True)


def profile_fields(spec: dict[str, Any] | None = None) -> list[Field]:
    found = spec or {}
    return [
        Field("email", _("Email"), "email", str(found.get("email") or "")),
        Field("displayName", _("Display name"), value=str(found.get("displayName") or "")),
        Field("description", _("Description"), value=str(found.get("description") or "")),
    ]


def password_fields() -> list[Field]:
    hint = _("8 to 64 characters, with a lower-case letter, an upper-case letter and a digit.")
    return [
        Field(
            "password",
            _("Password"),
            "password",
            hint=hint,
            autocomplete="new-password",
            required=True,
        ),
        Field("change", _("Must change at the next login"), "checkbox", "on"),
    ]


def check_name(form: Form) -> None:
    name = form["name"]
    if len(name) > MAX_NAME or not _NAME.fullmatch(name):
        text = _("Use lower-case letters, digits, - and ., at most %(max)s characters.")
        form.refuse("name", text % {"max": MAX_NAME})
    elif trusted_users().store.get(Key("", name)) is not None:
        form.refuse("name", _("There is a user of this name already."))


def check_email(form: Form, *, name: str, before: str = "") -> None:
    """An address that was there before may stay as it is."""
    email = form["email"]
    if not email or email == before:
        return
    if not is_address(email):
        form.refuse("email", _("This is not an email address."))
    elif has_address(trusted_users(), email, but=name):
        form.refuse("email", _("Another user has this address."))


def check_password(form: Form, *, name: str, email: str) -> None:
    form.refuse("password", new_password_problem(form["password"], name=name, email=email))


def spec_of(form: Form) -> dict[str, Any]:
    """The profile as a merge patch of `spec`: what is empty goes, but the address, which is required."""
    texts = {name: form[name] or None for name in ("displayName", "description")}
    return {"email": form["email"], **texts}
