"""The `provider` part of an entry of `identityProviders`, read strictly.

Unknown fields are left alone: KubeSphere's configuration has some that mean nothing here. Every
ValueError names the field and never its value, which may be a secret.
"""

import base64
import binascii
import ssl
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from accounts.oauth.clients import uri_problem

MAX_TEXT = 4096
#: An authority's certificates.
MAX_PEM = 256 * 1024


class Fields:
    """`callbacks`: the addresses of this console that a provider may send browsers back to, the first
    of them where none is said."""

    def __init__(self, raw: Mapping[str, Any], callbacks: tuple[str, ...]) -> None:
        self._raw = raw
        self._callbacks = callbacks

    def text(self, name: str, default: str = "", *, longest: int = MAX_TEXT) -> str:
        value = self._raw.get(name)
        if value is None or value == "":
            return default
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ValueError(f"{name} is not a text")
        text = str(value)
        if len(text) > longest or "\0" in text:
            raise ValueError(f"{name} is too long")
        return text

    def required(self, name: str) -> str:
        found = self.text(name)
        if not found:
            raise ValueError(f"{name} is missing")
        return found

    def flag(self, name: str) -> bool:
        value = self._raw.get(name)
        if value not in (None, True, False):
            raise ValueError(f"{name} is true or false")
        return value is True

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._raw.get(name) or []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ValueError(f"{name} is a list of texts")
        return tuple(value)

    def number(self, name: str, default: int) -> int:
        value = self._raw.get(name)
        if value is None or value == 0:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 3_600_000:
            raise ValueError(f"{name} is a number")
        return value

    def below(self, name: str) -> "Fields":
        value = self._raw.get(name) or {}
        if not isinstance(value, dict):
            raise ValueError(f"{name} is a mapping")
        return Fields(value, self._callbacks)

    def address(self, name: str, default: str = "") -> str:
        """https, or http to this machine itself; without a slash at the end."""
        found = self.text(name, default)
        problem = url_problem(found) if found else ""
        if problem:
            raise ValueError(f"{name}: {problem}")
        return found.rstrip("/")

    def required_address(self, name: str) -> str:
        self.required(name)
        return self.address(name)

    def callback(self) -> str:
        found = self.text("redirectURL", self._callbacks[0])
        if found not in self._callbacks:
            raise ValueError("redirectURL is one of " + ", ".join(self._callbacks))
        return found

    def tls(self) -> ssl.SSLContext:
        """Checks the other side's certificate, with `rootCA` (a file) or `rootCAData` (PEM in base64)
        if either is there."""
        return tls_context(self._authorities(), self.flag("insecureSkipVerify"))

    def _authorities(self) -> str:
        data, file = self.text("rootCAData", longest=2 * MAX_PEM), self.text("rootCA")
        try:
            if data:
                return base64.b64decode(data, validate=True).decode("ascii")
            if file:
                with Path(file).open("rb") as opened:
                    return opened.read(MAX_PEM).decode("ascii")
        except (OSError, binascii.Error, UnicodeDecodeError) as error:
            raise ValueError("rootCA or rootCAData cannot be read") from error
        return ""


def url_problem(text: str) -> str:
    """Why nothing is fetched from this address, or ""."""
    try:
        return uri_problem(text)
    except ValueError:
        return "it cannot be read"


@lru_cache(maxsize=64)
def tls_context(authorities: str, insecure: bool) -> ssl.SSLContext:
    """Made once: reading the authorities of the system takes many milliseconds. Raises ValueError."""
    try:
        context = ssl.create_default_context(cadata=authorities or None)
    except ssl.SSLError as error:
        raise ValueError("rootCA or rootCAData has no certificates") from error
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
