"""What of an object nobody is shown, replaced before anything else sees it.

kubectl repeats an object in an annotation of its own, values and all, so that goes with it.
"""

from collections.abc import Iterable
from typing import Any

MASK = "••••••"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def masked(manifest: dict[str, Any], paths: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """`manifest` itself, with a mask at each of the paths that it has: of a mapping its values are
    masked and its keys stay, of anything else the whole."""
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
