"""Where to go after the login: a page of this console, or its start."""

from urllib.parse import unquote, urlsplit

from django.urls import Resolver404, resolve

from accounts.public import is_public

START = "/"
MAX_LENGTH = 2048


def safe_next(given: str) -> str:
    """`given` if it is a path of the URLconf (with or without a query), else the start.

    Browsers read `\\` as `/` and drop tabs and line breaks, so such things are refused rather than
    interpreted: what is left has one meaning.
    """
    if len(given) > MAX_LENGTH or not given.startswith("/") or not given.isascii():
        return START
    path = unquote(urlsplit(given).path) if not given.startswith("//") else ""
    if not _is_plain(given) or not _is_plain(path):
        return START
    try:
        match = resolve(path)
    except Resolver404:
        return START
    # Going back to the login, or to what only a form may address, is no destination.
    return START if is_public(match) else given


def _is_plain(text: str) -> bool:
    return text.isprintable() and "\\" not in text and " " not in text and not text.startswith("//")
