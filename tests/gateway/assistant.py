"""A client of the MCP endpoint, with the official package."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent, Tool

from tests.gateway.demo import Demo

Mode = Literal["auto", "legacy"]
T = TypeVar("T")


class Assistant:
    """An assistant with a token of a user. `mode` "legacy" is the protocol before 2026."""

    def __init__(self, demo: Demo, token: str, mode: Mode = "auto") -> None:
        self._demo, self._token, self._mode = demo, token, mode

    def tools(self) -> dict[str, Tool]:
        async def ask(client: Client) -> list[Tool]:
            return (await client.list_tools()).tools

        return {tool.name: tool for tool in self._run(ask)}

    def call(self, tool: str, **arguments: Any) -> str:
        """Return the result. It must not be an error."""
        failed, text = self.attempt(tool, **arguments)
        assert not failed, text
        return text

    def refusal(self, tool: str, **arguments: Any) -> str:
        """Return the message of a call that fails."""
        failed, text = self.attempt(tool, **arguments)
        assert failed, text
        return text

    def attempt(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        """Return whether the call failed, and its text."""

        async def ask(client: Client) -> CallToolResult:
            return await client.call_tool(tool, arguments)

        found = self._run(ask)
        content = found.content[0]
        assert isinstance(content, TextContent)
        return found.is_error, content.text

    def _run(self, ask: Callable[[Client], Awaitable[T]]) -> T:
        async def connected() -> T:
            headers = {"Authorization": f"Bearer {self._token}"}
            async with httpx2.AsyncClient(headers=headers) as http:
                transport = streamable_http_client(f"{self._demo.url}/mcp", http_client=http)
                async with Client(transport, mode=self._mode) as client:
                    return await ask(client)

        return asyncio.run(connected())
