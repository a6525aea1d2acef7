"""Texts for failed requests, for pages and form fields."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable
from console.kube.errors import (
    ApiError,
    BadRequest,
    Conflict,
    Forbidden,
    NodeRefused,
    NotFound,
    TooDeep,
    TooManyRequests,
    Unavailable,
    UnsupportedProtocol,
)
from console.ui.core.text import escape_invisible
from console.ui.core.words import translate_message
from console.ui.forms.forms import ConsoleForm

Problem = ApiError | AuditUnavailable

_INDEX = re.compile(r"\[[^\]]*\]")


def error_text(error: Problem, *, gone: str = "", changed: str = "", unsure: str = "") -> str:
    """Return a description of the error followed by kube-apiserver's message.

    `gone`, `changed` and `unsure` (no response) replace the default descriptions.
    """
    if isinstance(error, AuditUnavailable):
        return _("No changes were made because the audit trail cannot be written.")
    if isinstance(error, TooDeep):
        return too_deep()
    budget = disruption_budget_text(error)
    if budget:
        # Not inside an f-string, where makemessages does not find texts.
        blocked = _("Blocked by a disruption budget.")
        return f"{blocked} {budget}"
    said = f"{_plain(error, gone, changed, unsure)} {escape_invisible(translate_message(error.message))}"
    if isinstance(error, TooManyRequests) and error.retry_after:
        again = _("Try again in %(seconds)s seconds.") % {"seconds": round(error.retry_after)}
        return f"{said} {again}"
    return said


def pod_error_text(error: ApiError, *, silent: str, unsure: str = "") -> str:
    """Like `error_text`, for a log or terminal of a pod. `silent`: the description if the pod's node
    does not respond. Its original message contains the node's address, so it is not shown.
    """
    if isinstance(error, BadRequest):
        # The message comes from the kubelet, which is the only component that knows the reason.
        return escape_invisible(translate_message(error.message))
    if isinstance(error, NotFound):
        return _("The pod no longer exists.")
    if isinstance(error, UnsupportedProtocol | NodeRefused):
        return translate_message(error.message)
    if error.code >= 500 and not isinstance(error, Unavailable):
        return silent
    return error_text(error, unsure=unsure)


def too_deep() -> str:
    """Return the text for an object that is nested too deeply to be parsed or converted to YAML."""
    return _("This object is nested too deeply to show here.")


def _plain(error: ApiError, gone: str, changed: str, unsure: str) -> str:
    if isinstance(error, Forbidden):
        return _("Permission denied by the cluster.")
    if isinstance(error, NotFound):
        return gone or _("The object no longer exists.")
    if error.reason == "AlreadyExists":
        return _("An object with this name already exists.")
    if isinstance(error, Conflict) or _is_another(error):
        return changed or _(
            "This object was changed in the meantime. Reload the page and try again."
        )
    if isinstance(error, Unavailable) or error.code == 504:
        if error.harmless:
            return _("The cluster did not respond. No changes were made.")
        return unsure or _(
            "The cluster did not respond. The change may or may not have been applied."
        )
    return _("The cluster rejected the request.")


def add_form_errors(error: Problem, form: ConsoleForm, told: str = "") -> None:
    """Add each cause to its form field. If a cause has no field, add `told`, or the default text,
    to the form.
    """
    form.status = error.page_code
    causes = list(causes_of(error)) if isinstance(error, ApiError) else []
    at_fields = [(name, text) for path, text in causes if (name := _field(form.error_fields, path))]
    for name, text in dict.fromkeys(at_fields):
        form.add_error(name, text)
    if not causes or len(at_fields) < len(causes):
        form.add_error(None, told or error_text(error))


def causes_of(error: ApiError) -> Iterator[tuple[str, str]]:
    """Yield the path and message of each cause."""
    for cause in _causes(error):
        if cause.get("message"):
            yield str(cause.get("field")), escape_invisible(str(cause["message"]))


def _causes(error: ApiError) -> Iterator[Mapping[str, Any]]:
    """Return the causes of a response. Admission webhooks may send arbitrary data."""
    details = error.status.get("details")
    causes = details.get("causes") if isinstance(details, Mapping) else None
    return (one for one in (causes if isinstance(causes, list) else ()) if isinstance(one, Mapping))


def has_cause(error: ApiError, reason: str) -> bool:
    """Return True if the response contains a cause with the given reason."""
    return any(one.get("reason") == reason for one in _causes(error))


def disruption_budget_text(error: ApiError) -> str:
    """Return kube-apiserver's text about the disruption budget that blocks an eviction, or "".

    Only the cause names the budget, not the message of the response.
    """
    found = [one for one in _causes(error) if one.get("reason") == "DisruptionBudget"]
    return escape_invisible(str(found[0].get("message", ""))) if found else ""


def _is_another(error: ApiError) -> bool:
    """Return True if the patch was meant for an object with another UID.

    Patches contain the object's UID. For another object, kube-apiserver rejects the change of
    this immutable field with 422.
    """
    return any(path == "metadata.uid" for path, _text in causes_of(error))


def _field(fields: Mapping[str, str], path: str) -> str:
    """Return the form field of a path, or of its longest known prefix, or ""."""
    paths = (path, _INDEX.sub("[*]", path))
    above = [
        known
        for known in fields
        if any(f"{one}.".startswith((f"{known}.", f"{known}[")) for one in paths)
    ]
    return fields[max(above, key=len)] if above else ""
