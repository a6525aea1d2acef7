"""The server of the Model Context Protocol: lists the tools and calls them."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from django.utils.translation import gettext as _
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ToolDescription

from console.mcp.pages import PageError, Pages
from console.mcp.tools import TOOLS, Tool
from console.proxying.request import Scope

log = logging.getLogger(__name__)

#: Seconds that a call may take.
CALL_SECONDS = 60.0
#: Maximum bytes of a request. A manifest may have 2 MiB.
MAX_REQUEST = 4 * 2**20
#: The `Pages` of the client, in the scope of its request.
_PAGES = "quarterdeck.mcp.pages"

Context = ServerRequestContext[Any, Any]


async def respond(scope: Scope, receive: Any, send: Any, pages: Pages) -> None:
    """Answer a POST request. No session is kept, so every replica can answer the next request."""
    manager = StreamableHTTPSessionManager(
        _server, json_response=True, stateless=True, max_request_body_size=MAX_REQUEST
    )
    async with manager.run():
        await manager.handle_request({**scope, _PAGES: pages}, receive, send)


async def _list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[_description(tool) for tool in TOOLS.values()])


async def _call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
    tool = TOOLS.get(params.name)
    if tool is None or context.request is None:
        raise MCPError(INVALID_PARAMS, "Unknown tool")
    pages: Pages = context.request.scope[_PAGES]
    try:
        arguments = msgspec.convert(params.arguments or {}, tool.arguments)
        async with asyncio.timeout(CALL_SECONDS):
            return _result(await tool.run(pages, arguments))
    except (msgspec.ValidationError, PageError) as error:
        return _result(str(error), failed=True)
    except TimeoutError:
        return _result(_("The request took too long."), failed=True)
    except Exception:
        log.exception("The tool %s failed", tool.name)
        return _result(_("An internal error occurred in the console."), failed=True)


def _result(text: str, *, failed: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)


def _description(tool: Tool) -> ToolDescription:
    return ToolDescription(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=_schema(tool),
        annotations=ToolAnnotations(
            read_only_hint=tool.reads, destructive_hint=False, open_world_hint=False
        ),
    )


def _schema(tool: Tool) -> dict[str, Any]:
    _reference, found = msgspec.json.schema_components((tool.arguments,))
    schema: Mapping[str, Any] = found[tool.arguments.__name__]
    return dict(schema)


_server: Server[Any] = Server(
    "Quarterdeck",
    instructions="Read the state of Kubernetes clusters, and propose changes that the user applies.",
    on_list_tools=_list_tools,
    on_call_tool=_call_tool,
)
