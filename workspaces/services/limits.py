"""Default requests and limits of containers in a project. Writes use the user's identity."""

from copy import deepcopy
from typing import Any

from console.kube.apply import Manifest
from console.kube.gvr import LIMIT_RANGES, Key
from console.kube.host_runtime import get_runtime
from console.kube.indexes import indexes_of
from console.kube.quantity import Amounts
from console.kube.store import Entry
from workspaces.quota_allocation import quantity_text
from workspaces.services.actor import Actor

#: Resources in the form, and keys of a LimitRange item.
RESOURCES = ("cpu", "memory")
REQUESTS, LIMITS = "defaultRequest", "default"


def limits_entry(project: str) -> Entry[Any] | None:
    """Return the LimitRange with default values. KubeSphere's console gives it the name of the
    project.
    """
    store = get_runtime().informer(LIMIT_RANGES).store
    found = sorted(indexes_of(store).by_namespace.get(project), key=lambda entry: entry.key)
    own = store.get(Key(project, project))
    return own or next((entry for entry in found if _item(entry.original())), None)


def defaults_of(entry: Entry[Any] | None) -> dict[str, dict[str, str]]:
    """Return the default values by key and resource, as written in the LimitRange."""
    item = _item(entry.original()) if entry is not None else {}
    return {key: dict(item.get(key) or {}) for key in (REQUESTS, LIMITS)}


async def set_defaults(
    actor: Actor, project: str, wanted: dict[str, Amounts], version: str
) -> None:
    """Set the default values and keep the other fields of the LimitRange.

    `wanted` contains the amounts of `RESOURCES` by key; a missing amount removes the default.
    `version` is the resourceVersion that the user saw, or "" if there was no LimitRange.
    """
    entry = limits_entry(project) if version else None
    body: Manifest = (
        deepcopy(entry.original())
        if entry is not None
        else {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"name": project, "namespace": project},
        }
    )
    change_defaults(body, wanted)
    if version:
        body["metadata"]["resourceVersion"] = version
    elif not body["spec"]["limits"]:
        return
    name = body["metadata"]["name"]
    verb = "update" if version else "create"
    await actor.as_user(verb, LIMIT_RANGES, Key(project, name), body, wait=True)


def change_defaults(body: Manifest, wanted: dict[str, Amounts]) -> None:
    """Set the default values in a LimitRange manifest."""
    items = body.setdefault("spec", {}).get("limits") or []
    item = next((one for one in items if one.get("type") == "Container"), None)
    if item is None:
        item = {"type": "Container"}
        items = [*items, item]
    for key in (REQUESTS, LIMITS):
        others = {n: text for n, text in (item.pop(key, None) or {}).items() if n not in RESOURCES}
        amounts = others | {n: quantity_text(n, amount) for n, amount in wanted[key].items()}
        if amounts:
            item[key] = amounts
    body["spec"]["limits"] = [one for one in items if one.keys() != {"type"}]


def _item(limit_range: Manifest) -> Manifest:
    items = (limit_range.get("spec") or {}).get("limits") or ()
    found: Manifest = next((one for one in items if one.get("type") == "Container"), {})
    return found
