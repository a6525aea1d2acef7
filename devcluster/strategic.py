"""Strategic merge patch: a merge patch that merges lists by key.

Rules:
https://kubernetes.io/docs/tasks/manage-kubernetes-objects/update-api-object-kubectl-patch/,
including the directives `$patch`, `$deleteFromPrimitiveList`, `$setElementOrder` and
`$retainKeys`.
"""

from typing import Any

from devcluster.errors import bad_request
from devcluster.merge_rules import Shape
from devcluster.objects import Obj

_DIRECTIVE = "$patch"
_ORDER = "$setElementOrder/"
_DELETE = "$deleteFromPrimitiveList/"
_RETAIN = "$retainKeys"


def strategic_merge(target: Obj, patch: Obj, shape: Shape) -> Obj:
    """Return the patched copy of `target`. Raise a 400 error for invalid directives."""
    directive = patch.get(_DIRECTIVE)
    if directive == "replace":
        return {name: value for name, value in patch.items() if name != _DIRECTIVE}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise bad_request(f"unknown $patch directive {directive!r}")
    result = dict(target)
    if _RETAIN in patch:
        kept = set(patch[_RETAIN])
        result = {name: value for name, value in result.items() if name in kept}
    for name, value in patch.items():
        if not name.startswith("$"):
            _merge_field(result, name, value, shape.child(name))
    _lists_by_directive(result, patch, shape)
    return result


def _merge_field(result: Obj, name: str, value: Any, shape: Shape) -> None:
    if value is None:
        result.pop(name, None)
    elif isinstance(value, dict):
        if value.get(_DIRECTIVE) == "delete":
            result.pop(name, None)
            return
        held = result.get(name)
        result[name] = strategic_merge(held if isinstance(held, dict) else {}, value, shape)
    elif isinstance(value, list):
        result[name] = _merge_list(result.get(name), value, shape)
    else:
        result[name] = value


def _merge_list(held: Any, patch: list[Any], shape: Shape) -> list[Any]:
    if any(isinstance(item, dict) and item.get(_DIRECTIVE) == "replace" for item in patch):
        return [i for i in patch if not (isinstance(i, dict) and i.get(_DIRECTIVE) == "replace")]
    current = held if isinstance(held, list) else []
    if shape.is_set:
        return current + [item for item in patch if item not in current]
    key = shape.patch_key
    if not key:
        return patch
    return _merge_items(list(current), patch, key, shape)


def _merge_items(current: list[Any], patch: list[Any], key: str, shape: Shape) -> list[Any]:
    for item in patch:
        if not isinstance(item, dict) or key not in item:
            raise bad_request(f"an item of the patch does not have the merge key {key}")
        places = [i for i, held in enumerate(current) if held.get(key) == item[key]]
        if item.get(_DIRECTIVE) == "delete":
            current = [held for held in current if held.get(key) != item[key]]
        elif places:
            current[places[0]] = strategic_merge(current[places[0]], item, shape.item)
        else:
            current.append(strategic_merge({}, item, shape.item))
    return current


def _lists_by_directive(result: Obj, patch: Obj, shape: Shape) -> None:
    for name, value in patch.items():
        if name.startswith(_DELETE):
            field = name.removeprefix(_DELETE)
            result[field] = [item for item in result.get(field) or [] if item not in value]
        elif name.startswith(_ORDER):
            field = name.removeprefix(_ORDER)
            if isinstance(result.get(field), list):
                result[field] = _ordered(result[field], value, shape.child(field).patch_key)


def _ordered(items: list[Any], order: list[Any], key: str) -> list[Any]:
    """Reorder the items listed in `order`. Other items keep their position."""

    def name(item: Any) -> Any:
        return item.get(key) if key and isinstance(item, dict) else item

    places = {name(item): index for index, item in enumerate(order)}
    listed = iter(
        sorted((i for i in items if name(i) in places), key=lambda item: places[name(item)])
    )
    return [next(listed) if name(item) in places else item for item in items]
