"""Helpers of pages whose text is saved as a draft (static/js/draft.js)."""

import re

from django.http import HttpResponse
from django.utils.translation import gettext as _

from console.ui.core.requests import ConsoleRequest
from console.ui.core.statuses import status_response

_VERSION = re.compile(r"[0-9]{1,9}")


def submitted_version(request: ConsoleRequest) -> int | None:
    """Return the draft version the page was loaded with, 0 for none. Return None if the value is
    invalid.
    """
    version = request.POST.get("version", "0")
    return int(version) if _VERSION.fullmatch(version) else None


def draft_saved(version: int) -> HttpResponse:
    """Return the response with the draft's new version."""
    return HttpResponse(status=204, headers={"X-Draft-Version": str(version)})


def draft_conflict() -> HttpResponse:
    return status_response(409, draft_conflict_text())


def draft_conflict_text() -> str:
    return _("Draft not saved: another window has a newer draft.")
