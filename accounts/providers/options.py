"""Which identity providers there are: KubeSphere's `authentication.oauthOptions.identityProviders`.

From the file that also names the clients of the token service (`accounts.oauth.options`) if it has such
a list, else from `kubesphere.yaml` in the ConfigMap `kubesphere-config` of the namespace
`kubesphere-system`, read through the console's own identity. A change counts within `FRESH`, without a
restart. An entry that is wrong is left out and named in `problems`; a ConfigMap that cannot be read
changes nothing. Without either there are no providers.
"""

import base64
import binascii
import logging
import re
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse

from accounts.oauth import kubesphere_config
from accounts.oauth.clients import uri_problem
from accounts.oauth.kubesphere_config import SOURCE
from accounts.oauth.options import config_path, options
from accounts.providers import base
from accounts.providers.base import Provider
from console.kube.current import get_runtime

MAX_TEXT = 4096
#: An authority's certificates.
MAX_PEM = 256 * 1024
log = logging.getLogger(__name__)

AUTO, LOOKUP, MIXED = "auto", "lookup", "mixed"

#: A value of a label, and a segment of an address.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


# The `provider` part of an entry of `identityProviders`, read strictly.
#
# Unknown fields are left alone: KubeSphere's configuration has some that mean nothing here. Every
# ValueError names the field and never its value, which may be a secret.


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


# The kinds of identity providers, by the name that the configuration calls them.

Build = Callable[[Fields], Provider]

_kinds: dict[str, Build] = {}


def provider_kind(name: str) -> Callable[[Build], Build]:
    """Registers what makes a provider of its fields, and raises ValueError for fields that are wrong."""

    def register(build: Build) -> Build:
        if name in _kinds:
            raise ValueError(f"{name} is registered twice")
        _kinds[name] = build
        return build

    return register


def build(kind: str, fields: Fields) -> Provider:
    """Raises ValueError."""
    if kind not in _kinds:
        raise ValueError(f"the type is one of {', '.join(sorted(_kinds))}")
    return _kinds[kind](fields)


@dataclass(frozen=True, slots=True)
class Entry:
    """`mapping`: what becomes of people who have no User yet. auto makes them one, after asking for a
    name if `confirms`; mixed always asks; lookup lets nobody in who has none. `insecure`: nobody checks
    who it is that answers."""

    name: str
    kind: str
    mapping: str
    confirms: bool
    provider: Provider
    insecure: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """`name` is "" for what is wrong with the whole."""

    name: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    """`entries` in the order of the configuration. `source`: where that is, "" if there is none."""

    source: str = ""
    entries: Mapping[str, Entry] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _Known:
    """What was made of which list or part."""

    of: object = None
    catalogue: Catalogue = Catalogue()


_file, _map = _Known(), _Known()


async def catalogue() -> Catalogue:
    """The configuration as it is now. Never raises for what it says."""
    client = get_runtime().console
    # A runtime may be without a cluster.
    if options().identity_providers is None and client is not None:
        await kubesphere_config.look_if_old(client, base.clock)
    return known()


def known() -> Catalogue:
    """As it was last read: for who has just asked, or cannot wait."""
    listed = options().identity_providers
    if listed is not None:
        if _file.of is not listed:
            _file.catalogue, _file.of = read_catalogue(listed, str(config_path())), listed
        return _file.catalogue
    found = kubesphere_config.found()
    if _map.of is not found.authentication:
        _map.catalogue, _map.of = _of_cluster(found), found.authentication
    if not found.problem:
        return _map.catalogue
    problem = Problem("", "", "it cannot be read, and what was known before still counts")
    return replace(_map.catalogue, source=SOURCE, problems=(problem, *_map.catalogue.problems))


def _of_cluster(found: kubesphere_config.FoundConfig) -> Catalogue:
    if not found.authentication:
        return Catalogue()
    return read_catalogue(found.oauth.get("identityProviders") or [], SOURCE)


def forget() -> None:
    """Reads everything again at the next use."""
    global _file, _map
    _file, _map = _Known(), _Known()
    kubesphere_config.forget()


def read_catalogue(listed: object, source: str) -> Catalogue:
    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    if not isinstance(listed, list):
        return Catalogue(source, {}, (Problem("", "", "identityProviders is not a list"),))
    for raw in listed:
        name = _shown(raw, "name")
        kind = _shown(raw, "type")
        try:
            if name in entries:
                raise ValueError("the name is there twice; the first one counts")
            entries[name] = _read_entry(raw)
        except ValueError as error:
            log.error("%s: identity provider %s is left out: %s", source, name, error)
            problems.append(Problem(name, kind, str(error)))
    return Catalogue(source, entries, tuple(problems))


def _read_entry(raw: Any) -> Entry:
    """Raises ValueError."""
    if not isinstance(raw, dict) or not isinstance(raw.get("provider"), dict):
        raise ValueError("an identity provider has a name, a type and a provider")
    name = raw.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("the name has up to 63 letters, digits, '.', '_' and '-'")
    mapping = raw.get("mappingMethod") or AUTO
    if mapping not in (AUTO, LOOKUP, MIXED):
        raise ValueError("mappingMethod is auto, lookup or mixed")
    fields = Fields(raw["provider"], callbacks(name))
    provider = build(str(raw.get("type")), fields)
    return Entry(
        name=name,
        kind=str(raw["type"]),
        mapping=mapping,
        confirms=mapping == MIXED or raw.get("disableLoginConfirmation") is not True,
        provider=provider,
        insecure=fields.flag("insecureSkipVerify"),
    )


def callbacks(name: str) -> tuple[str, ...]:
    """Where a provider may send browsers back to. The second is where KubeSphere has it."""
    routes = ("callback", "landing")
    return tuple(
        settings.BASE_URL + reverse(f"accounts:federation:{route}", args=(name,))
        for route in routes
    )


def _shown(raw: object, name: str) -> str:
    """A field of an entry that may be anything, as far as a page can show it."""
    value = raw.get(name) if isinstance(raw, dict) else None
    return value[:63] if isinstance(value, str) and value.isprintable() else ""
