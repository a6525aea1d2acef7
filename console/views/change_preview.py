"""Preview of a change of one object: the diff, other field managers, and a digest that identifies
the change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from console.kube.apply import Manifest, field_tree, owned_changes, writable_content
from console.kube.managedfields import Manager, Path, path_text
from console.kube.merging import diff
from console.ui.core.kind import ResourceKind
from console.ui.core.text import escape_invisible
from console.ui.editing.diff import Difference, difference, order_like
from console.ui.editing.manifest import comparable_manifest, editable, marked
from console.ui.editing.yaml_text import plain_yaml, yaml_text

#: Maximum number of displayed fields of other managers.
MAX_OWNERS = 20


@dataclass(frozen=True, slots=True)
class ChangePreview:
    """Preview of a change.

    - `seen`: digest. Two previews with the same changes have the same digest, regardless of other
      fields. It depends on the old and new values of masked fields.
    - `owned`: changed fields with their other managers. `owned_more` are not listed.
    """

    seen: str
    difference: Difference
    owned: Sequence[tuple[str, str]]
    owned_more: int


def preview_change(
    kind: ResourceKind | None, live: Manifest, result: Manifest, wanted: Manifest
) -> ChangePreview:
    """Compare an object with the result of a dry run. `wanted` is the state that was requested.
    Values that the kind masks are hidden.
    """
    if kind is not None:
        before, after = editable(kind, live), comparable_manifest(kind, live, result)
        texts = yaml_text(kind, before), yaml_text(kind, order_like(after, before))
        before, after = marked(kind, live), marked(kind, result)
    else:
        before, after = writable_content(live), writable_content(result)
        texts = plain_yaml(before), plain_yaml(order_like(after, before))
    differing = sorted(
        repr((one.path, one.old, one.new)) for one in diff(before, after, field_tree(live))
    )
    owned = [
        (shown_path(one.change.path), names_of(one.owners)) for one in owned_changes(live, wanted)
    ]
    digest = sha256("\n".join(differing).encode()).hexdigest()
    return ChangePreview(digest, difference(*texts), owned[:MAX_OWNERS], len(owned[MAX_OWNERS:]))


def shown_path(path: Path) -> str:
    return escape_invisible(path_text(path).removeprefix("."))


def names_of(managers: Sequence[Manager]) -> str:
    """Return the names of field managers, for example `kubectl, kube-controller-manager (scale)`."""
    found = (
        f"{one.name or '?'} ({one.subresource})" if one.subresource else one.name or "?"
        for one in managers
    )
    return escape_invisible(", ".join(dict.fromkeys(found)))
