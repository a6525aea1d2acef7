"""Responses as Kubernetes `Status` objects, for API clients.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
"""

from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, SuspiciousOperation
from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _

from console.kube.status_object import status_object
from console.ui.forms.forms import ConsoleForm
from console.ui.lists.export import FORMATS

#: Values of `format` that request data, for lists and for single objects.
_DATA = {*FORMATS, "yaml", "text"}


def status_response(
    code: int, message: str, *, causes: tuple[tuple[str, str], ...] = ()
) -> JsonResponse:
    return JsonResponse(status_object(code, message, causes=causes), status=code)


def form_status(form: ConsoleForm | None, code: int, text: str = "") -> JsonResponse:
    """Return the response for an invalid form. `text` is the message if the form has no errors that
    explain the failure.
    """
    errors = form.errors if form is not None else {}
    causes = tuple((field, str(one)) for field, texts in errors.items() for one in texts)
    said = text or " ".join(one for field, one in causes if field == NON_FIELD_ERRORS)
    return status_response(code, said or _("Some fields are invalid."), causes=causes)


def success_object(message: str) -> dict[str, Any]:
    """Return a success `Status`."""
    found = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**found, "message": message, "code": 200}


def success_response(message: str) -> JsonResponse:
    return JsonResponse(success_object(message))


def wants_status(request: HttpRequest) -> bool:
    """Return True if the client requests data, with `format` or with an `Accept` header that
    prefers JSON.
    """
    try:
        if request.GET.get("format") in _DATA:
            return True
    except SuspiciousOperation:
        return False
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"
