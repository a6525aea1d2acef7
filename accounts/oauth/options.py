"""The configuration of the token service: KubeSphere's `authentication`, from a file.

The file is `settings.AUTHENTICATION_CONFIG`, or `authentication.yaml` in `STATE_DIR`. It may be a whole
`kubesphere.yaml`, its `authentication` part, or an `oauthOptions` part alone. A change is taken up with
the next request. An entry that is wrong is left out and named in `problems`; a file that cannot be read
changes nothing.

What the file does not say counts as KubeSphere's ConfigMap has it (`accounts.oauth.kubesphere_config`).
`secondFactor`, `firstPassword` and `shippedClient` are ours, and the file's alone. Without both there are
no clients, and nobody gets a token.
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
from accounts.oauth.clients import Client, Lifetimes, lifetime, read_client
from accounts.protection.limits import DEFAULTS, Limits, read_limits

log = logging.getLogger(__name__)

MAX_BYTES = 1024 * 1024
#: KubeSphere's: an access token lives so long, a refresh token for the sum.
ACCESS, IDLE = timedelta(hours=2), timedelta(hours=2)

#: Ours: `secondFactor` and `firstPassword`.
OPTIONAL, REQUIRED = "optional", "required"

Stamp = tuple[str, int, int, int]

#: Sources of a setting.
FILE, CLUSTER = "file", "cluster"
#: What KubeSphere's ConfigMap may say, in `authentication` and in its `oauthOptions`.
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
class Options:
    """`multiple_login`: a new sign-in leaves the user's earlier ones alone. `requires_factor`: whose
    password is checked here or in a directory needs a second factor. `may_postpone`: a first password can
    be kept."""

    issuer: str
    clients: Mapping[str, Client]
    multiple_login: bool = True
    problems: tuple[str, ...] = ()
    limits: Limits = DEFAULTS
    requires_factor: bool = False
    may_postpone: bool = False
    #: `FILE` or `CLUSTER`, by the name of a setting that both may have; none for the default.
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    #: As it is in the file, for `accounts.providers`; None if the file says nothing of them.
    identity_providers: object = field(default=None, repr=False)

    @property
    def longest_token(self) -> timedelta:
        """How long the longest-lived access token of any client lives."""
        return max((client.access for client in self.clients.values()), default=ACCESS)


_current: tuple[Stamp, kubesphere_config.FoundConfig, Options] | None = None


def options() -> Options:
    """The configuration as it is now. Never raises for what the file says."""
    global _current
    path, beneath = config_path(), kubesphere_config.found()
    stamp = _stamp(path)
    known = _current
    if known is not None and known[0] == stamp and known[1] is beneath:
        return known[2]
    before = known[2] if known is not None and known[0][0] == stamp[0] else None
    found = _load(path, before, beneath)
    places = f"{path} or {kubesphere_config.SOURCE}" if beneath.authentication else path
    for problem in found.problems:
        log.error("Not as it is written in %s: %s", places, problem)
    _current = (stamp, beneath, found)
    return found


def config_path() -> Path:
    named = settings.AUTHENTICATION_CONFIG
    return Path(named) if named else Path(settings.STATE_DIR) / "authentication.yaml"


def parse_options(
    raw: object, beneath: kubesphere_config.FoundConfig = kubesphere_config.NOTHING
) -> Options:
    """`beneath`: what counts where `raw` says nothing. Raises ValueError if `raw` has not even the shape
    of a configuration."""
    if not isinstance(raw, dict):
        raise ValueError("it is not a mapping")
    own = _part(raw, "authentication")
    own_oauth = _part(own, "oauthOptions")
    problems: list[str] = [beneath.problem] if beneath.problem else []
    sources: dict[str, str] = {}
    whole = _over(own, beneath.authentication, _OF_WHOLE, sources)
    oauth = _over(own_oauth, beneath.oauth, _OF_OAUTH, sources)
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
    """Empty where it says nothing; the whole where that has no such part. Raises ValueError."""
    part = raw.get(name, raw)
    if not isinstance(part, dict | None):
        raise ValueError("authentication and oauthOptions are mappings")
    return part or {}


def _over(
    own: Mapping[str, Any],
    beneath: Mapping[str, Any],
    names: Iterable[str],
    sources: dict[str, str],
) -> dict[str, Any]:
    """`own`, and of these names what it does not say. Notes where each comes from."""
    found = dict(own)
    for name in names:
        if own.get(name) is not None:
            sources[name] = FILE
        elif beneath.get(name) is not None:
            sources[name] = CLUSTER
            found[name] = beneath[name]
    return found


def _is_true(name: str, raw: Mapping[str, Any], default: bool, problems: list[str]) -> bool:
    """What cannot be understood was not written to weaken anything."""
    value = raw.get(name)
    if value is None:
        return default
    if type(value) is not bool:
        problems.append(f"{name} is true or false; until then it is false")
    return value is True


def _is_required(name: str, raw: Mapping[str, Any], default: bool, problems: list[str]) -> bool:
    """As `_is_true`."""
    value = raw.get(name)
    if value is None:
        return default
    if value not in (OPTIONAL, REQUIRED):
        problems.append(f"{name} is {OPTIONAL} or {REQUIRED}; until then it is required")
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
                raise ValueError("a client is a mapping")
            client = read_client(raw, defaults, problems.append, shipped=shipped)
            if client.name in found:
                raise ValueError(f"client {client.name} is there twice; the first one counts")
            found[client.name] = client
        except ValueError as error:
            problems.append(str(error))
    return found


def _stamp(path: Path) -> Stamp:
    """Differs whenever the file may have changed, also where a link leads to another file now."""
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
            raise ValueError("it is too large")
        content = yaml.safe_load(text)
        return parse_options({} if content is None else content, beneath)
    except FileNotFoundError:
        return parse_options({}, beneath)
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        # Of a file that nobody has read it may be the point that nobody gets a token.
        kept = before or replace(parse_options({}, beneath), clients={})
        problem = f"cannot be read, and what was known before still counts: {error}"
        return replace(kept, problems=(problem,))
