"""Which identity providers there are: KubeSphere's `authentication.oauthOptions.identityProviders`.

From the file that also names the clients of the token service (`accounts.oauth.options`) if it has such
a list, else from `kubesphere.yaml` in the ConfigMap `kubesphere-config` of the namespace
`kubesphere-system`, read through the console's own identity. A change counts within `FRESH`, without a
restart. An entry that is wrong is left out and named in `problems`; a ConfigMap that cannot be read
changes nothing. Without either there are no providers.
"""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.urls import reverse

from accounts.oauth import kubesphere_config
from accounts.oauth.kubesphere_config import SOURCE
from accounts.oauth.options import config_path, options
from accounts.providers import base
from accounts.providers.base import Provider
from accounts.providers.fields import Fields
from accounts.providers.registry import build
from console.kube.current import get_runtime

log = logging.getLogger(__name__)

AUTO, LOOKUP, MIXED = "auto", "lookup", "mixed"

#: A value of a label, and a segment of an address.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


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


def _of_cluster(found: kubesphere_config.Found) -> Catalogue:
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
