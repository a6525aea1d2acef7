"""Language preference of a User (`spec.lang`, as in KubeSphere), applied to the browser at sign-in."""

from django.conf import settings
from django.http import HttpResponse

from accounts.users.directory import users
from console.kube.gvr import Key
from console.views.preferences import set_preference

#: KubeSphere's language code by ours.
LANGUAGES = {"en": "en", "zh-hans": "zh"}
_OURS = {theirs: ours for ours, theirs in LANGUAGES.items()}


def set_user_language(response: HttpResponse, name: str) -> None:
    """Set the language cookie if the user has a language preference. Raise `UsersNotCached`."""
    entry = users().store.get(Key("", name))
    spec = (entry.original().get("spec") or {}) if entry is not None else {}
    language = _OURS.get(str(spec.get("lang") or ""))
    if language is not None:
        set_preference(response, settings.LANGUAGE_COOKIE_NAME, language)
