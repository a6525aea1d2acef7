"""Preview of an action with a dry run, using the viewer's permissions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import Key
from console.ui.core.access import Access
from console.ui.core.actions import Action, ActionContext
from console.ui.core.kind import ResourceKind
from console.ui.core.requests import ConsoleRequest
from console.ui.core.text import escape_invisible
from console.ui.core.threads import in_thread
from console.ui.editing.diff import Difference, manifest_difference
from console.ui.editing.manifest import comparable_manifest, editable


@dataclass(frozen=True, slots=True)
class DryRunPreview:
    """Result of a dry run. `warnings` are kube-apiserver's warnings."""

    difference: Difference
    warnings: tuple[str, ...]


async def dry_run_as_user(
    request: ConsoleRequest,
    kind: ResourceKind,
    action: Action,
    key: Key,
    access: Access,
    uid: str,
    data: Mapping[str, Any],
) -> DryRunPreview:
    """Run an action with `reviews` as a dry run. Raise `ApiError`, or `RecursionError` for objects
    that are nested too deeply.
    """
    client = access.cluster.runtime.as_user(access.identity)
    context = ActionContext(request, kind, key, uid, access, client, "", _alone, data, dry_run=True)
    await action.run(context)
    before, after = context.read_objects[-1], context.patched_objects[-1]
    # In a thread, because some objects have a million characters.
    found = await in_thread(
        lambda: manifest_difference(
            kind, editable(kind, before), comparable_manifest(kind, before, after)
        )
    )
    return DryRunPreview(found, tuple(map(escape_invisible, dict.fromkeys(context.warnings))))


async def _alone(_action: Action, _key: Key, _uid: str) -> str:
    """Skip follow-up actions on other objects."""
    return ""
