"""Password policy for passwords chosen in the console, and storing them in the User.

The policy is KubeSphere's, with two additions from ASVS 5 (6.2.4, 6.2.11): no common passwords,
and no passwords that contain the user's name. Passwords are hashed here, so kube-apiserver and
etcd never receive the plain password.
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
    patch_user,
    time_text,
)
from console.kube.apply import Manifest
from console.kube.clients import ObjectClient
from console.ui.forms.forms import SecretField


class NewPasswordField(SecretField):
    """Form field for a new password; validate it with `new_password_problem`."""

    def __init__(self, *, label: Promise) -> None:
        hint = gettext_lazy(
            "Use 8 to 64 characters, including a lowercase letter, an uppercase letter and a digit."
        )
        super().__init__(label=label, help_text=hint, autocomplete="new-password")


def new_password_problem(password: str, *, name: str, email: str = "") -> str:
    """Return a translated message if the user `name` can't use this password, or ""."""
    words = {"min": MIN_LENGTH, "max": MAX_LENGTH, "bytes": MAX_BYTES}
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        return _("Use %(min)s to %(max)s characters.") % words
    if len(password.encode("utf-8", "replace")) > MAX_BYTES:
        return (
            _(
                "Use at most %(bytes)s bytes. Accented letters and Chinese characters count as more "
                "than one byte."
            )
            % words
        )
    if password_problem(password):
        return _("Use at least one lowercase letter, one uppercase letter and one digit.")
    if _is_personal(password, name, email):
        return _("The password is too similar to the username or email address.")
    try:
        _common().validate(password)
    except ValidationError:
        return _("This password is too common.")
    return ""


def busy_text() -> str:
    """Return the message to display for `TooBusy`."""
    return _("Too many passwords are being checked. Try again in a few seconds.")


async def set_password(
    client: ObjectClient,
    user: Manifest,
    password: str,
    now: datetime,
    *,
    must_change: bool,
    audit_id: str,
) -> Manifest:
    """Hash and store a new password and return the updated user.

    If `must_change` is True, the user must change the password at the next sign-in. Raise
    `ApiError` or `TooBusy`.
    """
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


@lru_cache(1)
def _common() -> CommonPasswordValidator:
    """Load Django's list of 20,000 common passwords once."""
    return CommonPasswordValidator()
