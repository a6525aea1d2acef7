"""What a password must be that somebody chooses here, and putting it into the User.

The rule is KubeSphere's, plus what ASVS 5 asks for (6.2.4, 6.2.11): none that everybody uses, none that
is the own name. The hash is made here, so that kube-apiserver and etcd never see the password.
"""

from datetime import datetime
from functools import lru_cache

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.oauth.holders import UNINITIALIZED
from accounts.signin.passwords import (
    MAX_BYTES,
    MAX_LENGTH,
    MIN_LENGTH,
    hash_password,
    password_problem,
)
from accounts.users.states import (
    APPLIED_ANNOTATION,
    CHANGED_ANNOTATION,
    Manifest,
    patch_user,
    time_text,
)
from console.kube.client import ObjectClient
from console.ui.forms import SecretField


class NewPasswordField(SecretField):
    """One that somebody chooses here; `new_password_problem` says what is wrong with it."""

    def __init__(self, *, label: Promise) -> None:
        hint = gettext_lazy(
            "8 to 64 characters, with a lower-case letter, an upper-case letter and a digit."
        )
        super().__init__(label=label, help_text=hint, autocomplete="new-password")


def new_password_problem(password: str, *, name: str, email: str = "") -> str:
    """Why somebody called `name` cannot have this password, in the reader's language; "" if they can."""
    words = {"min": MIN_LENGTH, "max": MAX_LENGTH, "bytes": MAX_BYTES}
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        return _("Use %(min)s to %(max)s characters.") % words
    if len(password.encode("utf-8", "replace")) > MAX_BYTES:
        return (
            _("Use at most %(bytes)s bytes; letters with accents and Han count more than one.")
            % words
        )
    if password_problem(password):
        return _("Use a lower-case letter, an upper-case letter and a digit.")
    if _is_personal(password, name, email):
        return _("This is too much like the name of the user.")
    if _is_common(password):
        return _("This is one of the passwords that many people use.")
    return ""


def busy_text() -> str:
    """To whoever sees `TooBusy`."""
    return _("Too many passwords are being checked at this moment. Try again soon.")


async def set_password(
    client: ObjectClient,
    user: Manifest,
    password: str,
    now: datetime,
    *,
    must_change: bool,
    audit_id: str,
) -> Manifest:
    """The user as it is then. `must_change`: at the next login. Raises `ApiError` and `TooBusy`."""
    annotations = {
        CHANGED_ANNOTATION: time_text(now),
        UNINITIALIZED: "true" if must_change else None,
        APPLIED_ANNOTATION: None,
    }
    hashed = await hash_password(password)
    patch = {"spec": {"password": hashed}, "metadata": {"annotations": annotations}}
    return await patch_user(client, user, patch, audit_id=audit_id)


def _is_personal(password: str, name: str, email: str) -> bool:
    lower = password.casefold()
    parts = {name.casefold(), email.casefold(), email.partition("@")[0].casefold()}
    return any(lower == part or (len(part) >= 4 and part in lower) for part in parts if part)


def _is_common(password: str) -> bool:
    try:
        _common().validate(password)
    except ValidationError:
        return True
    return False


@lru_cache(1)
def _common() -> CommonPasswordValidator:
    """Django's list of 20,000, read once."""
    return CommonPasswordValidator()
