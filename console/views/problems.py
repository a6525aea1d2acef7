"""What could not be done, in words: for a page, and for the fields of a form."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from console.audit.trail import AuditUnavailable
from console.kube.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    TooDeep,
    TooManyRequests,
    Unavailable,
)
from console.ui.forms import ConsoleForm
from console.ui.text import visible
from console.ui.words import spoken

Problem = ApiError | AuditUnavailable

_INDEX = re.compile(r"\[[^\]]*\]")


def words(error: Problem, *, gone: str = "", changed: str = "", unsure: str = "") -> str:
    """What happened, then kube-apiserver's own sentence. `gone`, `changed` and `unsure` (no answer came):
    where there is more to say than the usual."""
    if isinstance(error, AuditUnavailable):
        return _("Nothing was done, because the audit trail cannot be written.")
    if isinstance(error, TooDeep):
        return too_deep()
    budget = budget_words(error)
    if budget:
        return f"{_('A disruption budget does not allow it now.')} {budget}"
    said = f"{_plain(error, gone, changed, unsure)} {visible(spoken(error.message))}"
    if isinstance(error, TooManyRequests) and error.retry_after:
        again = _("Try again in %(seconds)s seconds.") % {"seconds": round(error.retry_after)}
        return f"{said} {again}"
    return said


def too_deep() -> str:
    """Of an object that YAML cannot be made of, or that cannot even be read."""
    return _("This object is nested too deeply to be shown here.")


def _plain(error: ApiError, gone: str, changed: str, unsure: str) -> str:
    if isinstance(error, Forbidden):
        return _("The cluster did not allow it.")
    if isinstance(error, NotFound):
        return gone or _("It is already gone.")
    if error.reason == "AlreadyExists":
        return _("There is one of this name already.")
    if isinstance(error, Conflict) or _is_another(error):
        return changed or _("Somebody else changed it in the meantime.")
    if isinstance(error, Unavailable) or error.code == 504:
        if error.harmless:
            return _("The cluster did not answer. Nothing was done.")
        return unsure or _("The cluster did not answer, so it may or may not be done.")
    return _("The cluster refused.")


def apply(error: Problem, form: ConsoleForm, told: str = "") -> None:
    """Puts each cause at its field. If there is none, or one has no field, the whole form says `told`, or
    else the usual."""
    form.status = error.page_code
    causes = list(causes_of(error)) if isinstance(error, ApiError) else []
    at_fields = [(name, text) for path, text in causes if (name := _field(form.causes, path))]
    for name, text in dict.fromkeys(at_fields):
        form.add_error(name, text)
    if not causes or len(at_fields) < len(causes):
        form.add_error(None, told or words(error))


def causes_of(error: ApiError) -> Iterator[tuple[str, str]]:
    """Path and message of each."""
    for cause in _causes(error):
        if cause.get("message"):
            yield str(cause.get("field")), visible(str(cause["message"]))


def _causes(error: ApiError) -> Iterator[Mapping[str, Any]]:
    """Webhooks send them too, so they may be anything."""
    details = error.status.get("details")
    causes = details.get("causes") if isinstance(details, Mapping) else None
    return (one for one in (causes if isinstance(causes, list) else ()) if isinstance(one, Mapping))


def has_cause(error: ApiError, reason: str) -> bool:
    """True if kube-apiserver names this as a reason of its refusal."""
    return any(one.get("reason") == reason for one in _causes(error))


def budget_words(error: ApiError) -> str:
    """What kube-apiserver says of the disruption budget that keeps a pod from being evicted; "" if none
    does. The message of the answer does not name it."""
    found = [one for one in _causes(error) if one.get("reason") == "DisruptionBudget"]
    return visible(str(found[0].get("message", ""))) if found else ""


def _is_another(error: ApiError) -> bool:
    """A patch names the uid of the object that it is for. Of another one kube-apiserver says that the
    field cannot be changed (422), and changes nothing."""
    return any(path == "metadata.uid" for path, _text in causes_of(error))


def _field(fields: Mapping[str, str], path: str) -> str:
    """The one of the path, or else of the longest path that it begins with; "" for none."""
    paths = (path, _INDEX.sub("[*]", path))
    above = [
        known
        for known in fields
        if any(f"{one}.".startswith((f"{known}.", f"{known}[")) for one in paths)
    ]
    return fields[max(above, key=len)] if above else ""
