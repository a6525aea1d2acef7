"""Error responses of the gateway, which are Kubernetes `Status` objects."""

from collections.abc import Sequence
from typing import Any

import msgspec

from console.kube.status_object import status_object

#: Security headers of every response, also of kube-apiserver's. `sandbox` keeps a browser from running
#: scripts in a response that a tenant's program sent through a `proxy` subresource.
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"same-origin"),
)
#: Responses of the console itself are for one user.
NOT_STORED = (b"cache-control", b"private, no-store")


class Refusal(Exception):
    """Raised to answer a request with a `Status` instead of forwarding it."""

    def __init__(self, code: int, message: str, **headers: str) -> None:
        super().__init__(code)
        self.code, self.message = code, message
        self.headers = [
            (name.replace("_", "-").lower().encode(), value.encode("latin-1", "replace"))
            for name, value in headers.items()
        ]


def status_body(code: int, message: str) -> bytes:
    return msgspec.json.encode(status_object(code, str(message)))


def status_headers(body: bytes) -> list[tuple[bytes, bytes]]:
    length = (b"content-length", str(len(body)).encode())
    return [(b"content-type", b"application/json"), length, NOT_STORED, *SECURITY_HEADERS]


async def send_refusal(send: Any, refusal: Refusal) -> None:
    body = status_body(refusal.code, refusal.message)
    await send_response(send, refusal.code, [*status_headers(body), *refusal.headers], body)


async def send_response(
    send: Any, code: int, headers: Sequence[tuple[bytes, bytes]], body: bytes
) -> None:
    await send({"type": "http.response.start", "status": code, "headers": headers})
    await send({"type": "http.response.body", "body": body})
