"""What a user says about themselves: address, display name, language."""

import re
from typing import Any

from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.directory import has_address, users
from accounts.forms import Field, Form
from accounts.language import LANGUAGES
from accounts.own.person import spec_of, write_own
from accounts.writing import Manifest, patch_user
from console.audit.trail import AuditUnavailable, Recording
from console.kube.client import ConsoleClient
from console.kube.errors import ApiError
from console.kube.projections import User
from console.kube.store import Entry
from console.ui.http import ConsoleRequest
from console.ui.shell import theme_of
from console.views import problems

MAX_EMAIL = 254
_EMAIL = re.compile(r"[!-?A-~]+@[A-Za-z0-9.-]+")


def is_address(text: str) -> bool:
    """One @ and no more than it takes to be somebody's address; whether it is theirs nobody knows."""
    return len(text) <= MAX_EMAIL and _EMAIL.fullmatch(text) is not None


def profile_form(request: ConsoleRequest, entry: Entry[User]) -> Form:
    spec = spec_of(entry)
    themes = (("light", _("Light")), ("dark", _("Dark")), ("auto", _("As the system")))
    return Form(
        [
            Field("email", _("Email"), "email", str(spec.get("email") or ""), autocomplete="email"),
            Field(
                "displayName",
                _("Display name"),
                value=str(spec.get("displayName") or ""),
                autocomplete="name",
            ),
            Field(
                "language",
                _("Language"),
                "select",
                get_language() or settings.LANGUAGE_CODE,
                choices=(("en", "English"), ("zh-hans", "中文")),
            ),
            Field("theme", _("Theme"), "select", theme_of(request), choices=themes),
        ],
        causes={"spec.email": "email", "spec.displayName": "displayName", "spec.lang": "language"},
    )


async def change_profile(request: ConsoleRequest, entry: Entry[User], form: Form) -> bool:
    """True if it is done; else the form says why not. Raises `UsersUnknown`."""
    form.read(request)
    before, email = entry.projection.email, form["email"]
    # One sentence for both, so that nobody learns here which addresses others have.
    if email != before and email and not _may_have(email, entry.key.name):
        form.refuse("email", _("This address cannot be used."))
    if not form.is_right:
        return False
    spec = {
        "email": email,
        "displayName": form["displayName"] or None,
        "lang": LANGUAGES.get(form["language"]),
    }
    known = spec_of(entry)
    changes = {name: value for name, value in spec.items() if known.get(name) != value}
    try:
        if changes:
            await write_own(request, "profile", _writing(changes))
    except (ApiError, AuditUnavailable) as error:
        problems.apply(error, form)
    return form.is_right


def _may_have(email: str, name: str) -> bool:
    return is_address(email) and not has_address(users(), email, but=name)


def _writing(changes: dict[str, Any]) -> Any:
    async def write(client: ConsoleClient, user: Manifest, recording: Recording) -> Manifest:
        return await patch_user(client, user, {"spec": changes}, audit_id=recording.audit_id)

    return write
