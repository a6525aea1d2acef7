"""Response to a form that was not submitted because of viewing the console as another user."""

import re

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from console.ui.core.statuses import status_response, wants_status

#: Fields that the page fills in, and secrets that must not be shown in plain text.
_NOT_TYPED = re.compile(
    r"csrfmiddlewaretoken|uid|base|version|undo|step|list|next|keys|all|made|seen|cluster|namespace"
    r"|(.*-)?was|.*(password|again|current|code|token|secret).*"
)


def no_changes(request: HttpRequest, text: str, *, may_allow: bool = False) -> HttpResponse:
    """Return the response. Pages show the submitted input again, so that it can be copied.

    `may_allow`: offer to allow changes while viewing.
    """
    if wants_status(request) or getattr(request, "htmx", False):
        return status_response(403, text)
    context = {"text": text, "may_allow": may_allow, "typed": _typed(request)}
    return render(request, "accounts/impersonation/no_changes.html", context, status=403)


def _typed(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the name and value of each field that the user may have filled in."""
    fields = ((name, value) for name, all_of in request.POST.lists() for value in all_of)
    return [(name, value) for name, value in fields if value and not _NOT_TYPED.fullmatch(name)]
