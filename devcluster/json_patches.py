"""JSON Patch (RFC 6902)."""

from typing import Any

from jsonpatch import InvalidJsonPatch, JsonPatch, JsonPatchException
from jsonpointer import JsonPointerException

from devcluster.errors import StatusError, bad_request
from devcluster.objects import Obj


def json_patch(target: Obj, operations: Any) -> Obj:
    """Apply an RFC 6902 patch. Raise a 400 error if it is malformed, and 422 if it cannot be
    applied.
    """
    try:
        document = JsonPatch(operations).apply(target)
    except InvalidJsonPatch as error:
        raise bad_request(str(error)) from error
    except (JsonPatchException, JsonPointerException) as error:
        raise StatusError(422, "Invalid", str(error), details={}) from error
    if not isinstance(document, dict):
        raise StatusError(422, "Invalid", "the patch does not leave an object", details={})
    return document
