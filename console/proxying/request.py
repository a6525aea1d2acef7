"""A raw request to the host of an open port."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings
from django.utils.translation import get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header

from console.views.guard import SAFE_METHODS, is_navigation


def is_allowed(method: str, headers: Mapping[str, str], origin: str) -> bool:
    """Return True if the request may be forwarded.

    `headers`: by lowercase name. `origin`: the origin of the requested host.
    """
    site, given = headers.get("sec-fetch-site"), headers.get("origin")
    if given is not None and given != origin:
        return False
    if method not in SAFE_METHODS:
        # Browsers that don't send `Sec-Fetch-Site` send `Origin` instead.
        return site == "same-origin" if site is not None else given == origin
    return site in (None, "same-origin", "none") or is_navigation(headers)


Scope = dict[str, Any]


@dataclass(frozen=True)
class ProxyRequest:
    """An ASGI request. `raw_path` and `query` are not decoded."""

    method: str
    raw_path: bytes
    query: bytes
    raw_headers: Sequence[tuple[bytes, bytes]]
    scope: Scope

    @classmethod
    def of(cls, scope: Scope) -> "ProxyRequest":
        method = str(scope.get("method", "GET")).upper()
        raw_path, query = scope["raw_path"], scope.get("query_string", b"")
        return cls(method, raw_path, query, scope["headers"], scope)

    @cached_property
    def headers(self) -> dict[str, str]:
        """Headers by lowercase name. The last value wins if a header is repeated."""
        pairs = self.raw_headers
        return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}

    @property
    def is_page(self) -> bool:
        """True if the client accepts HTML."""
        return "text/html" in self.headers.get("accept", "")

    @property
    def lang(self) -> str:
        for code, _quality in parse_accept_lang_header(self.headers.get("accept-language", "")):
            try:
                return get_supported_language_variant(code)
            except LookupError:
                continue
        return settings.LANGUAGE_CODE


def host_of(scope: Scope) -> str:
    """Return the `Host` header, or "" if it is missing or repeated."""
    found = [value for name, value in scope.get("headers", ()) if name == b"host"]
    return found[0].decode("latin-1") if len(found) == 1 else ""
