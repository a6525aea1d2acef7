"""Parser for messages that browsers send on a live websocket.

`{"subscribe": URL, "etag": ETAG, "lang": LANG, "rows": [[KEY, SIGNATURE], …]}` subscribes to a
list, a detail page, or a page that declares the types it depends on. URL is the URL of the open
page. It is resolved by the same URLconf and parsed like a page request, so a websocket can't
show more than a page. `rows` contains the rows or parts that the browser shows, so that only
changes are sent; without `rows` a browser with an outdated etag must fetch the page. `{"pause":
true}` cancels the subscription.
"""

from dataclasses import dataclass

import msgspec
from django.conf import settings
from django.utils.translation import get_supported_language_variant
from django.utils.translation import gettext as _

from console.live.view import ClientState
from console.ui.navigation.page_routes import DetailRoute, ListRoute, PageRoute, resolve_page


class BadMessage(Exception):
    """Invalid message. `code` is an HTTP status, `str()` the error text for users."""

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
    """Parsed subscription. `lang` is a language of `settings.LANGUAGES`."""

    place: ListRoute | DetailRoute | PageRoute
    known: ClientState
    lang: str


def read_message(text: str) -> Subscription | None:
    """Parse a message. Return None for a pause. Raise `BadMessage` if the text is invalid."""
    try:
        message = _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadMessage(400, _("The message is not a valid subscription.")) from error
    if message.pause:
        if message != _PAUSE:
            raise BadMessage(400, _("The message is not a valid subscription."))
        return None
    place = resolve_page(message.subscribe)
    if place is None:
        raise BadMessage(404, _("The page at this address has no live updates."))
    if isinstance(place, ListRoute) and place.spec.errors:
        first = place.spec.errors[0]
        raise BadMessage(400, f"{first.field}: {first.message}")
    known = ClientState(message.etag, None if message.rows is None else dict(message.rows))
    return Subscription(place, known, language(message.lang))


def language(tag: str) -> str:
    """Return the supported language for an HTML `lang` tag, or the default language."""
    try:
        return get_supported_language_variant(tag.lower())
    except (LookupError, ValueError):
        return settings.LANGUAGE_CODE
