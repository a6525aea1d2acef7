"""Hostile input for every form, token service endpoint and websocket of the console: as anonymous
user, tenant and administrator, over HTTP, on a real control plane.

Forms are discovered by crawling the pages, so new forms are included. Requests are mutated valid
requests. Every user also sends the forms that only an administrator sees. Expected: no server
errors, no secrets in responses or storage, and no changes without permission.
"""

import asyncio
import json
import random
import re
import sqlite3
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, cycle, islice
from typing import Any

import aiohttp
import pytest
import yaml
from aiohttp import ClientConnectionResetError, WSServerHandshakeError
from django.urls import Resolver404, get_resolver, resolve
from django.utils.html import strip_tags
from yarl import URL

from console.kube.gvr import (
    CONFIG_MAPS,
    EVENTS,
    GLOBAL_ROLE_BINDINGS,
    GVR,
    LOGIN_RECORDS,
    SECRETS,
    USERS,
    WORKSPACE_ROLE_BINDINGS,
)
from console.live.consumer import BROKEN, NO_RIGHT, POLICY, SESSION_OVER, TOO_BIG
from console.live.limits import MAX_MESSAGE
from tests.accounts.conftest import PASSWORD
from tests.accounts.hostile import targets as objects
from tests.accounts.hostile.forms import CANARY, Form, Reader, Shot, endpoints, shoot
from tests.accounts.hostile.sockets import Said, sockets
from tests.accounts.kubesphere.objects import Manifest
from tests.accounts.kubesphere.world import World
from tests.accounts.oauth.clients import CLIENTS
from tests.accounts.routes import routes
from tests.controlplane.waiting import eventually
from tests.support.depth import SEED, number, some
from tests.support.forms import page_token

INPUTS = number(90, 10_000)
#: Number of websockets, each of which gets a few messages.
SOCKETS = number(30, 1_000)
#: Number of action and editor pages in the gate.
PAGES = 20
TOO_MUCH = "x" * (MAX_MESSAGE + 1)
#: Expected close codes: invalid message, missing permission, or no capacity or cluster.
ENDS = {1000, POLICY, TOO_BIG, BROKEN, SESSION_OVER, NO_RIGHT}
#: Number of forms per view that only differ in their URLs.
OF_EACH = number(1, 3)
#: Number of API endpoints tested by signed-in users in the gate.
ENDPOINTS = 10
#: Per view: pages crawled for forms, redirecting URLs, and names tried without finding an object.
LOOKS, MOVED, TRIED = number(2, 9), number(2, 1_000), number(3, 1_000)
#: Requests after which the visitor signs in again, because a form may have ended the session.
SIGN_IN_EVERY = 100
HASH = re.compile(r"\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}")
_NAMES = ("demo", "shop", "jane", "platform-regular")
#: No server listens on this port.
_CLOSED = "http://127.0.0.1:9"
_addresses = count()
#: Prefix of users that are created only to wait for the controllers.
_LAST = "last-"


class Visitor:
    """A browser with a session of the user `name`, or anonymous if ""."""

    def __init__(self, world: World, name: str, password: str = PASSWORD) -> None:
        self.world, self.name, self._password = world, name, password
        self._http = self._opened()
        self.csrf = ""

    def _opened(self) -> aiohttp.ClientSession:
        """Use a new source address, because addresses are rate-limited."""
        number = next(_addresses)
        source = (f"127.1.{number // 250}.{number % 250 + 1}", 0)
        return aiohttp.ClientSession(
            self.world.url,
            connector=aiohttp.TCPConnector(local_addr=source),
            cookie_jar=aiohttp.CookieJar(unsafe=True),
            headers={"Origin": self.world.url, "Sec-Fetch-Site": "same-origin"},
        )

    async def begin(self) -> None:
        await self._http.close()
        self._http = self._opened()
        self.csrf = page_token((await self.get("/login"))[2])
        if self.name:
            form = {"username": self.name, "password": self._password}
            form["csrfmiddlewaretoken"] = self.csrf
            async with self._http.post("/login", data=form, allow_redirects=False) as answer:
                assert answer.status == 302, await answer.text()
            self.csrf = page_token((await self.get("/account"))[2])

    async def get(self, path: str) -> tuple[int, str, str]:
        async with self._http.get(path, allow_redirects=False) as answer:
            return answer.status, answer.headers.get("Location", ""), await answer.text()

    async def send(self, shot: Shot) -> tuple[int, str]:
        """Return the status and the full response."""
        headers = {**dict(shot.headers), **({"Content-Type": shot.kind} if shot.kind else {})}
        async with self._http.request(
            shot.method, URL(self.world.url + shot.url, encoded=True), data=shot.body,
            headers=headers, allow_redirects=False,
        ) as answer:  # fmt: skip
            body = (await answer.read()).decode(errors="replace")
            return answer.status, f"{dict(answer.headers)}\n{body}"

    async def say(self, address: str, said: list[Said]) -> tuple[int, str]:
        """Return the close code or handshake status, and everything received. A final oversized
        message closes the connection.
        """
        url, heard = URL(self.world.url + address, encoded=True), []
        try:
            async with self._http.ws_connect(url, max_msg_size=0) as socket:
                # The connection can be closed already.
                with suppress(ClientConnectionResetError):
                    for one in (*said, TOO_MUCH):
                        if isinstance(one, str):
                            await socket.send_str(one)
                        else:
                            await socket.send_bytes(one)
                async for message in socket:
                    heard.append(str(message.data))
                return socket.close_code or 0, "\n".join(heard)
        except WSServerHandshakeError as error:
            return error.status, ""

    async def close(self) -> None:
        await self._http.close()


