"""Revocation across replicas: sessions, tokens and websockets end at one console within seconds
after an event at the other.

Runs on a real control plane with two consoles that share a PostgreSQL database.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest

from tests.accounts.conftest import PASSWORD
from tests.accounts.oauth.visitor import Visitor
from tests.accounts.oauth.world import World
from tests.controlplane.waiting import pause
from tests.support.depth import fewer

#: Seconds within which a revocation is effective everywhere, even on a busy machine.
TIMEOUT = 30.0
NEW = "Harbour-bridge-7"
USER = "/access/accounts/users/"
ACTIONS = "/clusters/host/users.iam.kubesphere.io/{}/actions"


class Held:
    """Everything a user can have: two browser sessions with an open websocket, and tokens of three
    kinds.
    """

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.here, self.there = Visitor(world), Visitor(world)
        self.tokens: dict[str, Any] = {}
        self.named = ""

    async def take(self) -> None:
        await asyncio.to_thread(self.world.add_user, self.name)
        for visitor in (self.here, self.there):
            assert await asyncio.to_thread(visitor.login, 0, self.name) == 302
        self.tokens = await asyncio.to_thread(self.world.sign_in, 0, self.name)
        fields = {"name": "ci", "scope": "full", "days": "7"}
        _, page, _ = await asyncio.to_thread(
            lambda: self.here.post(0, "/account/tokens", "/account", **fields)
        )
        self.named = re.findall(r"qdt_[\w-]{43}", page)[0]

    def alive(self) -> set[str]:
        """Return the credentials that the other console still accepts."""
        named = self.world.statuses(self.name, self.named) != {401}
        access = self.world.statuses(self.name, self.tokens["access_token"]) != {401}
        found = {"session": self.there.is_in(1), "access": access, "named": named}
        return {what for what, lives in found.items() if lives}

    def can_refresh(self) -> bool:
        token = self.tokens["refresh_token"]
        return self.world.token(1, grant_type="refresh_token", refresh_token=token).status == 200


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def socket_of(
    http: aiohttp.ClientSession, world: World, visitor: Visitor
) -> aiohttp.ClientWebSocketResponse:
    """Open a websocket at the other console with the page's origin."""
    headers = {"Origin": world.urls[0], "Cookie": visitor.cookies}
    return await http.ws_connect(world.urls[1] + "/ws/live", headers=headers)


async def ended(socket: aiohttp.ClientWebSocketResponse) -> int | None:
    """Return the close code."""
    async for message in socket:
        if message.type == aiohttp.WSMsgType.TEXT and '"code":401' in message.data.replace(" ", ""):
            continue
    return socket.close_code


def as_admin(path: str, **fields: str) -> Callable[[Held], None]:
    def does(held: Held) -> None:
        admin, page = Visitor(held.world), USER + held.name
        assert admin.login(0, "admin") == 302
        uid = held.world.user(held.name)["metadata"]["uid"]
        status, text, _ = admin.post(0, path.format(held.name), page, uid=uid, **fields)
        assert status == 302, text

    return does


def changes_the_password(held: Held) -> None:
    fields = {"current": PASSWORD, "password": NEW, "again": NEW}
    assert held.here.post(0, "/account/password", "/account", **fields)[0] == 302


def is_deleted(held: Held) -> None:
    held.world.delete_user(held.name)


EVENTS: dict[str, Callable[[Held], None]] = {
    "a-new-password": changes_the_password,
    "a-reset-password": as_admin(f"{ACTIONS}/password", password=NEW),
    "disabled": as_admin(f"{ACTIONS}/disable"),
    "sessions-ended": as_admin(f"{ACTIONS}/end-sessions"),
    "deleted": is_deleted,
}


# One event of the user and one of an administrator cover the code path of the others. test_replicas
# tests the tokens of a deleted user.
@pytest.mark.parametrize("event", fewer([*EVENTS], "a-new-password", "disabled"))
async def test_revocation_is_effective_at_the_other_replica(
    world: World, http: aiohttp.ClientSession, event: str
) -> None:
    held = Held(world, f"sam-{event}-{time.time_ns() % 10**6}")
    await held.take()
    assert await asyncio.to_thread(held.alive) == {"session", "access", "named"}
    socket = await socket_of(http, world, held.there)
    closing = asyncio.create_task(ended(socket))
    assert await asyncio.to_thread(held.there.is_in, 1)
    assert not closing.done()
    await asyncio.to_thread(EVENTS[event], held)
    assert await asyncio.wait_for(closing, TIMEOUT) == 4401
    await within(TIMEOUT, lambda: asyncio.to_thread(held.alive))
    assert not await asyncio.to_thread(held.can_refresh)


async def test_signing_out_closes_websockets_of_this_browser_only(
    world: World, http: aiohttp.ClientSession
) -> None:
    held = Held(world, f"tess-{time.time_ns() % 10**6}")
    await held.take()
    mine, other = [await socket_of(http, world, one) for one in (held.here, held.there)]
    closing = asyncio.create_task(ended(mine))
    await asyncio.to_thread(held.here.post, 0, "/logout", "/account")
    assert await asyncio.wait_for(closing, TIMEOUT) == 4401
    assert not await asyncio.to_thread(held.here.is_in, 1)
    assert await asyncio.to_thread(held.there.is_in, 1) and not other.closed
    await other.close()


async def within(seconds: float, left: Callable[[], Awaitable[set[str]]]) -> None:
    began = time.monotonic()
    while alive := await left():
        waited = time.monotonic() - began
        assert waited < seconds, f"still alive: {alive}"
        await asyncio.sleep(pause(waited))
