"""Helpers of pages whose text is saved as a draft (static/js/draft.js)."""

import re

from django.http import HttpResponse
from django.utils.translation import gettext as _

from console.ui.http import ConsoleRequest
from console.ui.statuses import status_response

_VERSION = re.compile(r"[0-9]{1,9}")


def sent_version(request: ConsoleRequest) -> int | None:
    """Return the draft version the page was loaded with, 0 for none. Return None if the value is
    invalid.
    """
    version = request.POST.get("version", "0")
    return int(version) if _VERSION.fullmatch(version) else None


def kept(version: int) -> HttpResponse:
    """Return the response with the draft's new version."""
    return HttpResponse(status=204, headers={"X-Draft-Version": str(version)})


def not_kept() -> HttpResponse:
    return status_response(409, newer_words())


def newer_words() -> str:
    return _("Draft not saved: another window has a newer draft.")
