"""The API gateway compared with kube-apiserver itself, as the same user, in one run.

The benchmark's clients use HTTP without TLS to the console, like a proxy in front of it, and TLS to
kube-apiserver. Both ways are measured in turn.
"""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp

from bench.cluster import LoadedControlPlane
from bench.memory import SETTLE, read
from bench.reading import percentiles
from bench.result import Result, percentile
from bench.webconsole import WebConsole
from tests.accounts.oauth.clients import SECRET, basic
from tests.controlplane.build import Report

#: Events of a watch, idle watches, and watches that are opened before memory is measured.
_EVENTS, _IDLE, _WARM = 300, 1_000, 50
#: Below the limit of a user, and addresses of loopback, each with a limit of connections.
_PER_USER, _PER_ADDRESS = 250, 500
_LISTS, _SMALL, _AT_ONCE, _SECONDS = 5, 400, 16, 5.0
_PODS = "/api/v1/pods?resourceVersion=0"
_MAPS = "/api/v1/namespaces/default/configmaps"
_CLIENTS = {"clients": [{"name": "kubesphere", "secret": SECRET, "grantMethod": "auto"}]}
_CONFIGURATION = {"oauthOptions": _CLIENTS}


def measure(cluster: LoadedControlPlane, _rounds: int, report: Report) -> list[Result]:
    report("gateway\n")
    users = -(-_IDLE // _PER_USER)
    with WebConsole(cluster, accounts=users, configuration=_CONFIGURATION) as console:
        return asyncio.run(_measure(cluster, console))


async def _measure(cluster: LoadedControlPlane, console: WebConsole) -> list[Result]:
    async with _sessions(cluster, console) as (direct, through):
        return [
            *await _lists(cluster, console, direct, through[0]),
            *await _small(direct, through[0]),
            *await _late(direct, through[0]),
            await _idle(console, through),
        ]


@asynccontextmanager
async def _sessions(
    cluster: LoadedControlPlane, console: WebConsole
) -> AsyncIterator[tuple[aiohttp.ClientSession, list[aiohttp.ClientSession]]]:
    """Yield sessions with kube-apiserver, and one with the gateway for each user."""
    async with AsyncExitStack() as stack:
        access = cluster.access
        tls = ssl.create_default_context(cafile=access.ca_file)
        direct = aiohttp.ClientSession(
            cluster.url,
            headers={"Authorization": f"Bearer {access.token}"},
            connector=aiohttp.TCPConnector(ssl=tls, limit=0),
        )
        await stack.enter_async_context(direct)
        through = []
        for number, name in enumerate(console.accounts):
            address = f"127.0.0.{2 + number * _PER_USER // _PER_ADDRESS}"
            session = aiohttp.ClientSession(
                console.url,
                headers={"Authorization": f"Bearer {await _token(console, name)}"},
                connector=aiohttp.TCPConnector(limit=0, local_addr=(address, 0)),
                timeout=aiohttp.ClientTimeout(total=None),
            )
            through.append(await stack.enter_async_context(session))
        yield direct, through


async def _token(console: WebConsole, name: str) -> str:
    fields = {"grant_type": "password", "username": name, "password": console.password}
    headers = {"Authorization": basic("kubesphere", SECRET)}
    async with (
        aiohttp.ClientSession(console.url) as session,
        session.post("/oauth/token", data=fields, headers=headers) as response,
    ):
        if response.status != 200:
            raise OSError(f"{name} got no token: {response.status} {await response.text()}")
        return str((await response.json())["access_token"])


async def _lists(
    cluster: LoadedControlPlane,
    console: WebConsole,
    direct: aiohttp.ClientSession,
    through: aiohttp.ClientSession,
) -> list[Result]:
    """Measure lists of all pods, and the memory that the gateway needs for them."""
    took: dict[bool, list[float]] = {True: [], False: []}
    before = read("VmRSS", console.pid)
    for _ in range(_LISTS):
        for session in (direct, through):
            began = time.perf_counter()
            async with session.get(_PODS) as response:
                if response.status != 200:
                    raise OSError(f"the list of pods answered {response.status}")
                async for _piece in response.content.iter_any():
                    pass
            took[session is through].append(time.perf_counter() - began)
    grown = read("VmRSS", console.pid) - before
    seconds, directly = (percentile(took[one], 0.5) for one in (True, False))
    return [
        Result("gateway_list_ratio_direct", cluster.pods, seconds / directly, "x"),
        Result("gateway_list_memory", cluster.pods, grown, "B"),
    ]


async def _small(direct: aiohttp.ClientSession, through: aiohttp.ClientSession) -> list[Result]:
    path = "/api/v1/namespaces/default"
    results = []
    for name, session in (("direct", direct), ("gateway", through)):
        took = []
        for _ in range(_SMALL):
            began = time.perf_counter()
            await _read(session, path)
            took.append((time.perf_counter() - began) * 1000)
        results += percentiles(f"{name}_small_{{}}_ms", _SMALL, took)
    done, until = 0, time.perf_counter() + _SECONDS

    async def repeat() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await _read(through, path)
            done += 1

    await asyncio.gather(*(repeat() for _ in range(_AT_ONCE)))
    return [*results, Result("gateway_small_per_second", _AT_ONCE, done / _SECONDS, "/s")]


async def _read(session: aiohttp.ClientSession, path: str) -> None:
    async with session.get(path) as response:
        if response.status != 200:
            raise OSError(f"{path} answered {response.status}: {await response.text()}")
        await response.read()


async def _late(direct: aiohttp.ClientSession, through: aiohttp.ClientSession) -> list[Result]:
    """Measure how much later the events of a watch arrive through the gateway."""
    name = "gateway-bench"
    async with direct.post(_MAPS, json={"metadata": {"name": name}}) as response:
        if response.status not in (201, 409):
            raise OSError(f"the ConfigMap was refused: {response.status}")
    came: list[dict[int, float]] = [{}, {}]
    path = f"{_MAPS}?watch=true&fieldSelector=metadata.name%3D{name}"
    ready = [asyncio.Event(), asyncio.Event()]
    tasks = [
        asyncio.create_task(_follow(session, path, seen, event))
        for session, seen, event in zip((direct, through), came, ready, strict=True)
    ]
    for event in ready:
        await event.wait()
    kind = {"Content-Type": "application/merge-patch+json"}
    for number in range(_EVENTS):
        body = json.dumps({"data": {"n": str(number)}})
        async with direct.patch(f"{_MAPS}/{name}", data=body, headers=kind) as response:
            await response.read()
        while not all(number in seen for seen in came):
            await asyncio.sleep(0.001)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    later = [(came[1][one] - came[0][one]) * 1000 for one in range(_EVENTS)]
    return percentiles("gateway_event_later_{}_ms", _EVENTS, later)


async def _follow(
    session: aiohttp.ClientSession, path: str, seen: dict[int, float], ready: asyncio.Event
) -> None:
    async with session.get(path) as response:
        ready.set()
        async for line in response.content:
            moment = time.perf_counter()
            found: dict[str, Any] = json.loads(line)["object"].get("data") or {}
            if "n" in found:
                seen[int(found["n"])] = moment


async def _idle(console: WebConsole, sessions: list[aiohttp.ClientSession]) -> Result:
    """Return the memory of one idle watch."""
    path = f"{_MAPS}?watch=true&fieldSelector=metadata.name%3Dabsent"
    async with AsyncExitStack() as stack:

        async def watch(first: int, last: int) -> int:
            """Open watches, and return the console's memory."""
            for number in range(first, last):
                opened = sessions[number % len(sessions)].get(path)
                response = await stack.enter_async_context(opened)
                if response.status != 200:
                    raise OSError(f"a watch answered {response.status}")
            await asyncio.sleep(SETTLE)
            return read("VmRSS", console.pid)

        before = await watch(0, _WARM)
        held = await watch(_WARM, _IDLE) - before
    return Result("gateway_bytes_per_watch", _IDLE, held / (_IDLE - _WARM), "B")
