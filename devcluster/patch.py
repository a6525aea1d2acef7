"""JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7386)."""

from typing import Any

from jsonpatch import InvalidJsonPatch, JsonPatch, JsonPatchException
from jsonpointer import JsonPointerException

from devcluster.objects import Obj
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
    try:
        document = JsonPatch(operations).apply(target)
    except InvalidJsonPatch as error:
        raise bad_request(str(error)) from error
    except (JsonPatchException, JsonPointerException) as error:
        raise StatusError(422, "Invalid", str(error), details={}) from error
    if not isinstance(document, dict):
        raise StatusError(422, "Invalid", "the patch does not leave an object", details={})
    return document
