"""What goes wrong, as RFC 6749 (section 5.2) and RFC 6750 (section 3) have it said."""

import math
from typing import Any

from django.http import JsonResponse

REALM = "Quarterdeck"
BASIC = f'Basic realm="{REALM}", charset="UTF-8"'


class OAuthError(Exception):
    """`error` is a code of the specifications; `description` a fixed sentence in ASCII, never input."""

    def __init__(
        self, error: str, description: str, *, status: int = 400, **headers: str | int
    ) -> None:
        super().__init__(error)
        self.error, self.description, self.status = error, description, status
        self.headers = {name.replace("_", "-"): str(value) for name, value in headers.items()}

    def response(self) -> JsonResponse:
        body = {"error": self.error, "error_description": self.description}
        return answer(body, self.status, self.headers)


def invalid_request(description: str) -> OAuthError:
    return OAuthError("invalid_request", description)


def invalid_grant(description: str) -> OAuthError:
    return OAuthError("invalid_grant", description)


def invalid_client() -> OAuthError:
    return OAuthError(
        "invalid_client", "The client is unknown or its secret is wrong.",
        status=401, WWW_Authenticate=BASIC,
    )  # fmt: skip


def invalid_token() -> OAuthError:
    description = "The token is not valid, or not any more."
    return OAuthError(
        "invalid_token", description,
        status=401, WWW_Authenticate=_bearer("invalid_token", description),
    )  # fmt: skip


def no_token() -> OAuthError:
    """RFC 6750: without a token, the challenge has no error code."""
    return OAuthError(
        "invalid_token", "This needs an access token in the Authorization header.",
        status=401, WWW_Authenticate=f'Bearer realm="{REALM}"',
    )  # fmt: skip


def insufficient_scope(scope: str) -> OAuthError:
    description = f"This needs a token of the scope {scope}."
    challenge = _bearer("insufficient_scope", description) + f', scope="{scope}"'
    return OAuthError("insufficient_scope", description, status=403, WWW_Authenticate=challenge)


def unavailable(description: str, *, again: bool = True) -> OAuthError:
    """`again`: whether the caller is told when to ask again."""
    headers = {"Retry_After": 5} if again else {}
    return OAuthError("temporarily_unavailable", description, status=503, **headers)


def too_many(wait: float) -> OAuthError:
    """`wait`: seconds until there may be another attempt. KubeSphere answers 429 too."""
    description = "There were too many failed attempts. Try again later."
    return OAuthError("slow_down", description, status=429, Retry_After=math.ceil(wait))


def _bearer(error: str, description: str) -> str:
    return f'Bearer realm="{REALM}", error="{error}", error_description="{description}"'


def answer(
    body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None
) -> JsonResponse:
    """JSON that nobody keeps."""
    kept = {"Cache-Control": "no-store", "Pragma": "no-cache", **(headers or {})}
    return JsonResponse(body, status=status, headers=kept)