def pages() -> Iterator[str]:
    """Yield every route with names of existing objects."""
    for _name, path in routes(get_resolver().url_patterns):
        for name in (*_NAMES, "x"):
            yield path.replace("/x", f"/{name}")


async def forms_for(visitor: Visitor) -> list[Form]:
    """Return some forms of each kind on all pages that the visitor can open, except signing out."""
    found: dict[tuple[str, tuple[str, ...]], list[Form]] = {}
    tried = set(pages())
    waiting, seen = deque(pages()), set[str]()
    looked, moved, nothing = Counter[str](), Counter[str](), Counter[str]()
    while waiting:
        path = waiting.popleft()
        view = view_of(path)
        if path in seen or view == "accounts:logout":
            continue
        if looked[view] >= LOOKS or moved[view] >= MOVED:
            continue
        if path in tried and nothing[view] >= TRIED:
            continue
        seen.add(path)
        status, location, text = await visitor.get(path)
        # A list that is still loading shows this.
        assert status < 500 or status == 503, (path, status)
        if status == 302 and location.startswith("/"):
            moved[view] += 1
            waiting.append(location)
        if status != 200:
            nothing[view] += status != 302
            continue
        looked[view] += 1
        reader = Reader(path)
        reader.feed(text)
        for form in reader.forms:
            key = (view_of(form.action), tuple(name for name, _ in form.fields))
            alike = found.setdefault(key, [])
            # Administrators could lock themselves out with this form, which would end the test.
            own = (
                bool(visitor.name) and visitor.name in form.action.partition("?")[0].split("/")[1:]
            )
            if (
                key[0] != "accounts:logout"
                and form not in alike
                and len(alike) < OF_EACH
                and not own
            ):
                alike.append(form)
        waiting += reader.links
    return [form for alike in found.values() for form in alike]


async def acting(world: World) -> list[Form]:
    """Return the forms of actions and editors, as an administrator sees them."""
    admin = Visitor(world, "admin")
    found = []
    try:
        await admin.begin()
        for path in some("acting", objects.pages_with_forms(), PAGES):
            status, _location, text = await admin.get(path)
            assert status < 500, (path, status)
            reader = Reader(path)
            reader.feed(text)
            found += [one for one in reader.forms if view_of(one.action) == view_of(path)]
    finally:
        await admin.close()
    return found


#: By type and name of the object.
Rights = dict[tuple[GVR, str], Any]


def view_of(url: str) -> str:
    """Return the view name and the action name, because each action has a different form."""
    try:
        match = resolve(url.partition("?")[0])
        return f"{match.view_name} {match.kwargs.get('action', '')}".strip()
    except Resolver404:
        return ""


def settle(world: World) -> None:
    """Configure providers, and limits so that lockouts don't prevent further requests."""
    providers = [
        ("sso", "OIDCIdentityProvider", {
            "clientID": "c", "clientSecret": "s" * 20, "endpoint": {
                "authURL": f"{_CLOSED}/a", "tokenURL": f"{_CLOSED}/t", "jwksURL": f"{_CLOSED}/k"},
            "issuer": "https://sso.example.com"}),
        ("hub", "GitHubIdentityProvider", {"clientID": "c", "clientSecret": "s" * 20}),
        ("cas", "CASIdentityProvider", {"casServerURL": f"{_CLOSED}/cas"}),
        ("ldap", "LDAPIdentityProvider", {
            "host": "127.0.0.1:9", "managerDN": "cn=x", "managerPassword": "x",
            "userSearchBase": "dc=x", "loginAttribute": "uid", "mailAttribute": "mail"}),
    ]  # fmt: skip
    entries = [
        {"name": n, "type": t, "mappingMethod": "auto", "provider": p} for n, t, p in providers
    ]
    config = {
        # The maximum allowed value.
        "authenticateRateLimiterMaxTries": 10_000,
        "oauthOptions": {"clients": CLIENTS, "identityProviders": entries},
    }
    with open(world.environment["AUTHENTICATION_CONFIG"], "w") as file:
        yaml.safe_dump(config, file)


def rights(world: World) -> Rights:
    """Return users and their permissions, by type and name."""
    users = [one for one in world.listed(USERS) if not one["metadata"]["name"].startswith(_LAST)]
    meant = {(USERS, one["metadata"]["name"]): (one["spec"], _is_disabled(one)) for one in users}
    given = {
        (gvr, b["metadata"]["name"]): (b["roleRef"], b.get("subjects"))
        for gvr in (GLOBAL_ROLE_BINDINGS, WORKSPACE_ROLE_BINDINGS)
        for b in world.listed(gvr)
    }
    return {**meant, **given}


