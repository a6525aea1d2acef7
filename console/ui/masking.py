"""Masking of secret values before any other code sees an object.

kubectl copies the whole object into an annotation, so that annotation is masked as well.
"""

from collections.abc import Iterable
from typing import Any

MASK = "••••••"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def mask_values(manifest: dict[str, Any], paths: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """Mask the values at the given paths in place and return `manifest`.

    A mapping keeps its keys and gets masked values. Any other value is masked as a whole.
    """
    for path in paths:
        _mask(manifest, path)
        _mask(manifest, ("metadata", "annotations", _LAST_APPLIED))
    return manifest


def _mask(value: Any, path: tuple[str, ...]) -> None:
    *parents, last = path
    for name in parents:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict) and value.get(last):
        found = value[last]
        value[last] = dict.fromkeys(found, MASK) if isinstance(found, dict) else MASK
