"""Configuration of the token service: KubeSphere's `authentication` section, read from a file.

The file is `settings.AUTHENTICATION_CONFIG`, or `authentication.yaml` in `STATE_DIR`. It
contains a complete `kubesphere.yaml`, its `authentication` section, or an `oauthOptions`
section. Changes take effect with the next request. An invalid entry is ignored and reported in
`problems`; if the file can't be read, the previous configuration remains in effect.

Settings missing in the file are taken from KubeSphere's ConfigMap
(`accounts.oauth.kubesphere_config`). `secondFactor`, `firstPassword` and `shippedClient` are
specific to Quarterdeck and read only from the file. Without both sources there are no clients,
and no tokens are issued.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings

from accounts.oauth import kubesphere_config
from accounts.oauth.clients import Client, Lifetimes, Note, lifetime, read_client
from accounts.time import parse_duration

log = logging.getLogger(__name__)

MAX_BYTES = 1024 * 1024
#: KubeSphere's defaults: lifetime of an access token; a refresh token lives for the sum of both.
ACCESS, IDLE = timedelta(hours=2), timedelta(hours=2)

#: Values of Quarterdeck's settings `secondFactor` and `firstPassword`.
OPTIONAL, REQUIRED = "optional", "required"

Stamp = tuple[str, int, int, int]

#: Sources of a setting.
FILE, CLUSTER = "file", "cluster"
#: Settings read from KubeSphere's ConfigMap: in `authentication` and in its `oauthOptions`.
_OF_WHOLE = (
    "authenticateRateLimiterDuration",
    "authenticateRateLimiterMaxTries",
    "loginHistoryMaximumEntries",
    "loginHistoryRetentionPeriod",
    "multipleLogin",
)
_OF_OAUTH = ("accessTokenInactivityTimeout", "accessTokenMaxAge", "clients")
SHARED_SETTINGS = (*_OF_OAUTH, *_OF_WHOLE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for sign-in attempts and LoginRecords. Defaults are those of KubeSphere's installer.

    `tries` failures within `duration` lock the user for `duration`. LoginRecords are kept for
    `history`, and at most `entries` per user.
    """

    tries: int = 10
    duration: timedelta = timedelta(minutes=10)
    history: timedelta = timedelta(days=7)
    entries: int = 100


DEFAULTS = Limits()


@dataclass(frozen=True, slots=True)
class Options:
    """Configuration of the token service.

    - `multiple_login`: a new sign-in doesn't revoke the user's earlier ones.
    - `requires_factor`: users whose password is checked by the console or a directory need a
      second factor.
    - `may_postpone`: users may keep a password set by an administrator.
    """

    issuer: str
    clients: Mapping[str, Client]
    multiple_login: bool = True
    problems: tuple[str, ...] = ()
    limits: Limits = DEFAULTS
    requires_factor: bool = False
    may_postpone: bool = False
    #: Source (`FILE` or `CLUSTER`) by setting name. Settings with the default value are missing.
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    #: Raw value for `accounts.providers`, or None if the file doesn't contain it.
    identity_providers: object = field(default=None, repr=False)

    @property
    def longest_token(self) -> timedelta:
        """Longest access token lifetime of all clients."""
        return max((client.access for client in self.clients.values()), default=ACCESS)


_current: tuple[Stamp, kubesphere_config.FoundConfig, Options] | None = None


def options() -> Options:
    """Return the current configuration. Errors in the file are reported in `problems`."""
    global _current
    path, beneath = config_path(), kubesphere_config.current_config()
    stamp = _stamp(path)
    known = _current
    if known is not None and known[0] == stamp and known[1] is beneath:
        return known[2]
    before = known[2] if known is not None and known[0][0] == stamp[0] else None
    found = _load(path, before, beneath)
    places = f"{path} or {kubesphere_config.SOURCE}" if beneath.authentication else path
    for problem in found.problems:
        log.error("Invalid setting in %s: %s", places, problem)
    _current = (stamp, beneath, found)
    return found


def config_path() -> Path:
    named = settings.AUTHENTICATION_CONFIG
    return Path(named) if named else Path(settings.STATE_DIR) / "authentication.yaml"


def parse_options(
    raw: object, beneath: kubesphere_config.FoundConfig = kubesphere_config.NOTHING
) -> Options:
    """Parse a configuration. `beneath` provides defaults for missing settings.

    Raise ValueError if `raw` is not a mapping.
    """
    if not isinstance(raw, dict):
        raise ValueError("the configuration is not a mapping")
    own = _part(raw, "authentication")
    own_oauth = _part(own, "oauthOptions")
    problems: list[str] = [beneath.problem] if beneath.problem else []
    sources: dict[str, str] = {}
    whole = _with_defaults(own, beneath.authentication, _OF_WHOLE, sources)
    oauth = _with_defaults(own_oauth, beneath.oauth, _OF_OAUTH, sources)
    return Options(
        issuer=settings.BASE_URL,
        clients=_clients(oauth, _is_true("shippedClient", own, False, problems), problems),
        multiple_login=_is_true("multipleLogin", whole, True, problems),
        limits=read_limits(whole, problems.append),
        requires_factor=_is_required("secondFactor", own, False, problems),
        may_postpone=not _is_required("firstPassword", own, True, problems),
        problems=tuple(problems),
        sources=sources,
        identity_providers=own_oauth.get("identityProviders"),
    )