def at_rest(world: World) -> Rights:
    """Return `rights` once the controllers are idle."""
    found = [rights(world)]

    def same() -> bool:
        # When the controllers have processed a new user, they have processed all earlier objects.
        world.takes_in(f"{_LAST}{next(_addresses)}")
        found.append(rights(world))
        return world.leader().is_idle and bool(found[-2] == found[-1])

    eventually(same, "nothing is left to do", timeout=60)
    return found[-1]


def _is_disabled(user: Manifest) -> bool:
    return (user.get("status") or {}).get("state") == "Disabled"


def secrets(world: World) -> list[str]:
    known = [world.environment["SECRET_KEY"], *(str(one.get("secret", "")) for one in CLIENTS)]
    return [one for one in known if one]


def check(world: World, shot: Shot, status: int, answer: str) -> None:
    # An unreachable LDAP server is reported with 503.
    away = status == 503 and "ldap" in shot.url + shot.body.decode(errors="replace")
    assert status < 500 or away, (status, shot, strip_tags(answer).split())
    assert not HASH.search(answer), (shot, answer)
    for secret in (CANARY, PASSWORD, *secrets(world)):
        said = secret in shot.url and secret != PASSWORD
        assert secret not in answer or said, (secret, shot, answer)
    assert "Traceback" not in answer, shot


@pytest.fixture(scope="module")
def given(world: World) -> list[Form]:
    """Return the forms found by `acting`, for all visitors. The administrator comes last."""
    settle(world)
    objects.place(world)
    return asyncio.run(acting(world))


@pytest.mark.parametrize("name", ["", "jane", "admin"])
async def test_hostile_input_at_every_form(world: World, given: list[Form], name: str) -> None:
    visitor = Visitor(world, name)
    before, had = at_rest(world), owners(world)
    untouched = objects.meant(world, objects.NOBODYS)
    done: Counter[int] = Counter()
    targets: list[Form] = []
    try:
        await visitor.begin()
        # Endpoints ignore the session, so only the anonymous visitor tests all of them in the gate.
        called = some(f"endpoints {name}", endpoints(), ENDPOINTS if name else 100)
        targets = [*await forms_for(visitor), *given, *called]
        addresses = {one.action.partition("?")[0] for one in targets}
        assert addresses >= expected(name), addresses
        views = {view_of(one.action) for one in targets}
        assert name != "admin" or {"action profile", "action password", "action disable"} <= views
        rng = random.Random(f"{SEED} {name}")  # noqa: S311  to be repeated, not to be secret
        for turn, form in zip(range(max(INPUTS, len(targets))), cycle(targets), strict=False):
            if turn % SIGN_IN_EVERY == 0:
                await visitor.begin()
            shot = shoot(form, rng, visitor.csrf)
            status, answer = await visitor.send(shot)
            check(world, shot, status, answer)
            done[status] += 1
        await visitor.begin()
        for address, said in islice(sockets([*objects.streams()], rng), SOCKETS):
            status, answer = await visitor.say(address, said)
            assert status == 403 or name and status in ENDS, (status, address, said)
            assert CANARY not in answer and not HASH.search(answer), (address, said, answer)
            done[status] += 1
    finally:
        await visitor.close()
        print(name or "nobody", len(targets), "forms and endpoints:", dict(done))  # noqa: T201
    if name != "admin":
        assert objects.meant(world, objects.NOBODYS) == untouched
        # A user administrator may set a user's password and then sign in with it.
        after = rights(world)
        differ = {one for one in {*before, *after} if before.get(one) != after.get(one)}
        # Users may change their own profile.
        differ.discard((USERS, name))
        assert {one: (before.get(one), after.get(one)) for one in differ} == {}
        made = owners(world) - had
        assert {user for _, user in made} <= {name} - {""}, made
    nothing_is_kept(world)


def expected(name: str) -> set[str]:
    """Return forms that must be found, to detect failed crawling."""
    found = {"/login", "/oauth/token"} if not name else {"/account/password", "/account/tokens"}
    if name == "admin":
        found |= {"/access/accounts/new", "/workspaces/-/new"}
    return found


def nothing_is_kept(world: World) -> None:
    """Assert that no entered secret is stored in any object, table or log."""
    for gvr in (USERS, LOGIN_RECORDS, EVENTS, SECRETS, CONFIG_MAPS):
        assert CANARY not in json.dumps(world.listed(gvr))
    for path in world.folder.rglob("*"):
        # Database files can disappear while the folder is listed.
        with suppress(FileNotFoundError, IsADirectoryError):
            assert CANARY.encode() not in path.read_bytes(), path


def owners(world: World) -> Counter[tuple[str, str]]:
    """Return the number of sessions, tokens and second factors of each user."""
    found: Counter[tuple[str, str]] = Counter()
    database = sqlite3.connect(world.folder / "quarterdeck.sqlite3")
    try:
        for table in ("signin", "grant", "namedtoken", "secondfactor"):
            rows = database.execute(f"select user from accounts_{table}")  # noqa: S608
            found.update((table, row[0]) for row in rows)
    finally:
        database.close()
    return found
