"""Failures as Kubernetes `Status` objects.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
"""

from typing import Any

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def status_object(
    code: int, message: str, *, causes: tuple[tuple[str, str], ...] = ()
) -> dict[str, Any]:
    """Return a failure `Status`. `causes` contains pairs of field and message."""
    found: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": _REASONS.get(code, "Unknown"),
        "code": code,
    }
    if causes:
        listed = [{"field": field, "message": text} for field, text in causes]
        found["details"] = {"causes": listed}
    return found
