"""Error responses of kube-apiserver as exceptions.

Every failed call raises an `ApiError`: an HTTP status with the `Status` object of the response,
or `Unavailable` if there was no response. Exceptions never contain request data (headers, token,
body).
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from console.kube.messages import Message

Status = Mapping[str, Any]


#: Maximum `Retry-After` in seconds that is honored.
LONGEST_WAIT = 300


class ApiError(Exception):
    """A response with status 400 or above.

    - `code`: HTTP status
    - `reason`: Kubernetes' reason (`NotFound`, `Conflict`, ...)
    - `message`: a message for users, from the server or a `Message`
    - `status`: the `Status` object, empty if there was none
    - `retry_after`: seconds the server asked to wait, or None
    - `body`: the response body, possibly truncated
    - `harmless`: True if the request certainly changed nothing
    """

    default_reason: ClassVar[str] = "Unknown"

    def __init__(
        self,
        code: int,
        message: str,
        *,
        status: Status | None = None,
        retry_after: float | None = None,
        body: bytes = b"",
    ) -> None:
        self.code = code
        self.body = body
        self.harmless = False
        self.status: Status = status or {}
        self.reason = str(self.status.get("reason") or self.default_reason)
        told = self.status.get("message")
        # A `Message` must not be converted to str.
        self.message = str(told) if told else message
        self.retry_after = retry_after
        super().__init__(f"{code} {self.reason}: {self.message}")

    @property
    def page_code(self) -> int:
        """Return the HTTP status for a page that shows this error.

        An upstream failure is not an internal error (500) of the console but 502 (RFC 9110,
        section 15.6.3).
        """
        return 502 if self.code >= 500 and self.code not in (503, 504) else self.code


class BadRequest(ApiError):
    default_reason = "BadRequest"


class Unauthorized(ApiError):
    default_reason = "Unauthorized"


class Forbidden(ApiError):
    default_reason = "Forbidden"


class NotFound(ApiError):
    default_reason = "NotFound"


class Conflict(ApiError):
    default_reason = "Conflict"


class ObjectRecreated(Conflict):
    """Raised by the console: the name now belongs to a different object."""

    def __init__(self) -> None:
        super().__init__(
            409, Message("The object was replaced by another object with the same name.")
        )


class ChangedConcurrently(Conflict):
    """Raised by the console: the object was changed by another client.

    `key` is the changed key. Without it, every attempt was overtaken by another change.
    """

    def __init__(self, key: str = "") -> None:
        often = Message("The object changes too often. Try again later.")
        changed = Message("The value of %(key)s has changed in the meantime.", key=key)
        super().__init__(409, changed if key else often)


class Gone(ApiError):
    """410: the resourceVersion or the continue token is too old."""

    default_reason = "Expired"


class Invalid(ApiError):
    default_reason = "Invalid"


class TooManyRequests(ApiError):
    default_reason = "TooManyRequests"


class ServerError(ApiError):
    """500 and above."""

    default_reason = "InternalError"


class InvalidResponse(ServerError):
    """Raised by the console: the response is not one of the Kubernetes API."""

    def __init__(
        self,
        message: str = Message("The response from the Kubernetes API could not be parsed"),  # noqa: B008
    ) -> None:
        super().__init__(502, message)


class UnsupportedProtocol(ApiError):
    """Raised by the console if the server of a stream doesn't support any of the offered websocket
    subprotocols.
    """

    default_reason = "UnsupportedProtocol"

    def __init__(self, offered: Sequence[str]) -> None:
        text = Message(
            "The node of the pod supports none of the stream protocols %(offered)s.",
            offered=", ".join(offered),
        )
        super().__init__(501, text)


class NodeRefused(ApiError):
    """Raised by the console: the node refused a stream that kube-apiserver had authorized."""

    default_reason = "NodeRefused"

    def __init__(self) -> None:
        super().__init__(
            403,
            Message(
                "kube-apiserver allowed the request, but the node of the pod refused it. Check the "
                "permissions of kube-apiserver's kubelet client certificate."
            ),
        )


class TooLong(InvalidResponse):
    """Raised by the console: the response exceeds a size limit."""

    def __init__(self) -> None:
        super().__init__(Message("The response from the Kubernetes API is too long"))


class TooDeep(InvalidResponse):
    """Raised by the console: the object in the response is nested too deeply to decode."""

    def __init__(self) -> None:
        super().__init__(Message("The response from the Kubernetes API is nested too deeply"))

    @property
    def page_code(self) -> int:
        return 422


class Unavailable(ApiError):
    """No response: connection refused, reset, timed out, or untrusted TLS."""

    default_reason = "ServiceUnavailable"

    def __init__(self, message: str) -> None:
        super().__init__(503, message)


class UntrustedCertificate(Unavailable):
    """The server's certificate is missing or not signed by a trusted authority."""


_BY_CODE: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def error_from_status(
    code: int, status: Status, *, retry_after: float | None = None, body: bytes = b""
) -> ApiError:
    """Return the exception for an error response or for the `Status` object in a watch's ERROR
    event.

    In an ERROR event, the details contain the `Retry-After` value.
    """
    if retry_after is None:
        details = status.get("details")
        seconds = details.get("retryAfterSeconds") if isinstance(details, Mapping) else None
        retry_after = (
            min(seconds, LONGEST_WAIT) if isinstance(seconds, int) and seconds > 0 else None
        )
    elif retry_after > LONGEST_WAIT:
        retry_after = LONGEST_WAIT
    kind = _BY_CODE.get(code) or (ServerError if code >= 500 else ApiError)
    message = Message("kube-apiserver returned %(code)s", code=code)
    return kind(code, message, status=status, retry_after=retry_after, body=body)
