"""Requests to kube-apiserver on one connection that is kept, with short patience."""

import http.client
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

__all__ = ["Pen", "Silence"]


class Silence(OSError):
    """No answer: what was asked for may have happened, or may yet."""


class Pen:
    """For one thread at a time."""

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
        """Status and body. Raises `Silence`."""
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": content_type}
        try:
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._connection.close()
            raise Silence(str(error)) from error
