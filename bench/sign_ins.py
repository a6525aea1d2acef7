"""Effect of sign-ins on other requests, and timing differences that reveal usernames.

`page_p99_during_signins_ms`: response times while 50 users sign in continuously.
`signins_per_s`: rate of these sign-ins. `signin_timing_difference`: the difference between the
slowest and the fastest median response time to a wrong password, as a share of the fastest. The
medians are those of existing, unknown and disabled users, and of users without a password.
"""

import asyncio
import secrets
import statistics
import time
from itertools import cycle
from typing import Any

import aiohttp

from accounts.signin.passwords import hash_password
from bench.cluster import LoadedControlPlane
from bench.result import Result, percentile
from bench.timing import HEADER
from bench.webconsole import WebConsole
from console.kube.clients import ConsoleClient
from console.kube.credentials import Credentials
from console.kube.gvr import USERS
from console.kube.kubeconfig import CONSOLE
from console.kube.transport import Transport
from tests.controlplane.build import Report

AT_ONCE = 50
#: Seconds of sign-ins, and seconds between two page requests of each viewer.
SECONDS, PAUSE = 20.0, 0.1
VIEWERS = 4
PAGES = ("/dashboard", "/clusters/host/pods", "/clusters/host/pods?q=web", "/clusters/host/nodes")
#: Attempts per kind of user.
TRIES = 200
#: Disable locking of users and of the client address, which all requests share.
_CONFIGURATION = {"authentication": {"authenticateRateLimiterMaxTries": 10_000}}
_PAGE = "page-during-signins"


def measure(cluster: LoadedControlPlane, rounds: int, report: Report) -> list[Result]:
    report("sign-ins and pages\n")
    with WebConsole(cluster, accounts=AT_ONCE, configuration=_CONFIGURATION) as console:
        done = asyncio.run(_sign_in_beside_pages(console))
        times = [one.seconds * 1000 for one in console.timings() if one.id == _PAGE]
        late = percentile(times, 0.99)
        report(f"{done} sign-ins, {len(times)} pages, p99 {late:.0f} ms; wrong passwords\n")
        difference = asyncio.run(_timing_difference(console, cluster))
    return [
        Result("page_p99_during_signins_ms", cluster.pods, late, "ms"),
        Result("page_median_during_signins_ms", cluster.pods, percentile(times, 0.5), "ms"),
        Result("signins_per_s", cluster.pods, done / SECONDS, "1/s"),
        Result("signin_timing_difference", cluster.pods, difference, "x"),
    ]


async def _sign_in_beside_pages(console: WebConsole) -> int:
    viewers = [await console.signed_in(name) for name in console.accounts[:VIEWERS]]
    # Request each page once, so that no first request is measured.
    for viewer in viewers:
        for path in PAGES:
            await _look(viewer, path, measured=False)
    ends = time.monotonic() + SECONDS
    try:
        looking = [asyncio.create_task(_look_on(viewer, ends)) for viewer in viewers]
        done = await asyncio.gather(*(_sign_in_on(console, n, ends) for n in console.accounts))
        await asyncio.gather(*looking)
    finally:
        for viewer in viewers:
            await viewer.close()
    return sum(done)


async def _sign_in_on(console: WebConsole, name: str, ends: float) -> int:
    done = 0
    while time.monotonic() < ends:
        try:
            session = await console.signed_in(name)
        except OSError:
            # The console responds with 503 if too many sign-ins are queued. Retry, as users do.
            await asyncio.sleep(0.5)
            continue
        await session.close()
        done += 1
    return done


async def _look_on(viewer: aiohttp.ClientSession, ends: float) -> None:
    for path in cycle(PAGES):
        if time.monotonic() > ends:
            return
        await _look(viewer, path, measured=True)
        await asyncio.sleep(PAUSE)


async def _look(viewer: aiohttp.ClientSession, path: str, *, measured: bool) -> None:
    headers = {HEADER: _PAGE} if measured else {}
    async with viewer.get(path, headers=headers) as response:
        await response.read()
        if response.status != 200:
            raise OSError(f"{path}: {response.status}")


async def _timing_difference(console: WebConsole, cluster: LoadedControlPlane) -> float:
    await _make_users(cluster)
    await asyncio.sleep(2)
    # In turn, so that other load on the machine affects all users equally.
    classes: dict[str, list[float]] = {
        "viewer-1": [], "": [], "bench-disabled": [], "bench-no-password": []
    }  # fmt: skip
    for _ in range(TRIES):
        http, form = await console.at_login()
        async with http:
            for name, times in classes.items():
                times.append(await _wrong(http, form, name or f"u-{secrets.token_hex(4)}"))
    medians = [statistics.median(times) for times in classes.values()]
    return (max(medians) - min(medians)) / min(medians)


async def _wrong(http: aiohttp.ClientSession, form: dict[str, str], name: str) -> float:
    """Return the response time in seconds."""
    given = {**form, "username": name, "password": "Not-the-password-1"}
    began = time.perf_counter()
    async with http.post("/login", data=given) as response:
        await response.read()
        if response.status != 401:
            raise OSError(f"a wrong password was answered with {response.status}")
    return time.perf_counter() - began


async def _make_users(cluster: LoadedControlPlane) -> None:
    transport = Transport(Credentials(CONSOLE, str(cluster.kubeconfig)))
    client = ConsoleClient(transport)
    hashed = await hash_password("Some-password-1")

    async def make(name: str, state: str, **spec: Any) -> None:
        body = {
            "apiVersion": USERS.group_version,
            "kind": "User",
            "metadata": {"name": name},
            "spec": {"email": f"{name}@example.com", **spec},
        }
        made = await client.apply(USERS, body)
        version = {"resourceVersion": made["metadata"]["resourceVersion"]}
        await client.patch(USERS, {"metadata": version, "status": {"state": state}}, name=name)

    try:
        await make("bench-disabled", "Disabled", password=hashed)
        await make("bench-no-password", "Active")
    finally:
        await transport.close()