def _part(raw: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a section, empty if null, or `raw` itself if the section is missing. Raise ValueError."""
    part = raw.get(name, raw)
    if not isinstance(part, dict | None):
        raise ValueError("authentication and oauthOptions must be mappings")
    return part or {}


def _with_defaults(
    own: Mapping[str, Any],
    beneath: Mapping[str, Any],
    names: Iterable[str],
    sources: dict[str, str],
) -> dict[str, Any]:
    """Return `own` with missing settings taken from `beneath`, and record their sources."""
    found = dict(own)
    for name in names:
        if own.get(name) is not None:
            sources[name] = FILE
        elif beneath.get(name) is not None:
            sources[name] = CLUSTER
            found[name] = beneath[name]
    return found


def _is_true(name: str, raw: Mapping[str, Any], default: bool, problems: list[str]) -> bool:
    """Return a boolean setting. An invalid value counts as False, so that it doesn't weaken
    security.
    """
    value = raw.get(name)
    if value is None:
        return default
    if type(value) is not bool:
        problems.append(f"{name} must be true or false; using false")
    return value is True


def _is_required(name: str, raw: Mapping[str, Any], default: bool, problems: list[str]) -> bool:
    """Return True if the setting is `required`. An invalid value counts as `required`."""
    value = raw.get(name)
    if value is None:
        return default
    if value not in (OPTIONAL, REQUIRED):
        problems.append(f"{name} must be {OPTIONAL} or {REQUIRED}; using {REQUIRED}")
    return bool(value != OPTIONAL)


def _clients(oauth: dict[str, Any], shipped: bool, problems: list[str]) -> dict[str, Client]:
    try:
        defaults = Lifetimes(
            lifetime(oauth.get("accessTokenMaxAge"), ACCESS),
            lifetime(oauth.get("accessTokenInactivityTimeout"), IDLE),
        )
    except ValueError as error:
        problems.append(str(error))
        defaults = Lifetimes(ACCESS, IDLE)
    found: dict[str, Client] = {}
    listed = oauth.get("clients") or []
    for raw in listed if isinstance(listed, list) else [listed]:
        try:
            if not isinstance(raw, dict):
                raise ValueError("a client must be a mapping")
            client = read_client(raw, defaults, problems.append, shipped=shipped)
            if client.name in found:
                raise ValueError(
                    f"client {client.name} is defined twice; using the first definition"
                )
            found[client.name] = client
        except ValueError as error:
            problems.append(str(error))
    return found


def _stamp(path: Path) -> Stamp:
    """Return a value that changes if the file changes or a symbolic link points to another file."""
    try:
        found = path.stat()
    except OSError:
        return (str(path), 0, 0, 0)
    return (str(path), found.st_ino, found.st_size, found.st_mtime_ns)


def _load(path: Path, before: Options | None, beneath: kubesphere_config.FoundConfig) -> Options:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise ValueError("the file is too large")
        content = yaml.safe_load(text)
        return parse_options({} if content is None else content, beneath)
    except FileNotFoundError:
        return parse_options({}, beneath)
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        # Without an earlier configuration, allow no clients, because an unreadable file may have
        # been meant to disable them.
        kept = before or replace(parse_options({}, beneath), clients={})
        problem = f"the file cannot be read; the previous configuration remains in effect: {error}"
        return replace(kept, problems=(problem,))


def read_limits(raw: Mapping[str, Any], note: Note) -> Limits:
    """Read the limits from the configuration. Invalid values are reported to `note` and replaced by
    defaults.

    `entries` is at least `tries`, because the lock counts LoginRecords.
    """
    tries = _number(raw, "authenticateRateLimiterMaxTries", DEFAULTS.tries, note)
    return Limits(
        tries=tries,
        duration=_duration(raw, "authenticateRateLimiterDuration", DEFAULTS.duration, note),
        history=_duration(raw, "loginHistoryRetentionPeriod", DEFAULTS.history, note),
        entries=max(tries, _number(raw, "loginHistoryMaximumEntries", DEFAULTS.entries, note)),
    )


def _number(raw: Mapping[str, Any], name: str, default: int, note: Note) -> int:
    value = raw.get(name, default)
    if type(value) is int and 0 < value <= 10_000:
        return value
    note(f"{name} must be a number from 1 to 10000, not {str(value)[:40]!r}")
    return default


def _duration(raw: Mapping[str, Any], name: str, default: timedelta, note: Note) -> timedelta:
    try:
        found = parse_duration(raw[name]) if name in raw else default
        if found:
            return found
        note(f"{name} must be greater than zero")
    except ValueError as error:
        note(f"{name}: {error}")
    return default
