"""Requests to kube-apiserver on one reused connection with a short timeout."""

import http.client
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

__all__ = ["NoResponse", "WriterConnection"]


class NoResponse(OSError):
    """The server did not respond. The request may have been processed or may be processed later."""


class WriterConnection:
    """A connection for writes. Not thread-safe."""

    def __init__(self, url: str, ca_file: Path, token: str, *, timeout: float = 2.0) -> None:
        address = urlsplit(url)
        self._connection = http.client.HTTPSConnection(
            address.hostname or "",
            address.port,
            timeout=timeout,
            context=ssl.create_default_context(cafile=str(ca_file)),
        )
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": "quarterdeck-chaos"}

    def close(self) -> None:
        self._connection.close()

    def send(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, dict[str, Any]]:
        """Return status and body. Raise `NoResponse` if there is no response."""
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": content_type}
        try:
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._connection.close()
            raise NoResponse(str(error)) from error
