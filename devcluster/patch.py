"""JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386)."""

from typing import Any

from devcluster.objects import Obj, clone
from devcluster.statuses import StatusError, bad_request


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7386: null removes, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge_patch(result.get(name), value)
    return result


def json_patch(target: Obj, operations: Any) -> Obj:
    """RFC 6902. A patch that is none: 400. One that does not fit the object: 422."""
    if not isinstance(operations, list):
        raise bad_request("a JSON patch is a list of operations")
    document: Any = clone(target)
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise bad_request("each operation of a JSON patch has an op and a path")
        document = _apply(document, operation)
    if not isinstance(document, dict):
        raise unprocessable("the patch does not leave an object")
    return document


def unprocessable(message: str) -> StatusError:
    return StatusError(422, "Invalid", message, details={})


def _apply(document: Any, operation: Obj) -> Any:
    op, path = operation.get("op"), _pointer(operation["path"])
    match op:
        case "add":
            return _add(document, path, operation.get("value"))
        case "remove":
            return _remove(document, path)[0]
        case "replace":
            document, _ = _remove(document, path)
            return _add(document, path, operation.get("value"))
        case "move":
            source = _pointer(operation.get("from", ""))
            document, value = _remove(document, source)
            return _add(document, path, value)
        case "copy":
            value = _get(document, _pointer(operation.get("from", "")))
            copied = clone({"value": value})["value"]
            return _add(document, path, copied)
        case "test":
            if _get(document, path) != operation.get("value"):
                raise unprocessable(f"testing value {operation['path']} failed: test failed")
            return document
    raise bad_request(f"unknown operation {op!r} in a JSON patch")


def _pointer(text: Any) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise bad_request(f"{text!r} is not a JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _missing(path: list[str]) -> StatusError:
    return unprocessable(f"there is nothing at /{'/'.join(path)}")


def _step(node: Any, part: str, path: list[str]) -> Any:
    try:
        return node[_index(part, node)] if isinstance(node, list) else node[part]
    except (KeyError, IndexError, TypeError) as error:
        raise _missing(path) from error


def _index(part: str, node: list[Any]) -> int:
    if not part.isdigit() or (part != "0" and part.startswith("0")) or int(part) >= len(node):
        raise IndexError(part)
    return int(part)


def _get(document: Any, path: list[str]) -> Any:
    for part in path:
        document = _step(document, part, path)
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _get(document, path[:-1])
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif isinstance(parent, list):
        if path[-1] == "-" or path[-1] == str(len(parent)):
            parent.append(value)
        else:
            try:
                parent.insert(_index(path[-1], parent), value)
            except IndexError as error:
                raise _missing(path) from error
    else:
        raise _missing(path)
    return document


def _remove(document: Any, path: list[str]) -> tuple[Any, Any]:
    if not path:
        return None, document
    parent = _get(document, path[:-1])
    value = _step(parent, path[-1], path)
    del parent[int(path[-1]) if isinstance(parent, list) else path[-1]]
    return document, value
