"""Configuration of identity providers: KubeSphere's
`authentication.oauthOptions.identityProviders`.

The list is read from the file that also defines the OAuth clients (`accounts.oauth.options`) or,
if the file has no such list, from `kubesphere.yaml` in the ConfigMap `kubesphere-config` of the
namespace `kubesphere-system`, with the console's credentials. Changes take effect within
`FRESH`, without a restart. An invalid entry is ignored and reported in `problems`; if the
ConfigMap can't be read, the previous configuration remains in effect. Without both sources there
are no providers.
"""

import base64
import binascii
import logging
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from django.conf import settings
from django.urls import reverse

from accounts import time
from accounts.oauth import kubesphere_config
from accounts.oauth.clients import uri_problem
from accounts.oauth.kubesphere_config import SOURCE
from accounts.oauth.options import config_path, options
from accounts.providers.base import Provider
from console.kube.host_runtime import get_runtime
from console.kube.names import is_label_name

MAX_TEXT = 4096
#: Maximum size of CA certificates.
MAX_PEM = 256 * 1024
log = logging.getLogger(__name__)

AUTO, LOOKUP, MIXED = "auto", "lookup", "mixed"


# Strict parsing of the `provider` section of an entry in `identityProviders`.
#
# Unknown fields are ignored, because KubeSphere's configuration has fields that have no meaning
# here. Every ValueError contains the field's name and never its value, which may be a secret.


class Fields:
    """Fields of a provider's configuration.

    `callbacks` contains the allowed callback URLs of the console; the first one is the default.
    """

    def __init__(self, raw: Mapping[str, Any], callbacks: tuple[str, ...]) -> None:
        self._raw = raw
        self._callbacks = callbacks

    def text(self, name: str, default: str = "", *, longest: int = MAX_TEXT) -> str:
        value = self._raw.get(name)
        if value is None or value == "":
            return default
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ValueError(f"{name} must be a string")
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
            raise ValueError(f"{name} must be true or false")
        return value is True

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._raw.get(name) or []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ValueError(f"{name} must be a list of strings")
        return tuple(value)

    def number(self, name: str, default: int) -> int:
        value = self._raw.get(name)
        if value is None or value == 0:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 3_600_000:
            raise ValueError(f"{name} must be a number")
        return value

    def below(self, name: str) -> "Fields":
        value = self._raw.get(name) or {}
        if not isinstance(value, dict):
            raise ValueError(f"{name} must be a mapping")
        return Fields(value, self._callbacks)

    def address(self, name: str, default: str = "") -> str:
        """Return an https URL, or an http URL of the local host, without a trailing slash."""
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
            raise ValueError("redirectURL must be one of " + ", ".join(self._callbacks))
        return found

    def tls(self) -> ssl.SSLContext:
        """Return a TLS context that verifies the server's certificate.

        Uses the CA certificates in `rootCA` (a file) or `rootCAData` (base64-encoded PEM), if
        set.
        """
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
    """Return the reason why a URL is rejected, or ""."""
    try:
        return uri_problem(text)
    except ValueError:
        return "the URL cannot be parsed"


@lru_cache(maxsize=64)
def tls_context(authorities: str, insecure: bool) -> ssl.SSLContext:
    """Return a cached TLS context, because loading the system's CAs takes many ms. Raise
    ValueError.
    """
    try:
        context = ssl.create_default_context(cadata=authorities or None)
    except ssl.SSLError as error:
        raise ValueError("rootCA or rootCAData contains no certificates") from error
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


# Identity provider types, by their name in the configuration.

Build = Callable[[Fields], Provider]
B = TypeVar("B", bound=Build)

_kinds: dict[str, Build] = {}


def provider_kind(name: str) -> Callable[[B], B]:
    """Register a class whose constructor gets the fields and raises ValueError for invalid ones."""

    def register(build: B) -> B:
        if name in _kinds:
            raise ValueError(f"{name} is registered twice")
        _kinds[name] = build
        return build

    return register


