"""`kubesphere.yaml` in the ConfigMap `kubesphere-config`, as KubeSphere has left it in the cluster.

What it says of `authentication` counts where `authentication.yaml` says nothing. It is read through the
console's own identity, and again every `FRESH`. Before the first reading it says nothing, so there are no
clients of it; when it cannot be read later, what was known counts on.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import yaml

from console.kube.client import ConsoleClient
from console.kube.clock import Clock
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import CONFIG_MAPS
from console.kube.runtime import Runtime

log = logging.getLogger(__name__)

NAMESPACE, CONFIG_MAP, KEY = "kubesphere-system", "kubesphere-config", "kubesphere.yaml"
SOURCE = f"{NAMESPACE}/{CONFIG_MAP}"
#: How old what is known of the ConfigMap may be, and how many seconds a reading of it may take
#: while pages wait.
FRESH, READING = timedelta(seconds=10), 3.0
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FoundConfig:
    """`authentication`: that part, empty if there is none. `problem`: why it is not what is there now."""

    authentication: Mapping[str, Any] = field(default_factory=dict, repr=False)
    problem: str = ""

    @property
    def oauth(self) -> Mapping[str, Any]:
        return self.authentication.get("oauthOptions") or {}


NOTHING = FoundConfig()

_text: str | None = None
_found = NOTHING
#: When it was last read, by a monotonic clock; None if it was not.
_looked: float | None = None


def found() -> FoundConfig:
    """As it was last read. The same object until something is different."""
    return _found


def forget() -> None:
    """As before the first reading."""
    global _text, _found, _looked
    _text, _found, _looked = None, NOTHING, None


async def look(client: ConsoleClient, clock: Clock, timeout: float = READING) -> None:
    """Reads it now, within `timeout` seconds. Never raises for what the cluster answers."""
    global _text, _found, _looked
    # First, so that many who need it at once make one request.
    _looked = clock.monotonic()
    try:
        text = await _read_text(client, timeout)
        if text != _text or _found.problem:
            _found = FoundConfig(_read_authentication(text)) if text is not None else NOTHING
        _text = text
    except Exception as error:  # noqa: BLE001  a ConfigMap may hold anything
        problem = f"{SOURCE} cannot be read, and what was known before still counts"
        if _found.problem != problem:
            # Not its text, in which there may be secrets.
            said = error if isinstance(error, ApiError | ValueError) else type(error).__name__
            log.warning("%s: %s", problem, said)
            _found = FoundConfig(_found.authentication, problem)


async def look_if_old(client: ConsoleClient, clock: Clock) -> None:
    """Reads it if that was `FRESH` ago."""
    if _looked is None or clock.monotonic() - _looked >= FRESH.total_seconds():
        await look(client, clock)


async def keep_read(runtime: Runtime) -> None:
    """Until cancelled; so often that no page has to."""
    while True:
        await look(runtime.console, runtime.clock)
        await runtime.clock.sleep(FRESH.total_seconds() * 0.8)


async def _read_text(client: ConsoleClient, timeout: float) -> str | None:
    """None if there is no such ConfigMap. Raises `ApiError`, TimeoutError and ValueError."""
    try:
        async with asyncio.timeout(timeout):
            item = await client.get(CONFIG_MAPS, namespace=NAMESPACE, name=CONFIG_MAP)
    except NotFound:
        return None
    text = str((item.get("data") or {}).get(KEY, ""))
    if len(text) > MAX_BYTES:
        raise ValueError("it is too large")
    return text


def _read_authentication(text: str) -> Mapping[str, Any]:
    """Of a whole `kubesphere.yaml`. Raises ValueError."""
    try:
        raw = yaml.safe_load(text) or {}
        authentication = raw.get("authentication") or {}
        oauth = authentication.get("oauthOptions") or {}
        return {**authentication, "oauthOptions": {**oauth}}
    except Exception as error:  # what YAML says of a type is whatever Python says of it
        raise ValueError(f"it is not such a configuration: {type(error).__name__}") from error
