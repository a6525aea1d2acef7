"""Error responses in the format of kube-apiserver's `Status` objects."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from devcluster.objects import Obj

OPTIMISTIC_LOCK = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@dataclass(frozen=True, slots=True)
class Cause:
    """A validation error: the field, Kubernetes' reason and a message."""

    field: str
    reason: str
    message: str

    def body(self) -> Obj:
        found = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in found.items() if value}

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class StatusError(Exception):
    """An error response with a status code of 400 or above. `body()` returns the `Status` object."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        *,
        details: Obj | None = None,
        metadata: Obj | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.details, self.metadata, self.headers = details, metadata or {}, headers or {}

    def body(self) -> Obj:
        status: Obj = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details:
            status["details"] = self.details
        status["code"] = self.code
        return status


def _details(name: str, group: str, kind: str, causes: Sequence[Cause] = ()) -> Obj:
    found: Obj = {"name": name, "group": group, "kind": kind}
    details = {key: value for key, value in found.items() if value}
    if causes:
        details["causes"] = [c.body() for c in causes]
    return details


def _qualified(group: str, kind: str) -> str:
    return f"{kind}.{group}" if group else kind


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def forbidden(group: str, plural: str, name: str, why: str, *causes: Cause) -> StatusError:
    named = f' "{name}"' if name else ""
    message = f"{_qualified(group, plural)}{named} is forbidden: {why}"
    return StatusError(403, "Forbidden", message, details=_details(name, group, plural, causes))


def forbidden_path(user: str, verb: str, path: str) -> StatusError:
    message = f'forbidden: User {json.dumps(user, ensure_ascii=False)} cannot {verb} path "{path}"'
    return StatusError(403, "Forbidden", message, details={})


def not_found(group: str, plural: str, name: str) -> StatusError:
    message = f'{_qualified(group, plural)} "{name}" not found'
    return StatusError(404, "NotFound", message, details=_details(name, group, plural))


def page_not_found() -> StatusError:
    message = "the server could not find the requested resource"
    return StatusError(404, "NotFound", message, details={})


def method_not_allowed() -> StatusError:
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message, details={})


def already_exists(group: str, plural: str, name: str) -> StatusError:
    message = f'{_qualified(group, plural)} "{name}" already exists'
    return StatusError(409, "AlreadyExists", message, details=_details(name, group, plural))


def conflict(group: str, plural: str, name: str, why: str = OPTIMISTIC_LOCK) -> StatusError:
    message = f'Operation cannot be fulfilled on {_qualified(group, plural)} "{name}": {why}'
    return StatusError(409, "Conflict", message, details=_details(name, group, plural))


def apply_conflict(message: str, causes: Sequence[Cause]) -> StatusError:
    """Return a 409 error for fields owned by other managers. `causes` name the manager and the
    field.
    """
    return StatusError(409, "Conflict", message, details=_details("", "", "", causes))


def expired(message: str, *, continue_token: str = "") -> StatusError:
    metadata = {"continue": continue_token} if continue_token else {}
    return StatusError(410, "Expired", message, metadata=metadata)


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> StatusError:
    texts = [str(cause) for cause in causes]
    listed = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    message = f'{_qualified(group, kind)} "{name}" is invalid: {listed}'
    return StatusError(422, "Invalid", message, details=_details(name, group, kind, causes))


def unsupported_media_type(offered: Sequence[str]) -> StatusError:
    message = "the body of the request was in an unknown format - accepted media types include: "
    return StatusError(415, "UnsupportedMediaType", message + ", ".join(offered))


def too_large_resource_version(wanted: int, current: int) -> StatusError:
    """Return a 504 error for a resourceVersion that the server has not reached in time."""
    cause = Cause("", "ResourceVersionTooLarge", "Too large resource version")
    details = {**_details("", "", "", [cause]), "retryAfterSeconds": 1}
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    return StatusError(504, "Timeout", message, details=details, headers={"Retry-After": "1"})


def internal(message: str) -> StatusError:
    details: Obj = {"causes": [{"message": message}]}
    return StatusError(500, "InternalError", f"Internal error occurred: {message}", details=details)


def too_many_requests(message: str, *causes: Cause, seconds: int = 0) -> StatusError:
    """Return a 429 error. `seconds` is the retry delay, or 0 if unknown."""
    details = _details("", "", "", causes)
    if not seconds:
        return StatusError(429, "TooManyRequests", message, details=details)
    details["retryAfterSeconds"] = seconds
    headers = {"Retry-After": str(seconds)}
    return StatusError(429, "TooManyRequests", message, details=details, headers=headers)


def required(field: str, message: str = "Required value") -> Cause:
    return Cause(field, "FieldValueRequired", message)


def duplicate(field: str, value: object) -> Cause:
    return Cause(field, "FieldValueDuplicate", f'Duplicate value: "{value}"')


def invalid_value(field: str, value: Any, why: str) -> Cause:
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return Cause(field, "FieldValueInvalid", f"Invalid value: {shown}: {why}")


def forbidden_value(field: str, why: str) -> Cause:
    return Cause(field, "FieldValueForbidden", f"Forbidden: {why}")


def unsupported(field: str, value: Any, supported: Sequence[str]) -> Cause:
    known = ", ".join(f'"{text}"' for text in supported)
    return Cause(
        field, "FieldValueNotSupported", f'Unsupported value: "{value}": supported values: {known}'
    )
