"""Values of a new object that the cluster changes, as in the result of a dry run.

Admission webhooks change values, and add labels and items of lists. Defaults are not such changes:
kube-apiserver only sets fields that a manifest doesn't contain.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from console.kube.apply import Manifest, writable_content
from console.kube.merging import json_equal
from console.kube.quantity import parse_quantity
from console.ui.core.kind import ResourceKind
from console.ui.core.text import escape_invisible
from console.ui.editing.diff import Difference, difference, order_like
from console.ui.editing.manifest import editable
from console.ui.editing.yaml_text import plain_yaml
from console.ui.wizard.paths import ABSENT, Path, path_text

#: Maximum number of listed values, and characters of a value.
MOST, MAX_VALUE = 50, 120
#: Fields for which kube-apiserver has no defaults, so that only webhooks add values to them.
_WITHOUT_DEFAULTS = frozenset(
    {"annotations", "labels", "nodeSelector", "data", "resources", "limits", "requests"}
    | {"env", "envFrom", "hostAliases", "imagePullSecrets", "initContainers", "tolerations"}
    | {"volumeMounts", "volumes"}
)
#: Labels and annotations that kube-apiserver itself sets: those of a Job's pods, of projects, and of
#: DaemonSets. https://kubernetes.io/docs/reference/labels-annotations-taints/
_OF_SERVER = frozenset(
    {"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"}
    | {"controller-uid", "job-name", "kubernetes.io/metadata.name"}
    | {"deprecated.daemonset.template.generation"}
)
_METADATA = ("labels", "annotations")
#: A field of Secrets that the cluster never stores: it writes the values to `data`.
_WRITE_ONLY = "stringData"
#: Names that identify the items of a list.
_KEYS = ("name", "mountPath", "containerPort", "port", "topologyKey", "key")


@dataclass(frozen=True, slots=True)
class ServerChange:
    """A changed value. `before` or `after` is "" if the value is added or removed."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ServerChanges:
    """`changes` of a manifest's values, and the whole `difference`, including defaults."""

    changes: tuple[ServerChange, ...]
    difference: Difference


def server_changes(kind: ResourceKind | None, sent: Manifest, stored: Manifest) -> ServerChanges:
    """Compare a manifest with the object that the cluster would store. Masked values are hidden."""
    if kind is not None:
        sent, stored = editable(kind, sent), editable(kind, stored)
    else:
        sent, stored = writable_content(sent), writable_content(stored)
    changes = islice(_changes(_as_stored(sent, stored), stored, ()), MOST)
    found = tuple(
        ServerChange(escape_invisible(path_text(path)), _text(before), _text(after))
        for path, before, after in changes
    )
    texts = plain_yaml(sent), plain_yaml(order_like(stored, sent))
    return ServerChanges(found, difference(*texts))


def _as_stored(sent: Manifest, stored: Manifest) -> Manifest:
    """Return the manifest with values of `stringData` where the cluster stores them."""
    written, values = sent.get(_WRITE_ONLY), stored.get("data")
    if not isinstance(written, dict) or not isinstance(values, dict):
        return sent
    data = sent.get("data")
    moved = {name: values[name] for name in written if name in values}
    kept = {name: value for name, value in sent.items() if name != _WRITE_ONLY}
    return {**kept, "data": {**(data if isinstance(data, dict) else {}), **moved}}


def _changes(sent: Any, stored: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    if path and path[-1] in _METADATA and isinstance(stored, dict):
        own = sent if isinstance(sent, dict) else {}
        stored = {
            name: one for name, one in stored.items() if name in own or name not in _OF_SERVER
        }
        stored = stored or sent
    if isinstance(sent, dict) and isinstance(stored, dict):
        inside = bool(path) and path[-1] in _WITHOUT_DEFAULTS
        added = [
            name
            for name, value in stored.items()
            if name not in sent and (inside or name in _WITHOUT_DEFAULTS) and value not in ({}, [])
        ]
        for name in [*sent, *added]:
            there = stored.get(name, ABSENT)
            yield from _changes(sent.get(name, ABSENT), there, (*path, name))
    elif isinstance(sent, list) and isinstance(stored, list):
        yield from _list_changes(sent, stored, path)
    elif not _is_same(sent, stored):
        yield path, sent, stored


def _list_changes(
    sent: list[Any], stored: list[Any], path: Path
) -> Iterator[tuple[Path, Any, Any]]:
    key = next((one for one in _KEYS if _names(sent, one) and _names(stored, one)), "")
    if not key:
        for at in range(max(len(sent), len(stored))):
            before, after = (one[at] if at < len(one) else ABSENT for one in (sent, stored))
            yield from _changes(before, after, (*path, at))
        return
    old, new = ({one[key]: one for one in items} for items in (sent, stored))
    for at, name in enumerate(dict.fromkeys((*new, *old))):
        yield from _changes(old.get(name, ABSENT), new.get(name, ABSENT), (*path, at))


def _names(items: list[Any], key: str) -> bool:
    """Return True if `key` identifies the items."""
    names = [one.get(key) for one in items if isinstance(one, Mapping)]
    hashable = all(isinstance(name, str | int) for name in names)
    return bool(items) and len(names) == len(items) and hashable and len({*names}) == len(names)


def _is_same(sent: Any, stored: Any) -> bool:
    if json_equal(sent, stored):
        return True
    # The cluster doesn't store empty values.
    if stored is ABSENT and sent in (None, "", 0, False, {}, []):
        return True
    amounts = [
        parse_quantity(str(one)) if isinstance(one, str | int | float) else None
        for one in (sent, stored)
    ]
    return amounts[0] is not None and amounts[0] == amounts[1]


def _text(value: Any) -> str:
    if value is ABSENT:
        return ""
    text = value if isinstance(value, str) else plain_yaml(value).removesuffix("...\n").strip()
    text = escape_invisible(" ".join(text.split())) or '""'
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"
