"""`PROXY_BASE_URL`: the address below which each open port has a separate host name.

Responses of pods are untrusted: markup, scripts, cookies. On the console's host, a parent domain
or a subdomain of it, they could read or set the console's cookies.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

#: The first label of a host name is a random 128-bit number, so it can't be guessed.
_LABEL = re.compile(r"[0-9a-f]{32}")
_PART = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
#: A DNS name with at least one subdomain level. The last label contains a letter, so it isn't an IP
#: address.
_NAME = re.compile(rf"(?=.{{1,180}}\Z)(?=.*[a-z][^.]*\Z)(?:{_PART}\.)+{_PART}")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class ProxyBase:
    """Base address of open ports. `port` is set even if the URL has the default port."""

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
        """Return the label of an open port in a `Host` header, or "" for other hosts below the base
        address.

        Return None for hosts outside the base address.
        """
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
    """Parse `PROXY_BASE_URL`, or return None if it is empty.

    Raise ValueError with a message for the administrator if it is invalid.
    """
    if not given:
        return None
    try:
        parts, console = urlsplit(given), urlsplit(base_url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"PROXY_BASE_URL is not a valid URL: {error}") from error
    if parts.scheme not in _DEFAULT_PORTS or parts.path not in ("", "/") or "@" in parts.netloc:
        raise ValueError("PROXY_BASE_URL must be like https://ports.example.com, without a path")
    if parts.query or parts.fragment or "?" in given or "#" in given:
        raise ValueError("PROXY_BASE_URL must not contain a query or fragment")
    name = parts.hostname or ""
    if not _NAME.fullmatch(name):
        raise ValueError(f"PROXY_BASE_URL needs a host name with subdomains, not {name!r}")
    own = (console.hostname or "").rstrip(".")
    if _within(name, own) or _within(own, name):
        raise ValueError(
            f"PROXY_BASE_URL ({name}) must not be the host of BASE_URL ({own}) or its parent domain or "
            "subdomain: responses of pods there could set cookies of the console"
        )
    if parts.scheme != console.scheme:
        raise ValueError("PROXY_BASE_URL and BASE_URL must both be https, or both http")
    if parts.scheme == "http" and not (own in _LOOPBACK and _within(name, "localhost")):
        raise ValueError(
            "PROXY_BASE_URL must use https. Use http only for http://ports.localhost:PORT with a "
            "BASE_URL of http://127.0.0.1:PORT"
        )
    return ProxyBase(parts.scheme, name, port or _DEFAULT_PORTS[parts.scheme])


def _within(name: str, other: str) -> bool:
    return name == other or name.endswith(f".{other}")
