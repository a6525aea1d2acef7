"""Patches in the body of a request."""

from typing import Any

from django.utils.translation import gettext as _

from console.gateway.errors import Refusal
from console.gateway.kapis.call import Call
from console.kube.clients import JSON_PATCH, MERGE_PATCH
from console.kube.transport import JSON

#: KubeSphere's console sends merge patches without a media type of their own.
_TYPES = {JSON_PATCH: JSON_PATCH, MERGE_PATCH: MERGE_PATCH, JSON: MERGE_PATCH, "": MERGE_PATCH}


def read_patch(call: Call) -> tuple[Any, str]:
    """Return a patch and its media type. Raise `Refusal`."""
    given = call.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    content_type = _TYPES.get(given)
    if content_type is None:
        raise Refusal(415, _("Use a merge patch or a JSON patch."))
    found = call.json()
    if not isinstance(found, list if content_type == JSON_PATCH else dict):
        raise Refusal(400, _("The body is not a patch of this media type."))
    return found, content_type
