"""Validation of the URL to open after sign-in."""

from urllib.parse import unquote, urlsplit

from django.urls import Resolver404, resolve

from accounts.public import is_public

START = "/"
MAX_LENGTH = 2048


def safe_next_url(given: str) -> str:
    """Return `given` if it is a path in the URLconf, with or without a query, else the start page.

    Browsers treat `\\` as `/` and drop tabs and line breaks. URLs with such characters are
    rejected, so that the remaining URLs have only one interpretation.
    """
    if len(given) > MAX_LENGTH or not given.startswith("/") or not given.isascii():
        return START
    if not _is_plain(given) or not _is_plain(path := unquote(urlsplit(given).path)):
        return START
    try:
        match = resolve(path)
    except Resolver404:
        return START
    # Public views, such as the sign-in page and views for form posts, are not valid destinations.
    return START if is_public(match) else given


def _is_plain(text: str) -> bool:
    return text.isprintable() and "\\" not in text and " " not in text and not text.startswith("//")
