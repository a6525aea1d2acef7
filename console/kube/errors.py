"""What kube-apiserver answers when it does not do what was asked, as exceptions.

Every failure of a call is an `ApiError`: an HTTP status with the `Status` object of the answer, or
`Unavailable` when there was no answer. Nothing of a request (headers, token, body) is kept in one.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from console.kube.sentences import Sentence

Status = Mapping[str, Any]


#: Seconds that a server may ask to be left alone, whatever it says.
LONGEST_WAIT = 300


class ApiError(Exception):
    """An answer of 400 or above.

    `code`: HTTP status. `reason`: Kubernetes' own word (`NotFound`, `Conflict`, ...). `message`: for
    people, the server's own words or a `Sentence` of ours. `status`: the whole `Status` object, empty if
    there was none. `retry_after`: seconds the server asked to wait, or None. `body`: the answer as it
    came, or as much of it as was read. `harmless`: whatever became of the request, it changed nothing.
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
        # A `Sentence` stays one.
        self.message = str(told) if told else message
        self.retry_after = retry_after
        super().__init__(f"{code} {self.reason}: {self.message}")

    @property
    def page_code(self) -> int:
        """The HTTP status of a page that tells of it. What broke behind the console is no error of the
        console's own (500), RFC 9110, section 15.6.3."""
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


class Replaced(Conflict):
    """Of ours: another object has taken the name since."""

    def __init__(self) -> None:
        super().__init__(409, Sentence("The object is not the one that was read."))


class Overtaken(Conflict):
    """Of ours: the object is the one that was meant, and somebody else has changed it since. `key`: what
    of it; with none it changed each time that it was tried."""

    def __init__(self, key: str = "") -> None:
        often = Sentence("It is changed too often.")
        changed = Sentence("The value of %(key)s is another one now.", key=key)
        super().__init__(409, changed if key else often)


class Gone(ApiError):
    """410: the resourceVersion or the continue token is older than the server remembers."""

    default_reason = "Expired"


class Invalid(ApiError):
    default_reason = "Invalid"


class TooManyRequests(ApiError):
    default_reason = "TooManyRequests"


class ServerError(ApiError):
    """500 and above."""

    default_reason = "InternalError"


class TooDeep(ServerError):
    """Of ours: the answer is an object that is nested too deeply to be read."""

    def __init__(self) -> None:
        super().__init__(502, Sentence("The answer of the Kubernetes API is nested too deeply"))

    @property
    def page_code(self) -> int:
        return 422


class Unavailable(ApiError):
    """No answer: connection refused, reset, timed out, or not TLS that we trust."""

    default_reason = "ServiceUnavailable"

    def __init__(self, message: str) -> None:
        super().__init__(503, message)


class Distrusted(Unavailable):
    """Somebody answers whose certificate is not from an authority that we know, or none at all."""


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
    """The exception for an answer; also for the `Status` object inside a watch's ERROR event, which has
    what is else a header in its details."""
    if retry_after is None:
        details = status.get("details")
        seconds = details.get("retryAfterSeconds") if isinstance(details, Mapping) else None
        retry_after = (
            min(seconds, LONGEST_WAIT) if isinstance(seconds, int) and seconds > 0 else None
        )
    elif retry_after > LONGEST_WAIT:
        retry_after = LONGEST_WAIT
    kind = _BY_CODE.get(code) or (ServerError if code >= 500 else ApiError)
    message = Sentence("kube-apiserver answered %(code)s", code=code)
    return kind(code, message, status=status, retry_after=retry_after, body=body)
