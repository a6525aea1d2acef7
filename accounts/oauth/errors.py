"""Error responses as defined by RFC 6749 (section 5.2) and RFC 6750 (section 3)."""

import math
from typing import Any

from django.http import JsonResponse

REALM = "Quarterdeck"
BASIC = f'Basic realm="{REALM}", charset="UTF-8"'


class OAuthError(Exception):
    """Error response.

    `error` is a code from the specifications; `description` is a fixed ASCII sentence that never
    contains user input.
    """

    def __init__(
        self, error: str, description: str, *, status: int = 400, **headers: str | int
    ) -> None:
        super().__init__(error)
        self.error, self.description, self.status = error, description, status
        self.headers = {name.replace("_", "-"): str(value) for name, value in headers.items()}

    def response(self) -> JsonResponse:
        body = {"error": self.error, "error_description": self.description}
        return json_response(body, self.status, self.headers)


def invalid_request(description: str) -> OAuthError:
    return OAuthError("invalid_request", description)


def invalid_grant(description: str) -> OAuthError:
    return OAuthError("invalid_grant", description)


def invalid_client() -> OAuthError:
    return OAuthError(
        "invalid_client", "Unknown client or wrong secret.",
        status=401, WWW_Authenticate=BASIC,
    )  # fmt: skip


def invalid_token() -> OAuthError:
    description = "The token is invalid or expired."
    return OAuthError(
        "invalid_token", description,
        status=401, WWW_Authenticate=_bearer("invalid_token", description),
    )  # fmt: skip


def no_token() -> OAuthError:
    """Return the error for a missing token. Its challenge has no error code (RFC 6750)."""
    return OAuthError(
        "invalid_token", "An access token in the Authorization header is required.",
        status=401, WWW_Authenticate=f'Bearer realm="{REALM}"',
    )  # fmt: skip


def insufficient_scope(scope: str) -> OAuthError:
    description = f"A token with the scope {scope} is required."
    challenge = _bearer("insufficient_scope", description) + f', scope="{scope}"'
    return OAuthError("insufficient_scope", description, status=403, WWW_Authenticate=challenge)


def unavailable(description: str, *, again: bool = True) -> OAuthError:
    """Return a 503 error. If `again` is True, it includes a Retry-After header."""
    headers = {"Retry_After": 5} if again else {}
    return OAuthError("temporarily_unavailable", description, status=503, **headers)


def too_many(wait: float) -> OAuthError:
    """Return a 429 error, as KubeSphere does. `wait` is the number of seconds until the next
    attempt.
    """
    description = "There were too many failed attempts. Try again later."
    return OAuthError("slow_down", description, status=429, Retry_After=math.ceil(wait))


def _bearer(error: str, description: str) -> str:
    return f'Bearer realm="{REALM}", error="{error}", error_description="{description}"'


def json_response(
    body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None
) -> JsonResponse:
    """Return a JSON response that must not be cached."""
    kept = {"Cache-Control": "no-store", "Pragma": "no-cache", **(headers or {})}
    return JsonResponse(body, status=status, headers=kept)
