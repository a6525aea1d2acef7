"""HTTP client for identity providers with a timeout and size limit, without redirects, cookies,
proxies or compression.
"""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from accounts.providers.base import Unreachable
from console.kube.transport import failure_reason

#: Timeout in seconds for a complete request, and maximum response size in bytes.
DEADLINE = 5.0
MAX_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    status: int
    body: bytes

    def json(self) -> dict[str, Any]:
        """Return the JSON object. Raise `Unreachable` if the body is not a JSON object."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Unreachable("NotJSON", "the response is not JSON") from error
        if not isinstance(found, dict):
            raise Unreachable("NotJSON", "the response is not a JSON object")
        return found


class ProviderHttpClient:
    """HTTP client for one provider. Raises `Unreachable` if a request fails."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls

    async def get(
        self, url: str, params: Mapping[str, str] | None = None, *, bearer: str = ""
    ) -> ProviderResponse:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        return await self._request("GET", url, headers, params=dict(params or {}))

    async def post(
        self, url: str, form: Mapping[str, str], *, authorization: str = ""
    ) -> ProviderResponse:
        headers = {"Authorization": authorization} if authorization else {}
        return await self._request("POST", url, headers, data=dict(form))

    async def json_at(self, url: str, *, bearer: str = "") -> dict[str, Any]:
        """Return the JSON object at a URL. Raise `Unreachable` unless the status is 200."""
        answer = await self.get(url, bearer=bearer)
        if answer.status != 200:
            raise Unreachable("BadStatus", f"the response status is {answer.status}")
        return answer.json()

    async def _request(
        self, method: str, url: str, headers: dict[str, str], **more: Any
    ) -> ProviderResponse:
        headers |= {"Accept": "application/json", "Accept-Encoding": "identity"}
        try:
            async with (
                asyncio.timeout(DEADLINE),
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(ssl=self._tls),
                    cookie_jar=aiohttp.DummyCookieJar(),
                    auto_decompress=False,
                ) as session,
                session.request(
                    method, url, headers=headers, allow_redirects=False, **more
                ) as response,
            ):
                return ProviderResponse(response.status, await _body(response))
        except TimeoutError as error:
            raise Unreachable("TimedOut", "timeout while waiting for the response") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Unreachable("NoAnswer", f"no valid response: {failure_reason(error)}") from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    found = bytearray()
    async for piece in response.content.iter_any():
        found += piece
        if len(found) > MAX_BYTES:
            raise Unreachable("TooLarge", "the response is too large")
    return bytes(found)
