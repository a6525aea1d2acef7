"""KubeSphere's configuration: `kubesphere.yaml` in the ConfigMap `kubesphere-config`.

Its `authentication` section provides defaults for settings missing in `authentication.yaml`. The
ConfigMap is read with the console's credentials, every `FRESH`. Before the first read, the
configuration is empty and has no clients. If a later read fails, the previous content remains in
effect.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import yaml

from console.kube.clients import ConsoleClient
from console.kube.clock import Clock
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import CONFIG_MAPS
from console.kube.runtime import Runtime

log = logging.getLogger(__name__)

NAMESPACE, CONFIG_MAP, KEY = "kubesphere-system", "kubesphere-config", "kubesphere.yaml"
SOURCE = f"{NAMESPACE}/{CONFIG_MAP}"
#: Maximum age of the content, and timeout in seconds for a read that pages wait for.
FRESH, READING = timedelta(seconds=10), 3.0
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FoundConfig:
    """Content of the ConfigMap.

    `authentication` is that section, or empty. `problem` is the reason why the current content
    could not be read, or "".
    """

    authentication: Mapping[str, Any] = field(default_factory=dict, repr=False)
    problem: str = ""

    @property
    def oauth(self) -> Mapping[str, Any]:
        return self.authentication.get("oauthOptions") or {}


NOTHING = FoundConfig()

_text: str | None = None
_found = NOTHING
#: Monotonic time of the last read, or None.
_looked: float | None = None


def current_config() -> FoundConfig:
    """Return the last content read. The same object is returned until the content changes."""
    return _found


def reset() -> None:
    """Reset to the state before the first read."""
    global _text, _found, _looked
    _text, _found, _looked = None, NOTHING, None


async def read_config(client: ConsoleClient, clock: Clock, timeout: float = READING) -> None:
    """Read the ConfigMap with a timeout in seconds. Errors are logged and stored in `problem`."""
    global _text, _found, _looked
    # Set before the read, so that concurrent callers make only one request.
    _looked = clock.monotonic()
    try:
        text = await _read_text(client, timeout)
        if text != _text or _found.problem:
            _found = FoundConfig(_read_authentication(text)) if text is not None else NOTHING
        _text = text
    except Exception as error:  # noqa: BLE001  a ConfigMap may hold anything
        problem = f"{SOURCE} cannot be read; the previous configuration remains in effect"
        if _found.problem != problem:
            # Log only the exception's type, because its text may contain secrets.
            said = error if isinstance(error, ApiError | ValueError) else type(error).__name__
            log.warning("%s: %s", problem, said)
            _found = FoundConfig(_found.authentication, problem)


async def read_if_stale(client: ConsoleClient, clock: Clock) -> None:
    """Read the ConfigMap if the last read is older than `FRESH`."""
    if _looked is None or clock.monotonic() - _looked >= FRESH.total_seconds():
        await read_config(client, clock)


async def read_periodically(runtime: Runtime) -> None:
    """Read the ConfigMap periodically until cancelled, so that pages don't have to wait for it."""
    while True:
        await read_config(runtime.console, runtime.clock)
        await runtime.clock.sleep(FRESH.total_seconds() * 0.8)


async def _read_text(client: ConsoleClient, timeout: float) -> str | None:
    """Return the file, or None if the ConfigMap doesn't exist.

    Raise `ApiError`, TimeoutError or ValueError.
    """
    try:
        async with asyncio.timeout(timeout):
            item = await client.get(CONFIG_MAPS, namespace=NAMESPACE, name=CONFIG_MAP)
    except NotFound:
        return None
    text = str((item.get("data") or {}).get(KEY, ""))
    if len(text) > MAX_BYTES:
        raise ValueError("the file is too large")
    return text


def _read_authentication(text: str) -> Mapping[str, Any]:
    """Return the `authentication` section of a `kubesphere.yaml`. Raise ValueError."""
    try:
        raw = yaml.safe_load(text) or {}
        authentication = raw.get("authentication") or {}
        oauth = authentication.get("oauthOptions") or {}
        return {**authentication, "oauthOptions": {**oauth}}
    except Exception as error:  # YAML type constructors can raise arbitrary exceptions.
        raise ValueError(f"invalid configuration: {type(error).__name__}") from error
