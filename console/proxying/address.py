"""Where ports are opened: `PROXY_BASE_URL`, below which each has a host name of its own.

What a pod answers is foreign: markup, scripts, cookies. On the console's own host, on one above it or on
one below, it would get at the console's cookies or set them.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

#: A label is made by us: 128 bits, so that nobody guesses one.
_LABEL = re.compile(r"[0-9a-f]{32}")
_PART = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
#: Not an address of numbers: its last part has a letter.
_NAME = re.compile(rf"(?=.{{1,180}}\Z)(?=.*[a-z][^.]*\Z)(?:{_PART}\.)+{_PART}")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class ProxyBase:
    """`port` is that of the address, also where it is not written."""

    scheme: str
    name: str
    port: int

    @property
    def netloc(self) -> str:
        usual = self.port == _DEFAULT_PORTS[self.scheme]
        return self.name if usual else f"{self.name}:{self.port}"

    @property
    def secure(self) -> bool:
        return self.scheme == "https"

    def origin(self, label: str) -> str:
        return f"{self.scheme}://{label}.{self.netloc}"

    def label_of(self, host: str) -> str | None:
        """The label in a `Host` header; "" for a host that is ours and has none; None for any other."""
        name, _colon, port = host.lower().partition(":")
        if port != str(self.port) and (port or self.port != _DEFAULT_PORTS[self.scheme]):
            return None
        if name == self.name:
            return ""
        label = name.removesuffix(f".{self.name}")
        if label == name:
            return None
        return label if _LABEL.fullmatch(label) else ""


def read_proxy_base(given: str, base_url: str) -> ProxyBase | None:
    """None where nothing is given. Raises ValueError with a sentence for whoever has set it."""
    if not given:
        return None
    try:
        parts, console = urlsplit(given), urlsplit(base_url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"PROXY_BASE_URL is no address: {error}") from error
    if parts.scheme not in _DEFAULT_PORTS or parts.path not in ("", "/") or "@" in parts.netloc:
        raise ValueError("PROXY_BASE_URL must be like https://ports.example.com, without a path")
    if parts.query or parts.fragment or "?" in given or "#" in given:
        raise ValueError("PROXY_BASE_URL must have no query")
    name = parts.hostname or ""
    if not _NAME.fullmatch(name):
        raise ValueError(f"PROXY_BASE_URL needs a host name that others can be below, not {name!r}")
    own = (console.hostname or "").rstrip(".")
    if _within(name, own) or _within(own, name):
        raise ValueError(
            f"PROXY_BASE_URL ({name}) must be neither the host of BASE_URL ({own}) nor above or below "
            "it: what pods answer there could set cookies of the console"
        )
    if parts.scheme != console.scheme:
        raise ValueError("PROXY_BASE_URL and BASE_URL must both be https, or both http")
    if parts.scheme == "http" and not (own in _LOOPBACK and _within(name, "localhost")):
        raise ValueError(
            "PROXY_BASE_URL must be https; http does for http://ports.localhost:PORT beside a BASE_URL "
            "of http://127.0.0.1:PORT alone"
        )
    return ProxyBase(parts.scheme, name, port or _DEFAULT_PORTS[parts.scheme])


def _within(name: str, other: str) -> bool:
    return name == other or name.endswith(f".{other}")
