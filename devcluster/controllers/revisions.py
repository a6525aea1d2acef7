"""Revision history of StatefulSets and DaemonSets, stored as ControllerRevisions."""

from devcluster.controllers.base import Controller
from devcluster.controllers.pods import owner_reference
from devcluster.objects import Obj, labels_of, meta
from devcluster.store import Record

_REVISIONS = "controllerrevisions.apps"


def sync_revisions(
    controller: Controller, kind: str, owner: Obj, digest: str, *, label: str, used: set[str]
) -> None:
    """Make the current template the newest revision. `used` contains the hashes of existing pods."""
    about, template = meta(owner), owner["spec"]["template"]
    held = sorted(controller.owned(about["uid"], _REVISIONS), key=_number)
    newest = _number(held[-1]) if held else 0
    name = f"{about['name']}-{digest}"
    same = next((record for record in held if record.name == name), None)
    if same is None:
        body: Obj = {
            "metadata": {
                "name": name,
                "labels": {**labels_of(template), label: digest},
                "annotations": dict(about.get("annotations") or {}),
                "ownerReferences": [owner_reference("apps/v1", kind, owner)],
            },
            "data": {"spec": {"template": {**template, "$patch": "replace"}}},
            "revision": newest + 1,
        }
        controller.create(_REVISIONS, about["namespace"], body)
    elif _number(same) != newest:
        controller.update(_REVISIONS, same, lambda found: {**found, "revision": newest + 1})
    old = [r for r in held if r is not same and r.labels.get(label) not in used]
    for record in old[: max(0, len(old) - int(owner["spec"].get("revisionHistoryLimit", 10)))]:
        controller.delete(_REVISIONS, record)


def _number(record: Record) -> int:
    return int(record.load().get("revision", 0))
