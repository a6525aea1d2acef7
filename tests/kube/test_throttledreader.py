"""Batched reading of a connection: nothing is lost or delayed for long, and the connection is
restored.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from console.kube.throttledreader import ENOUGH, GAP, ThrottledReader

PARTS = 40

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def answered(handler: Handler) -> AsyncIterator[aiohttp.ClientResponse]:
    app = web.Application()
    app.router.add_get("/", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{host}:{port}/") as response,
    ):
        yield response
    await runner.cleanup()


async def begun(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    return response


async def test_small_chunks_are_read_in_few_batches() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = await begun(request)
        for number in range(PARTS):
            await response.write(b"%04d" % number)
            await asyncio.sleep(GAP / 20)
        return response

    async with answered(handler) as response:
        gulps = [chunk async for chunk in ThrottledReader(response).iter_any()]
    assert b"".join(gulps) == b"".join(b"%04d" % number for number in range(PARTS))
    assert len(gulps) <= PARTS / 2


async def test_chunk_after_the_first_is_not_held_back() -> None:
    over = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await begun(request)
        await response.write(b"one")
        await asyncio.sleep(GAP / 5)
        await response.write(b"two")
        await over.wait()
        return response

    async with answered(handler) as response:
        content = ThrottledReader(response).iter_any()
        read = b""
        async with asyncio.timeout(10):
            while read != b"onetwo":
                read += await anext(content)
        over.set()
        with pytest.raises(StopAsyncIteration):
            await anext(content)


async def test_end_and_large_data_are_returned_immediately() -> None:
    much = b"x" * (ENOUGH * 20)

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await begun(request)
        await response.write(b"one")
        await response.write(much)
        return response

    async with answered(handler) as response:
        gulps = [chunk async for chunk in ThrottledReader(response).iter_any()]
    assert b"".join(gulps) == b"one" + much


async def test_connection_settings_are_restored() -> None:
    ended = asyncio.Event()

    async def handler(request: web.Request) -> web.StreamResponse:
        response = await begun(request)
        await response.write(b"one")
        await ended.wait()
        return response

    async with answered(handler) as response:
        assert response.connection is not None
        assert response.connection.transport is not None
        connection = response.connection.transport.get_extra_info("socket")

        def least() -> int:
            return int(connection.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT))

        content = ThrottledReader(response).iter_any()
        await anext(content)
        waiting = asyncio.ensure_future(anext(content))
        await asyncio.sleep(0)
        assert least() > 1
        began = time.monotonic()
        while least() > 1:
            assert time.monotonic() - began < 10
            await asyncio.sleep(GAP)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await content.aclose()
        assert least() == 1
        ended.set()
