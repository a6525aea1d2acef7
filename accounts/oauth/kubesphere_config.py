"""KubeSphere's configuration: `kubesphere.yaml` in the ConfigMap `kubesphere-config`.

Its `authentication` section provides defaults for settings missing in `authentication.yaml`,
`monitoring.endpoint` the Prometheus server if `PROMETHEUS_URL` is not set, and `gpu.kinds` the types
of GPUs. The ConfigMap is read with the console's credentials, every `FRESH`. Before the first read,
the configuration is empty and has no clients. If a later read fails, the previous content remains in
effect.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import yaml

from console.kube.clients import ConsoleClient
from console.kube.clock import Clock
from console.kube.errors import ApiError, NotFound
from console.kube.gvr import CONFIG_MAPS
from console.kube.runtime import Runtime
from console.ui.core.gpus import GpuKind, is_extended_resource
from console.ui.core.threads import in_thread
from console.ui.editing.yaml_text import read_yaml

log = logging.getLogger(__name__)

NAMESPACE, CONFIG_MAP, KEY = "kubesphere-system", "kubesphere-config", "kubesphere.yaml"
SOURCE = f"{NAMESPACE}/{CONFIG_MAP}"
#: Maximum age of the content, and timeout in seconds for a read that pages wait for.
FRESH, READING = timedelta(seconds=10), 3.0
#: Maximum characters of the file. Parsing them takes a thread less than a second.
MAX_LENGTH = 256 * 1024


@dataclass(frozen=True, slots=True)
class FoundConfig:
    """Content of the ConfigMap.

    `authentication` is that section, or empty. `prometheus_url` is the address of the Prometheus
    server, or "". `gpu_kinds` are the types of GPUs, the default one first. `problem` is the reason
    why the current content could not be read, or "".
    """

    authentication: Mapping[str, Any] = field(default_factory=dict, repr=False)
    problem: str = ""
    prometheus_url: str = field(default="", repr=False)
    gpu_kinds: Sequence[GpuKind] = ()

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
            _found = await in_thread(_parse, text) if text is not None else NOTHING
        _text = text
    except Exception as error:  # noqa: BLE001  a ConfigMap may hold anything
        problem = f"{SOURCE} cannot be read; the previous configuration remains in effect"
        if _found.problem != problem:
            # Other texts may contain secrets.
            told = (
                error if isinstance(error, ApiError | ValueError) else "no valid response in time"
            )
            log.warning("%s: %s", problem, told)
            _found = replace(_found, problem=problem)


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
    if len(text) > MAX_LENGTH:
        raise ValueError("the file is too large")
    return text


def _parse(text: str) -> FoundConfig:
    """Parse a `kubesphere.yaml`. Raise ValueError, whose text contains nothing of the file."""
    try:
        raw = _mapping(read_yaml(text))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark is not None else ""
        raise ValueError(f"the file is not valid YAML{where}") from error
    authentication = _mapping(raw.get("authentication"))
    oauth = _mapping(authentication.get("oauthOptions"))
    return FoundConfig(
        {**authentication, "oauthOptions": oauth},
        prometheus_url=_endpoint(_mapping(raw.get("monitoring")).get("endpoint")),
        gpu_kinds=_gpu_kinds(raw.get("gpu")),
    )


def _mapping(found: object) -> dict[str, Any]:
    if not isinstance(found, dict | None):
        raise ValueError("a section of the file is not a mapping")
    return found or {}


def _gpu_kinds(section: object) -> Sequence[GpuKind]:
    """Return the valid entries of `gpu.kinds`."""
    kinds = section.get("kinds") if isinstance(section, dict) else None
    found: dict[str, GpuKind] = {}
    for one in kinds if isinstance(kinds, list) else ():
        name = one.get("resourceName") if isinstance(one, dict) else None
        if isinstance(name, str) and is_extended_resource(name):
            label = one.get("resourceType")
            shown = label if isinstance(label, str) and label.strip() else name
            kind = GpuKind(name, shown[:63], is_default=one.get("default") is True)
            found.setdefault(name, kind)
    return tuple(sorted(found.values(), key=lambda kind: not kind.is_default))


def _endpoint(found: object) -> str:
    """Return the URL of a Prometheus server, or "" if `found` is not a URL without credentials."""
    try:
        parts = urlsplit(found if isinstance(found, str) else "")
    except ValueError:
        return ""
    usable = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return str(found).partition("?")[0].partition("#")[0] if usable else ""
