"""What would come of an action: kube-apiserver is asked as the viewer, and nothing is done."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from console.kube.gvr import Key
from console.ui.access import Access
from console.ui.actions import Action, Context
from console.ui.difference import Difference, manifest_difference
from console.ui.editing import editable, shown
from console.ui.http import ConsoleRequest
from console.ui.kind import ResourceKind
from console.ui.text import visible
from console.ui.threads import in_thread


@dataclass(frozen=True, slots=True)
class Outlook:
    """`warnings`: kube-apiserver's."""

    difference: Difference
    warnings: tuple[str, ...]


async def try_as_user(
    request: ConsoleRequest,
    kind: ResourceKind,
    action: Action,
    key: Key,
    access: Access,
    uid: str,
    data: Mapping[str, Any],
) -> Outlook:
    """Of an action that `reviews`. Raises `ApiError`, and `RecursionError` for what is too deep."""
    client = access.cluster.runtime.as_user(access.identity)
    context = Context(request, kind, key, uid, access, client, "", _alone, data, trial=True)
    await action.run(context)
    before, after = context.before[-1], context.answers[-1]
    # Some objects are a million characters long.
    found = await in_thread(
        lambda: manifest_difference(kind, editable(kind, before), shown(kind, before, after))
    )
    return Outlook(found, tuple(map(visible, dict.fromkeys(context.warnings))))


async def _alone(_action: Action, _key: Key, _uid: str) -> str:
    """Nothing is tried of other objects."""
    return ""