@dataclass(frozen=True, slots=True)
class Entry:
    """Configured identity provider.

    `mapping` defines how persons without a User are handled: `auto` creates a User, after asking
    for a name if `confirms` is True; `mixed` always asks; `lookup` rejects the sign-in.
    `insecure` is True if the server's certificate is not verified.
    """

    name: str
    kind: str
    mapping: str
    confirms: bool
    provider: Provider
    insecure: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """Configuration error. `name` is "" if the error concerns the whole configuration."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class ProviderCatalog:
    """Identity providers in the order of the configuration. `source` is the file or ConfigMap, or
    "".
    """

    source: str = ""
    entries: Mapping[str, Entry] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _Known:
    """Catalogue created from the configuration object `of`."""

    of: object = None
    catalogue: ProviderCatalog = ProviderCatalog()


_file, _map = _Known(), _Known()


async def read_current_providers() -> ProviderCatalog:
    """Return the current identity providers. Configuration errors are reported in `problems`."""
    client = get_runtime().console
    # The runtime may have no cluster.
    if options().identity_providers is None and client is not None:
        await kubesphere_config.read_if_stale(client, time.clock)
    return cached_providers()


def cached_providers() -> ProviderCatalog:
    """Return the identity providers as last read, without waiting for the ConfigMap."""
    listed = options().identity_providers
    if listed is not None:
        if _file.of is not listed:
            _file.catalogue, _file.of = read_catalogue(listed, str(config_path())), listed
        return _file.catalogue
    found = kubesphere_config.current_config()
    if _map.of is not found.authentication:
        _map.catalogue = (
            read_catalogue(found.oauth.get("identityProviders") or [], SOURCE)
            if found.authentication
            else ProviderCatalog()
        )
        _map.of = found.authentication
    if not found.problem:
        return _map.catalogue
    problem = Problem(
        "", "", "the configuration cannot be read; the previous one remains in effect"
    )
    return replace(_map.catalogue, source=SOURCE, problems=(problem, *_map.catalogue.problems))


def clear_cache() -> None:
    """Clear all caches, so that the configuration is read again at the next use."""
    global _file, _map
    _file, _map = _Known(), _Known()
    kubesphere_config.reset()


def read_catalogue(listed: object, source: str) -> ProviderCatalog:
    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    if not isinstance(listed, list):
        return ProviderCatalog(source, {}, (Problem("", "", "identityProviders is not a list"),))
    for raw in listed:
        name = _shown(raw, "name")
        kind = _shown(raw, "type")
        try:
            if name in entries:
                raise ValueError("the name is used twice; using the first definition")
            entries[name] = _read_entry(raw)
        except ValueError as error:
            log.error("%s: identity provider %s is ignored: %s", source, name, error)
            problems.append(Problem(name, kind, str(error)))
    return ProviderCatalog(source, entries, tuple(problems))


def _read_entry(raw: Any) -> Entry:
    """Validate an entry and create its provider. Raise ValueError."""
    if not isinstance(raw, dict) or not isinstance(raw.get("provider"), dict):
        raise ValueError("an identity provider must have a name, a type and a provider")
    name = raw.get("name")
    # Names are used as label values and URL segments.
    if not isinstance(name, str) or not is_label_name(name):
        raise ValueError("the name must consist of up to 63 letters, digits, '.', '_' and '-'")
    mapping = raw.get("mappingMethod") or AUTO
    if mapping not in (AUTO, LOOKUP, MIXED):
        raise ValueError("mappingMethod must be auto, lookup or mixed")
    fields = Fields(raw["provider"], callbacks(name))
    kind = str(raw.get("type"))
    if kind not in _kinds:
        raise ValueError(f"the type must be one of {', '.join(sorted(_kinds))}")
    return Entry(
        name=name,
        kind=kind,
        mapping=mapping,
        confirms=mapping == MIXED or raw.get("disableLoginConfirmation") is not True,
        provider=_kinds[kind](fields),
        insecure=fields.flag("insecureSkipVerify"),
    )


def callbacks(name: str) -> tuple[str, ...]:
    """Return the callback URLs of a provider. The second one is KubeSphere's."""
    routes = ("callback", "landing")
    return tuple(
        settings.BASE_URL + reverse(f"accounts:federation:{route}", args=(name,))
        for route in routes
    )


def _shown(raw: object, name: str) -> str:
    """Return a field of an unvalidated entry for display, or ""."""
    value = raw.get(name) if isinstance(raw, dict) else None
    return value[:63] if isinstance(value, str) and value.isprintable() else ""
