"""HTTP to identity providers: short, bounded, without redirects, cookies, proxies or compression."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from accounts.providers.base import Unreachable

#: Seconds for the whole of a request, and bytes of an answer.
DEADLINE = 5.0
MAX_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    def json(self) -> dict[str, Any]:
        """Raises `Unreachable` for what is not an object."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Unreachable("NotJSON", "the answer is not JSON") from error
        if not isinstance(found, dict):
            raise Unreachable("NotJSON", "the answer is not an object")
        return found


class Web:
    """One provider's way out. Raises `Unreachable` for whatever is no answer."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls

    async def get(
        self, url: str, params: Mapping[str, str] | None = None, *, bearer: str = ""
    ) -> Answer:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        return await self._request("GET", url, headers, params=dict(params or {}))

    async def post(self, url: str, form: Mapping[str, str], *, authorization: str = "") -> Answer:
        headers = {"Authorization": authorization} if authorization else {}
        return await self._request("POST", url, headers, data=dict(form))

    async def json_at(self, url: str, *, bearer: str = "") -> dict[str, Any]:
        """An object that must be there."""
        answer = await self.get(url, bearer=bearer)
        if answer.status != 200:
            raise Unreachable("BadStatus", f"the answer has the status {answer.status}")
        return answer.json()

    async def _request(self, method: str, url: str, headers: dict[str, str], **more: Any) -> Answer:
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
                return Answer(response.status, await _body(response))
        except TimeoutError as error:
            raise Unreachable("TimedOut", "no answer in time") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Unreachable("NoAnswer", f"no answer: {type(error).__name__}") from error


async def _body(response: aiohttp.ClientResponse) -> bytes:
    found = bytearray()
    async for piece in response.content.iter_any():
        found += piece
        if len(found) > MAX_BYTES:
            raise Unreachable("TooLarge", "the answer is too large")
    return bytes(found)
