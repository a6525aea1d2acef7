"""Objects in the cache, for wizards without a cluster."""

from dataclasses import dataclass, field
from typing import Any

from console.kube.gvr import Key


@dataclass
class CachedObject:
    """An object in the cache, with the fields that wizards read."""

    key: Key
    projection: Any = None
    manifest: dict[str, Any] = field(default_factory=dict)

    def original(self) -> dict[str, Any]:
        return self.manifest
