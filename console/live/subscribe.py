"""What a browser may say on a live socket, and what it means.

`{"subscribe": URL, "etag": ETAG, "lang": LANG, "rows": [[KEY, SIGNATURE], …]}` follows a list, a
detail, or a page that says what it is made of. The URL is the open page's own; it goes through the same
URLconf and parser as the page, so a socket can show nothing that no page can. `rows` is what the
browser shows, rows or the parts of a detail, so that it can be brought up to date; without it a browser
whose etag is old has to fetch the page. `{"pause": true}` follows nothing until the next subscription.
"""

from dataclasses import dataclass

import msgspec
from django.conf import settings
from django.utils.translation import get_supported_language_variant
from django.utils.translation import gettext as _

from console.live.view import Known
from console.ui.places import DetailPlace, ListPlace, PagePlace, find_place


class BadMessage(Exception):
    """A message that means nothing. `code` is an HTTP status, `str()` a sentence."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        super().__init__(message)


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    subscribe: str = ""
    etag: str = ""
    lang: str = ""
    rows: list[tuple[str, str]] | None = None
    pause: bool = False


_PAUSE = _Message(pause=True)
_decoder = msgspec.json.Decoder(_Message)


@dataclass(frozen=True, slots=True)
class Subscription:
    """`lang`: a language of `settings.LANGUAGES`."""

    place: ListPlace | DetailPlace | PagePlace
    known: Known
    lang: str


def read_message(text: str) -> Subscription | None:
    """None: a pause. Raises `BadMessage`, and nothing else, whatever `text` is."""
    try:
        message = _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadMessage(400, _("The message is not a subscription.")) from error
    if message.pause:
        if message != _PAUSE:
            raise BadMessage(400, _("The message is not a subscription."))
        return None
    place = find_place(message.subscribe)
    if place is None:
        raise BadMessage(404, _("There is nothing to follow at this address."))
    if isinstance(place, ListPlace) and place.spec.errors:
        first = place.spec.errors[0]
        raise BadMessage(400, f"{first.field}: {first.message}")
    known = Known(message.etag, None if message.rows is None else dict(message.rows))
    return Subscription(place, known, language(message.lang))


def language(tag: str) -> str:
    """The language of an HTML `lang` that the console speaks; its first one for all others."""
    try:
        return get_supported_language_variant(tag.lower())
    except (LookupError, ValueError):
        return settings.LANGUAGE_CODE
